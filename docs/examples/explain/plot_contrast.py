"""
Why this class rather than that one?
====================================

With three classes, "why barolo?" has two answers: why not barbera, and why not grignolino. Name
the other class, and the evidence answers that question.
"""

# %%
# The model tells three grapes apart by 13 measurements of their wine.
import pandas as pd
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

wine = load_wine(as_frame=True)
grape = wine.target.map({0: "barolo", 1: "grignolino", 2: "barbera"})
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(wine.data, grape)
ev = shafer.Explainer(model, wine.data, errors="sandwich")(wine.data)
pd.Series(ev[83].probability[0], ev.classes).round(2)

# %%
# By default the picture compares the most probable class with the runner-up.
options = {"features": wine.data, "top": 9}
plots.WaterfallDisplay.from_evidence(ev, 83, **options).plot()
pyplot.show()

# %%
# ``class_`` and ``over`` ask about any other pair, by label. The bars are other numbers now: they
# add up to the log-odds of the two classes in the title.
plots.WaterfallDisplay.from_evidence(ev, 83, class_="grignolino", over="barolo", **options).plot()
pyplot.show()

# %%
# The same numbers without a picture: one value for each component.
pd.Series(ev[83].contrast("grignolino", "barolo")[0], ev.component_names).round(2)

# %%
# **How to misread it.** A bar for barbera over grignolino tells nothing about barolo: an input can
# support a class over one rival and oppose it over another.
