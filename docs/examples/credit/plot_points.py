"""
How do I turn a model into a points table?
==========================================

A scorecard gives points for each answer of an applicant, and the points add up to the score. Points
are weights of evidence on another scale.
"""

# %%
# A scorecard of optbinning on German credit, at 600 points for good:bad odds of 50 to 1. 20 more
# points double the odds.
import shafer
from matplotlib import pyplot
from optbinning import BinningProcess, Scorecard
from sklearn.linear_model import LogisticRegression

X, risk = shafer.datasets.load_german_credit(return_X_y=True)
X = X[["checking_account", "duration", "savings", "purpose", "employment"]]
scale = {"scorecard_points": 600, "odds": 50, "pdo": 20}
card = Scorecard(
    BinningProcess(list(X.columns)),
    LogisticRegression(),
    scaling_method="pdo_odds",
    scaling_method_params=scale,
)
card = card.fit(X, (risk == "bad").astype(int))

# %%
# ``class_`` is the favourable class. The base rate is the score of an average applicant.
explainer = shafer.Explainer(card, X, classes=["good", "bad"])
table = shafer.scorecards.scorecard(explainer, points=600, odds=50, pdo=20, class_="good")
table[table["component"].isin(["checking_account", "savings", "base rate"])].round(1)

# %%
# Points above and below the average applicant.
shown = table[table["component"].isin(["checking_account", "savings", "duration"])]
shown = shown[~shown["bin"].isin(["any other", "missing"])]
figure, ax = pyplot.subplots(figsize=(6.4, 4), layout="constrained")
names = shown["component"] + ": " + shown["bin"].astype(str)
colors = ["tab:blue" if points > 0 else "tab:orange" for points in shown["points"]]
ax.barh(names, shown["points"], color=colors)
ax.invert_yaxis()
ax.axvline(0, color="gray")
ax.set(xlabel="points above or below the average")
pyplot.show()

# %%
# The points of an applicant add up to optbinning's own score.
points = explainer(X).points(points=600, odds=50, pdo=20, class_="good")
float(abs(points.sum(axis=1) - card.score(X)).max())

# %%
# **How to misread it.** An input with few points may still be important. Correlated inputs share
# one effect, and another input may get most of the points.
