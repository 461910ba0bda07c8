"""
Why did the model give this answer?
===================================

A waterfall adds up the evidence for one row, from the base rate to the model's own log-odds. Here
are two men with nearly the same probability and very different reasons.
"""

# %%
# The base rate is a bar of its own, as in SHAP. ``errors="sandwich"`` adds error bars.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
explainer = shafer.Explainer(model, X, errors="sandwich")
ev = explainer(X)

# %%
# Read the picture from the bottom. The lowest bar is the base rate: the log-odds of a man whose
# inputs are all average. Each bar starts where the one below ends. Bars to the right support the
# disease, bars to the left oppose it, and +1 multiplies the odds by 2.7. The sum is on top.
#
# This man has a high LDL and a family history, but he is young. The two sides cancel.
plots.WaterfallDisplay.from_evidence(ev, 345, class_="disease", features=X).plot()
pyplot.show()

# %%
# The second man is average in nearly everything. Little evidence is left beside the base rate.
plots.WaterfallDisplay.from_evidence(ev, 61, class_="disease", features=X).plot()
pyplot.show()

# %%
# For a logistic regression the bars are the SHAP values (interventional, same background), and the
# base rate is SHAP's base value. The interval of a pale bar contains 0.
#
# **How to misread it.** The error bar lies around the end of its bar, so do not compare it with
# the zero of the axis. Do not give a pale bar as a reason.
