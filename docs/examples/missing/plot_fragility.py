"""
Would the answer stand if inputs were lost?
===========================================

Two patients have nearly the same probability. For one of them the answer depends on a few inputs,
and it would change easily.
"""

# %%
# Fragility is the chance that the answer changes if each input is lost with a chance of 20 %.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
explainer = shafer.Explainer(model, X[::2])
ev = explainer(X)
fragility = ev.fragility(q=0.2)

# %%
# Many men have a largest probability near 0.6, and their fragility differs widely. The colour is
# the disagreement: where strong reasons oppose each other, losing one of them matters.
figure, ax = pyplot.subplots(layout="constrained")
largest = ev.probability.max(axis=1)
dots = ax.scatter(largest, fragility, c=ev.disagreement, s=12, cmap="viridis")
figure.colorbar(dots, label="disagreement")
ax.set(xlabel="largest probability", ylabel="chance that the answer changes (fragility)")
pyplot.show()

# %%
# The most fragile man with a probability of at least 0.6.
row = int(np.argmax(np.where(largest >= 0.6, fragility, 0)))
print(f"fragility {fragility[row]:.2f}")
plots.WaterfallDisplay.from_evidence(ev, row, features=X).plot()
pyplot.show()

# %%
# **How to misread it.** Fragility is not the chance that the answer is wrong. If the inputs are
# complete and correct, a fragile answer is as likely to be right as its probability tells.
