"""
Is the model too sure of itself?
================================

A model that was trained on few rows often has probabilities that are too extreme. Tempering
multiplies all weights of evidence by one factor, fitted on held-out rows.
"""

# %%
# 30 inputs, but only 60 training rows and a weak penalty: the model is far too confident.
import numpy as np
import shafer
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
train, held_out, test = order[:60], order[60:260], order[260:]
model = make_pipeline(StandardScaler(), LogisticRegression(C=1000, max_iter=10_000))
model = model.fit(X[train], y[train])
plain = shafer.Explainer(model, X[train])
tempered = shafer.Explainer(model, X[train]).temper(X[held_out], y[held_out])
print(f"factor {tempered.factor:.2f}")

# %%
# The log loss for each factor, on the held-out rows and on new rows. The fitted factor is close to
# the best one for the new rows. A factor of 1 is the model as it was.
factors = np.geomspace(0.02, 2, 60)
figure, ax = pyplot.subplots(layout="constrained")
for name, rows in (("held-out rows", held_out), ("new rows", test)):
    ev = plain(X[rows])
    ax.plot(factors, [log_loss(y[rows], ev.tempered(f).probability) for f in factors], label=name)
ax.axvline(
    tempered.factor, color=pyplot.rcParams["text.color"], linestyle="dotted", label="fitted factor"
)
ax.axvline(1, color="gray", label="the model as it was")
ax.set(xscale="log", xlabel="factor on all weights of evidence", ylabel="log loss")
ax.legend()
pyplot.show()

# %%
# **How to misread it.** Tempering changes how sure the model is, but never its answer: the order
# of the classes, and so the accuracy, stay as they are.
