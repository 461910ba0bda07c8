"""
Do the prediction sets hold for every group?
============================================

The coverage over all rows can hide a group with low coverage. If you calibrate by group, the
guarantee holds in each group.
"""

# %%
# Handwritten digits from two sites. Site B has a poor scanner that adds noise, and sends a fifth of
# the images. The model was trained on clean images.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer.metrics import coverage_by_group
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

X, y = load_digits(return_X_y=True)
model = LogisticRegression(C=0.01, max_iter=1000).fit(X[:500], y[:500])
explainer = shafer.Explainer(model, X[:500])
random = np.random.default_rng(0)
site = np.where(random.random(len(X)) < 0.2, "B", "A")
X = X + np.where(site == "B", 5, 0)[:, None] * random.normal(size=X.shape)
calibration, new = np.arange(500, 1797, 2), np.arange(501, 1797, 2)

# %%
# The same calibration images, once with one threshold and once with a threshold for each site.
found = {}
for name, labels in (("one threshold", None), ("a threshold for each site", site)):
    given = None if labels is None else labels[calibration]
    explainer.conformalize(X[calibration], y[calibration], coverage=0.9, by=given)
    sets = explainer.predict_set(X[new], by=None if labels is None else labels[new])
    found[name] = coverage_by_group(y[new], sets, site[new], labels=explainer.classes)

# %%
# Dots are the coverage of new images, lines are exact 95 % intervals. The sets of site B must be
# larger to reach the same coverage.
figure, ax = pyplot.subplots(figsize=(6.4, 3), layout="constrained")
for shift, (name, groups) in zip((0.12, -0.12), found.items(), strict=True):
    place = np.arange(2) + shift
    below, above = groups.coverage - groups.lower, groups.upper - groups.coverage
    ax.errorbar(groups.coverage, place, xerr=[below, above], fmt="o", label=name)
    for at, coverage, size in zip(place, groups.coverage, groups.mean_size, strict=True):
        ax.annotate(f"size {size:.1f}", (coverage, at + 0.06), ha="center", fontsize="small")
ax.set_yticks([0, 1], [f"{g} ({n} images)" for g, n in zip(groups.by, groups.n, strict=True)])
ax.axvline(0.9, color="gray", linestyle="dotted")
ax.set(xlabel="share of sets that contain the true digit", ylim=(-0.5, 1.9))
ax.legend(loc="upper left")
pyplot.show()

# %%
# **How to misread it.** A small group has a wide interval. A dot below the line may be chance, and
# so may a dot above the line.
