"""
When does a decision rule answer with several classes?
======================================================

A rule may name one class, or keep all classes that the evidence does not rule out. The picture
shows what three rules decide over the plane of two measurements.
"""

# %%
# Three species of iris by the size of the petals. ``groups="one"`` reads the model as one piece of
# evidence, which suits decisions.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

iris = load_iris(as_frame=True)
X, species = iris.data.iloc[:, [2, 3]], iris.target_names[iris.target]
model = LogisticRegression(C=0.1).fit(X, species)
explainer = shafer.Explainer(model, X, groups="one")

# %%
# *Plausibility* names the most probable class. *Interval dominance* drops a class if its
# plausibility is below the belief of another class. *Utility set* chooses the set with the largest
# expected utility, if a correct pair counts 65 % of a correct class.
figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained", sharey=True)
for ax, rule in zip(axes, ["plausibility", "interval_dominance", "utility_set"], strict=True):
    plots.RegionDisplay.from_explainer(explainer, X, "decision", rule=rule).plot(ax)
    ax.plot(X.iloc[:, 0], X.iloc[:, 1], ".", color=pyplot.rcParams["text.color"], markersize=2)
    ax.set_title(rule.replace("_", " "))
pyplot.show()

# %%
# Ignorance is the mass that stays on all three species. It is high where all three are possible.
# It is low where only two species are possible.
plots.RegionDisplay.from_explainer(explainer, X, "ignorance").plot()
pyplot.show()

# %%
# **How to misread it.** A set from these rules has no guaranteed coverage; if you need "the true
# class is in the set 9 times out of 10", calibrate the sets with ``conformalize``.
