"""
What are the main reasons for a low score?
==========================================

A lender must often name the main reasons for a decline. The reasons depend on the reference group:
all applicants, or only those who just passed.
"""

# %%
# A logistic regression on German credit. The encoded columns of a category are one component.
import shafer
from matplotlib import pyplot
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

X, risk = shafer.datasets.load_german_credit(return_X_y=True)
encoder = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")),
    (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
)
model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, risk)
p_bad = model.predict_proba(X)[:, list(model.classes_).index("bad")]

# %%
# The background is the reference group. The first explainer compares with all applicants. The
# second compares with applicants whose risk was slightly below the limit of 40 %.
just_passed = X[(p_bad > 0.3) & (p_bad < 0.4)]
groups = {"all applicants": X, "those who just passed": just_passed}
found = {}
for name, rows in groups.items():
    explainer = shafer.Explainer(model, rows)
    found[name] = explainer(X.loc[[10]]).reasons(class_="bad", over="good", top=4)
found["all applicants"][["rank", "component", "value", "log_odds", "share"]].round(2)

# %%
# The same applicant, two reference groups.
figure, axes = pyplot.subplots(1, 2, figsize=(11, 2.6), layout="constrained", sharex=True)
for ax, (name, reasons) in zip(axes, found.items(), strict=True):
    ax.barh(reasons["component"] + " = " + reasons["value"].astype(str), reasons["log_odds"])
    ax.invert_yaxis()
    ax.set(xlabel="log-odds of bad over good")
    ax.set_title(f"compared with {name}", loc="right", fontsize="medium")
pyplot.show()

# %%
# **How to misread it.** A reason is not advice. It shows what lowered the score compared with the
# group. It does not show that the loan would be repaid with another value.
