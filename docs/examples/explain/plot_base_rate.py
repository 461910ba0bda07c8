"""
What is the base rate, and where does it go?
============================================

The base rate is the model's answer before it sees any input. It can be a bar of its own, or all
components can share it.
"""

# %%
# German credit: 30 % of the loans were bad. This small model knows three inputs.
import pandas as pd
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, risk = shafer.datasets.load_german_credit(return_X_y=True)
X = X[["duration", "amount", "age"]]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, risk)

# %%
# ``prior="own"``, the default: the base rate is the lowest bar. The other bars are what is special
# about this applicant. All three inputs raise the risk a little. SHAP does the same.
own = shafer.Explainer(model, X)(X)
plots.WaterfallDisplay.from_evidence(own, 31, class_="bad", features=X).plot()
pyplot.show()

# %%
# ``prior="shared"``, the choice of the paper: each component has an equal share of the base rate.
# Now all three inputs of the same applicant seem to lower the risk.
shared = shafer.Explainer(model, X, prior="shared")(X)
plots.WaterfallDisplay.from_evidence(shared, 31, class_="bad", features=X).plot()
pyplot.show()

# %%
# The probabilities are equal. Ignorance and disagreement differ, because the pieces of evidence
# differ.
table = {
    name: [float(ev[31].probability[0, 0]), float(ev[31].ignorance[0]), ev[31].disagreement[0]]
    for name, ev in (("own", own), ("shared", shared))
}
pd.DataFrame(table, index=["probability of bad", "ignorance", "disagreement"]).round(2)

# %%
# **How to misread it.** With a shared base rate and a rare class, do not read the bar of an input
# as its own effect; use ``prior="own"`` to explain a row to somebody.
