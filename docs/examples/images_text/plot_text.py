"""
Which words carry the answer?
=============================

A text model that counts words before a linear classifier is a sum over words. So each word is
evidence for one class and against another, and can be marked in the text itself.
"""

# %%
# Remarks from reports of bird strikes, and the effect on the flight.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

texts, effects = shafer.datasets.load_bird_strikes(return_X_y=True)
model = make_pipeline(TfidfVectorizer(stop_words="english"), LogisticRegression(C=10.0))
model = model.fit(texts[:1200], effects[:1200])
ev = shafer.Explainer(model, texts[:1200])(texts[1200:])

# %%
# Blue words support the answer, orange words the runner-up. Grey words have no weight: the model
# does not know them, or they are stop words.
plots.TextDisplay.from_evidence(ev, 194).plot()
pyplot.show()

# %%
# In a notebook, the Display shows itself as HTML.
plots.TextDisplay.from_evidence(ev, 34, class_="engine shut down", over="precautionary landing")

# %%
# The strongest words, as a table. A word that is *not* in the text can be a reason too.
reasons = ev[[194]].reasons(top=5)
reasons[["component", "value", "log_odds"]].round(2)

# %%
# **How to misread it.** The weight of a word is not its meaning. It is what this model learned
# from these reports, given all other words. Some of it is chance.
