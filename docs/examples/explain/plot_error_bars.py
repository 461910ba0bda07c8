"""
Is this reason real?
====================

With another training sample, the weights would be different. Error bars show by how much, and which
reasons you should not give.
"""

# %%
# Four ways lead to error bars. ``errors="sandwich"`` and ``errors="laplace"`` use the curvature of
# the log loss. They need no further training, but only work for logistic regression and last
# layers. The sandwich is about what training again would give, as refits are.
import numpy as np
import shafer
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
sandwich = shafer.Explainer(model, X, errors="sandwich")(X[:1])

# %%
# ``errors="bootstrap"`` works for every model. It trains the model again on drawn rows.
refits = shafer.models.bootstrap_refits(model, X, y, n=40)
drawn = shafer.Explainer(model, X, errors="bootstrap", refits=refits)(X[:1])

figure, ax = pyplot.subplots(layout="constrained")
for ev, shift, name in [(sandwich, 0.1, "sandwich"), (drawn, -0.1, "40 refits")]:
    low, high = ev.contrast_interval("disease", "healthy", level=0.9)
    place = np.arange(ev.n_components) + shift
    ax.errorbar((low[0] + high[0]) / 2, place, xerr=(high - low)[0] / 2, fmt="o", label=name)
ax.axvline(0, color="gray")
ax.set(xlabel="log-odds of disease over healthy, 90 % intervals")
ax.set_yticks(range(sandwich.n_components), sandwich.component_names)
ax.legend()
pyplot.show()

# %%
# ``keep="clear"`` leaves out the reasons whose interval includes zero.
sandwich.reasons(class_="disease", top=5, keep="clear")[["component", "value", "lower", "upper"]]

# %%
# **How to misread it.** The bars tell how well the training data determine a weight; they do not
# tell how likely the answer for this man is to be right.
