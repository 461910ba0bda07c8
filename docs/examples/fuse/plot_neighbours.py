"""
How do I add the nearest training rows as evidence?
===================================================

A linear model is sure of itself far away from all data. The nearest training rows are a second
source: where there are none, they give no evidence.
"""

# %%
# Three species of iris by two measurements. ``NeighbourEvidence`` is one of two sources.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

iris = load_iris()
X, species = iris.data[:, [0, 2]], iris.target_names[iris.target]
model = LogisticRegression().fit(X, species)
neighbours = shafer.NeighbourEvidence().fit(X, species)
sources = [("model", LogisticRegression()), ("neighbours", shafer.NeighbourEvidence())]
voting = shafer.EvidentialVotingClassifier(sources).fit(X, species)

# %%
# The model alone has little ignorance nearly everywhere, even far away from all flowers. The
# neighbours alone have high ignorance there. Darker is more.
figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
alone = {"model": shafer.Explainer(model, X, groups="one"), "neighbours": neighbours.evidence}
for ax, (name, evidence) in zip(axes, alone.items(), strict=True):
    plots.RegionDisplay.from_explainer(
        evidence, [[3, -1], [10, 9]], "ignorance", feature_names=["sepal length", "petal length"]
    ).plot(ax, levels=[0.1, 0.5, 0.9])
    ax.plot(X[:, 0], X[:, 1], ".", color="tab:blue", markersize=3)
    ax.set_title(f"ignorance: {name} alone")
pyplot.show()

# %%
# Both together, for one flower: how much does each source add?
plots.WaterfallDisplay.from_evidence(voting.evidence(X[[70]])).plot()
pyplot.show()

# %%
# **How to misread it.** Low ignorance of the fused evidence does not mean that similar flowers
# were in the training data. To check that, look at the neighbours alone, or at the typicality.
