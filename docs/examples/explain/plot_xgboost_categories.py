"""
How do I explain an XGBoost model with categories?
==================================================

Pass the trained model and the training frame, with its category columns as they are. Each column
is one component, by exact Shapley values of the trees.
"""

# %%
# German credit has 7 numeric and 13 categorical columns.
import shafer
from matplotlib import pyplot
from shafer import plots
from xgboost import XGBClassifier

X, risk = shafer.datasets.load_german_credit(return_X_y=True)
texts = X.select_dtypes(exclude="number").columns
X = X.astype(dict.fromkeys(texts, "category"))
bad = (risk == "bad").astype(int)
options = {"n_estimators": 60, "max_depth": 3, "learning_rate": 0.1, "n_jobs": 1}
model = XGBClassifier(enable_categorical=True, **options).fit(X, bad)

# %%
# The model has the classes 0 and 1. ``classes`` gives them names.
explainer = shafer.Explainer(model, X, classes=["good", "bad"])
ev = explainer(X)
plots.WaterfallDisplay.from_evidence(ev, 226, class_="bad", features=X, top=9).plot()
pyplot.show()

# %%
# The same as a table, in log-odds as SHAP values of the margin. Positive weights count for "bad",
# negative ones against it. ``top`` is large so that no component is left out.
ev[[226]].reasons(class_="bad", over="good", top=20)[["component", "value", "log_odds"]]

# %%
# All rows: colours show numeric values; categories have no order and stay grey.
figure, ax = pyplot.subplots(figsize=(7, 5), layout="constrained")
plots.SummaryDisplay.from_evidence(ev, features=X, classes="bad").plot(ax, top=8)
pyplot.show()

# %%
# The evidence has the model's own probabilities.
float(abs(ev.probability - model.predict_proba(X)).max())

# %%
# **How to misread it.** A Shapley value of a tree model also contains the interactions with other
# columns. So the same value of a column can have different weights in different rows.
