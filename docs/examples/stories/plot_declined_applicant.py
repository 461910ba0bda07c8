"""
Two applicants have the same score. Are they declined for the same reasons?
===========================================================================

A scorecard gives two people 484 points, and the bank declines both. The score is the same, but the
reasons differ, and so does what to do next.
"""

# %%
# German credit: 1000 loans, 300 of them bad. The bank declines below 500 points.
import numpy as np
import pandas as pd
import shafer
from matplotlib import pyplot
from optbinning import BinningProcess, Scorecard
from shafer import plots
from sklearn.linear_model import LogisticRegression

X, risk = shafer.datasets.load_german_credit(return_X_y=True)
scale = {"scorecard_points": 600, "odds": 50, "pdo": 20}
card = Scorecard(
    BinningProcess(list(X.columns)),
    LogisticRegression(),
    scaling_method="pdo_odds",
    scaling_method_params=scale,
)
card = card.fit(X, (risk == "bad").astype(int))
ev = shafer.Explainer(card, X, classes=["good", "bad"], errors="sandwich")(X)
two = ev[[32, 226]]
points = two.points(points=600, odds=50, pdo=20, class_="good").sum(axis=1)
columns = {"points": points, "lack": two.lack, "contradiction": two.contradiction}
pd.DataFrame(columns, index=["first", "second"]).round(2)

# %%
# **The thin file.** Most inputs of the first applicant are near the average: most bars are short.
display = plots.WaterfallDisplay.from_evidence(ev, 32, class_="bad", features=X, top=13).plot()
display.ax_.set_xlim(-2.4, 1.2)
pyplot.show()

# %%
# **The mixed file.** The second asks for a large and long loan, but has large savings. Long bars
# point both ways.
display = plots.WaterfallDisplay.from_evidence(ev, 226, class_="bad", features=X, top=13).plot()
display.ax_.set_xlim(-2.4, 1.2)
pyplot.show()

# %%
# How certain are the declines? The 90 % interval of each score, in points. The first lies below
# 500. The second includes 500: a person should look at this file.
ends = np.hstack(two.grouped("one").contrast_interval("bad", "good", 0.9)[::-1])
pd.DataFrame(600 - 20 / np.log(2) * (ends + np.log(50)), columns=["lower", "upper"]).round()

# %%
# The four main reasons of each.
two.reasons(class_="bad", over="good", top=4)[["index", "rank", "component", "value", "log_odds"]]

# %%
# **How to misread it.** The reasons compare an applicant with all applicants; they are not advice,
# and two cases prove nothing about thin and mixed files in general.
