"""
How do I get prediction sets that are right 9 times out of 10?
==============================================================

Conformal calibration finds how large the sets must be, from rows that were not used for training.
The coverage is then guaranteed for any model, good or bad.
"""

# %%
# Iris by two poor features. A third of the rows trains the model, a third calibrates the sets.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import metrics, plots
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

iris = load_iris(as_frame=True)
X, y = iris.data.iloc[:, :2], iris.target_names[iris.target]
part = np.random.default_rng(0).permutation(len(X)) % 3
model = LogisticRegression().fit(X[part == 0], y[part == 0])
explainer = shafer.Explainer(model, X[part == 0])
explainer = explainer.conformalize(X[part == 1], y[part == 1], coverage=0.9)

# %%
# The sets on the remaining third.
sets = explainer.predict_set(X[part == 2])
coverage = metrics.coverage_score(y[part == 2], sets, labels=explainer.classes)
print(f"coverage {coverage:.2f}, mean size {metrics.mean_set_size(sets):.2f}")
plots.SetConfusionDisplay.from_predictions(y[part == 2], sets, labels=explainer.classes).plot()
pyplot.show()

# %%
# The same sets over the plane of the two features.
display = plots.RegionDisplay.from_function(
    explainer.predict_set, X, classes=explainer.classes
).plot()
for species, marker in zip(explainer.classes, "os^", strict=True):
    flowers = X[(part == 2) & (y == species)].to_numpy()
    display.ax_.plot(
        *flowers.T, marker, color=pyplot.rcParams["text.color"], markersize=4, label=species
    )
display.ax_.legend()
pyplot.show()

# %%
# **How to misread it.** The 90 % is an average over rows like the calibration rows. It is not the
# probability that the set of one row is right. A single class may have a lower coverage.
