"""
Which values should I check, and what if one is wrong?
======================================================

Somebody typed an LDL of 45.9 instead of 4.59. ``check_cells`` finds the value, and ``guard`` gives
the answer as if it were missing.
"""

# %%
# ``check_cells`` and ``guard`` compare each value with what the other inputs suggest.
import pandas as pd
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
explainer = shafer.Explainer(model, X[::2])
slipped = X.loc[[7]].assign(ldl=45.9)

# %%
# One wrong value outweighs everything else.
plots.WaterfallDisplay.from_evidence(explainer(slipped), class_="disease", features=slipped).plot()
pyplot.show()

# %%
# *Surprise* is the distance from the expected value, in standard deviations. *Stake* also counts
# how much the answer depends on the value.
cells = explainer.ask.check_cells(slipped, top=3)
cells[["rank", "input", "value", "expected", "surprise", "stake"]].round(2)

# %%
# ``guard`` treats a very unlikely value as missing. Its answer is close to the answer for the true
# value.
guarded = explainer.ask.guard(slipped)
answers = {
    "as typed": model.predict_proba(slipped),
    "guarded": guarded.probability,
    "true value": model.predict_proba(X.loc[[7]]),
}
pd.DataFrame({name: p[0] for name, p in answers.items()}, index=explainer.classes).round(2)

# %%
# **How to misread it.** A surprising value need not be wrong: rare people exist, so check the value
# before you correct it.
