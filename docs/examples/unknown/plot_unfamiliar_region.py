"""
Where has the model never seen any data?
========================================

A linear model is most confident far away from its training data. There the epistemic ignorance is
high, and it is reported beside the probability.
"""

# %%
# Two species of iris by two measurements, and a plane that is larger than the data.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_iris

iris = load_iris()
kept = iris.target > 0
X, y = iris.data[kept][:, [0, 2]], iris.target_names[iris.target[kept]]
clf = shafer.EvidentialClassifier(groups="one", moderate="laplace+discount").fit(X, y)
plane = np.array([[3.0, 0.5], [10.0, 9.5]])

# %%
# On the left is the largest probability, on the right the epistemic ignorance: the share of mass
# that was moved to "nothing is known". Darker is more. Points are the training flowers.
quantities = {
    "largest probability": lambda P: clf.predict_proba(P).max(axis=1),
    "epistemic ignorance": lambda P: clf.evidence(P).epistemic_ignorance,
}
figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, (name, quantity) in zip(axes, quantities.items(), strict=True):
    plots.RegionDisplay.from_function(
        quantity, plane, feature_names=["sepal length", "petal length"]
    ).plot(ax, levels=[0.6, 0.9])
    ax.plot(X[:, 0], X[:, 1], ".", color="tab:blue", markersize=3)
    ax.set_title(name)
pyplot.show()

# %%
# **How to misread it.** Low epistemic ignorance only means that similar rows were in the training
# data; the classes may still overlap there, and the answer may be wrong.
