"""
How much do missing values cost, and what helps?
================================================

New rows often have gaps. Compare three ways to fill them, without training the model again.
"""

# %%
# Cells of the breast, with more and more cells missing at random in the new rows.
import numpy as np
import shafer
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
ways = {
    "mean": shafer.Explainer(model, X[::2]),
    "vacuous": shafer.Explainer(model, X[::2], missing="vacuous"),
    "conditional": shafer.Explainer(model, X[::2], missing="conditional"),
}

# %%
# *Mean*: the mean of the training rows is filled in. *Vacuous*: a missing input gives no evidence.
# *Conditional*: its expected value, given the known inputs, is filled in, and all weights shrink a
# little.
shares = [0.0, 0.2, 0.4, 0.6, 0.8]
losses = {name: [] for name in ways}
for share in shares:
    gaps = np.random.default_rng(1).random((len(X[1::2]), X.shape[1])) < share
    gappy = np.where(gaps, np.nan, X[1::2])
    filled = np.where(gaps, X[::2].mean(axis=0), X[1::2])
    for name, explainer in ways.items():
        ev = explainer(filled if name == "mean" else gappy)
        losses[name].append(log_loss(y[1::2], ev.probability))

# %%
figure, ax = pyplot.subplots(layout="constrained")
for name, values in losses.items():
    ax.plot(shares, values, "o-", label=name)
ax.set(xlabel="share of missing cells", ylabel="log loss of new rows", ylim=0)
ax.legend()
pyplot.show()

# %%
# **How to misread it.** The gaps here are random. If a value is missing because it is, for
# example, very high, none of the three ways corrects this.
