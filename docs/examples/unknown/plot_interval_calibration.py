"""
Do belief and plausibility enclose the accuracy?
================================================

A probability of 0.8 should be right 8 times in 10. An interval from belief to plausibility should
contain the share of right answers.
"""

# %%
# The heart data; one half trains the model, the other half is new.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])

# %%
# Rows are sorted into five bins. A bar is the mean interval of a bin, the dot is the accuracy in
# the bin. With nine components the intervals are narrow. With one component they are wider.
figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, groups in zip(axes, (None, "one"), strict=True):
    ev = shafer.Explainer(model, X[::2], groups=groups, prior="shared")(X[1::2])
    plots.IntervalCalibrationDisplay.from_predictions(
        y[1::2],
        ev.belief,
        ev.plausibility,
        labels=ev.classes,
        n_bins=5,
        name="nine components" if groups is None else "one component",
    ).plot(ax)
pyplot.show()

# %%
# The probabilities are the same in both pictures. Only the number of pieces of evidence differs.
#
# **How to misread it.** A wide interval contains the accuracy more easily, so also look at the
# width. In a bin with few rows, a dot can lie outside by chance.
