"""
Which sets of classes does the evidence support?
================================================

Evidence can support "A or B" without choosing between them. Mass on a set of classes supports the
set as a whole, not a single class in it.
"""

# %%
# With two classes there are three sets. Θ is the set of all classes, and its mass is the ignorance.
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
plots.MassDisplay.from_evidence(ev, 61).plot()
pyplot.show()

# %%
# With ten classes there are 1023 sets; the picture finds the largest masses without listing all.
# Dots under a bar show which classes are in its set. All pixels are one component here.
digits = load_digits()
ten = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
ten = ten.fit(digits.data, digits.target)
one = shafer.Explainer(ten, digits.data, groups="one", temper=0.3)(digits.data[[5]])
plots.MassDisplay.from_evidence(one, 0, top=12).plot()
pyplot.show()

# %%
# Belief and plausibility of the same digit. Belief adds the masses inside a class, plausibility the
# masses of all sets that contain it. An asterisk marks a probability below the belief, which can
# happen with more than two classes.
plots.IntervalDisplay.from_evidence(one[0]).plot(top=7)
pyplot.show()

# %%
# **How to misread it.** The interval from belief to plausibility is not a confidence interval; it
# describes the evidence, not the error of an estimate.
