"""
Can the training data speak beside the model?
=============================================

A linear model is sure of itself far away from all data. Fused with the evidence of the nearest
training rows, you see where there is none.
"""

# %%
# Three species of iris by two measurements. ``NeighbourEvidence`` is one of two sources.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

iris = load_iris(as_frame=True)
X, species = iris.data.iloc[:, [0, 2]].to_numpy(), iris.target_names[iris.target]
sources = [("model", LogisticRegression()), ("neighbours", shafer.NeighbourEvidence())]
voting = shafer.EvidentialVotingClassifier(sources).fit(X, species)
neighbours = shafer.NeighbourEvidence().fit(X, species)

# %%
# The ignorance of the neighbours alone is high where there are no training flowers. The fused
# evidence still has the model's opinion there.
figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
found = {"neighbours alone": neighbours.evidence, "model and neighbours": voting.evidence}
for ax, (name, evidence) in zip(axes, found.items(), strict=True):
    plots.RegionDisplay.from_explainer(
        evidence, [[3, -1], [10, 9]], "ignorance", feature_names=["sepal length", "petal length"]
    ).plot(ax)
    ax.plot(X[:, 0], X[:, 1], ".", color="tab:blue", markersize=3)
    ax.set_title(f"ignorance: {name}")
pyplot.show()

# %%
# One flower: how much does each source add?
plots.WaterfallDisplay.from_evidence(voting.evidence(X[[70]])).plot()
pyplot.show()

# %%
# **How to misread it.** Low ignorance of the fused evidence does not mean that similar flowers were
# seen; look at the neighbours alone, or at the typicality, for that.
