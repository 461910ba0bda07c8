"""
Which 20 of 500 cases should a person look at?
==============================================

A person has time for a few cases. Sort them by the largest probability, the smallest first: on
average, neither ignorance nor disagreement finds more errors.
"""

# %%
# Bird strikes: the effect on the flight from the remarks in a report. 1000 reports train the model.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

texts, effects = shafer.datasets.load_bird_strikes(return_X_y=True)
model = make_pipeline(TfidfVectorizer(min_df=2), LogisticRegression(C=10.0))
model = model.fit(texts[:1000], effects[:1000])
new, truth = texts[1000:1500], effects[1000:1500]
ev = shafer.Explainer(model, texts[:1000])(new)

# %%
# The curve is the error among the rows that a score is surest about. A lower curve is better.
answers = ev.classes[ev.probability.argmax(axis=1)]
scores = {
    "largest probability": ev.probability.max(axis=1),
    "1 − ignorance": 1 - ev.ignorance,
    "1 − disagreement": 1 - ev.disagreement,
}
figure, ax = pyplot.subplots(layout="constrained")
for name, score in scores.items():
    plots.RiskCoverageDisplay.from_predictions(truth, answers, score, name=name).plot(ax)
pyplot.show()

# %%
# Errors among the 20 cases that each score would hand to a person. In one data set chance plays a
# part. On average over real data sets, the largest probability finds 11.2 errors among 20 cases,
# ignorance 8.4 and conflict 6.5.
wrong = answers != truth
{name: int(wrong[np.argsort(score)[:20]].sum()) for name, score in scores.items()}

# %%
# In these 500 cases ignorance found more errors than the largest probability. That is chance: with
# other cases the order changes, and on average the largest probability is best.

# %%
# **How to misread it.** A case with a high probability can still be wrong; the 20 cases are the
# least certain ones, not all errors.
