"""
How do I use SHAP values here, and the evidence in SHAP?
========================================================

SHAP values in log-odds are contributions, so they can be read as evidence. Evidence can also be
turned into a SHAP explanation, for all of SHAP's plots.
"""

# %%
# A random forest is not a sum of contributions, so this example uses a model that SHAP and shafer
# both read: a logistic regression.
import numpy as np
import shafer
import shap
from matplotlib import pyplot
from shafer import plots
from shafer.models import from_shap, to_shap
from sklearn.linear_model import LogisticRegression

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "ill"})
model = LogisticRegression(max_iter=5000).fit(X, y)
explanation = shap.LinearExplainer(model, shap.maskers.Independent(X, max_samples=462))(X)

# %%
# From SHAP: pass the model too, and the sums are checked against its probabilities.
ev = from_shap(explanation, model=model, X=X)
plots.UncertaintyDisplay.from_evidence(ev, y).plot()
pyplot.show()

# %%
# To SHAP: draw with SHAP itself. With two classes the values are log-odds of the second class.
own = shafer.Explainer(model, X)(X)
back = to_shap(own, X)
shap.plots.bar(back[345], show=False)
pyplot.xlabel("SHAP value: log-odds of ill over healthy")
pyplot.tight_layout()
pyplot.show()

# %%
# For a linear model and the same background, the numbers are equal.
bool(np.allclose(back.values, explanation.values))

# %%
# **How to misread it.** SHAP values of probabilities are not evidence, and they raise an error.
# Only values that add up to log-odds can be combined as weights.
