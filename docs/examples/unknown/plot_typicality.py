"""
How do I notice rows that are unlike the training data?
=======================================================

Do not use plain ignorance for this: strange rows have large weights, so their ignorance is small.
Use the typicality, which is read like a p-value.
"""

# %%
# Ordinary wines, and noise that is three times as spread out as the data.
import numpy as np
import shafer
from matplotlib import pyplot
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
explainer = shafer.Explainer(model, X[::2])
random = np.random.default_rng(0).normal(size=X.shape)
rows = {"ordinary wines": X[1::2], "noise": X.mean(axis=0) + 3 * X.std(axis=0) * random}

# %%
# About a tenth of ordinary rows have a typicality below 0.1. All noise is close to 0. Its ignorance
# is *smaller* than that of ordinary wines. The largest probability does not notice it either: the
# model is sure about most of the noise.
bins = [np.linspace(0, 1, 21), np.geomspace(1e-16, 1, 21), np.linspace(0, 1, 21)]
figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
for name, given in rows.items():
    ev = explainer(given)
    values = [explainer.typicality(given), ev.ignorance, ev.probability.max(axis=1)]
    for ax, value, edges in zip(axes, values, bins, strict=True):
        share = np.full(len(value), 1 / len(value))
        ax.hist(value, bins=edges, weights=share, alpha=0.6, label=name)
for ax, title in zip(axes, ("typicality", "ignorance", "largest probability"), strict=True):
    ax.set(xlabel=title, ylabel="share of rows")
axes[0].legend()
axes[1].set_xscale("log")
axes[1].set_xticks([1e-16, 1e-12, 1e-8, 1e-4, 1])
pyplot.show()

# %%
# **How to misread it.** The answer for a typical row can be wrong, and the answer for an unusual
# row can be right. Typicality tells whether the model knows this kind of row, not whether the
# answer is correct.
