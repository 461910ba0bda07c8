"""
Which rows have little evidence, and which have contradictory evidence?
=======================================================================

A probability near one half can have two reasons: little evidence, or evidence that contradicts
itself. One picture shows both for all rows.
"""

# %%
# The components of the evidence are nine measurements of 462 men, and the base rate.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
ev = shafer.Explainer(model, X)(X)

# %%
# Every man is a point. All points on the solid line have a probability of one half. On the right,
# the components give little evidence. On the left and up, they contradict each other. Along a
# dashed line the largest probability is the number beside it.
plots.UncertaintyDisplay.from_evidence(ev, y).plot()
pyplot.show()

# %%
# With many components nearly all evidence is contradictory. Then the picture has logarithmic axes.
# Here the components are the 64 pixels of digits. Pictures follow the matplotlib style.
digits = load_digits()
ten = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
ten = ten.fit(digits.data, digits.target)
digits_ev = shafer.Explainer(ten, digits.data)(digits.data)
with pyplot.style.context("dark_background"):
    plots.UncertaintyDisplay.from_evidence(digits_ev, digits.target).plot()
pyplot.show()

# %%
# **How to misread it.** The plane does not find errors: errors are most frequent near the solid
# line, and 1 − the largest probability finds them at least as well as either axis.
