"""
Which inputs matter over all rows?
==================================

The summary has one swarm of points for each input. It is read like SHAP's beeswarm plot, and for
two classes it has the same unit: log-odds.
"""

# %%
# A logistic regression on nine measurements of 462 men.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
ev = shafer.Explainer(model, X, errors="sandwich")(X)

# %%
# Each point is one man. Its place is what the input adds to the log-odds of the disease, its
# colour is the value of the input. Inputs with the largest mean absolute weight come first. The
# interval of a pale point contains 0. The base rate is equal for all men and is left out.
plots.SummaryDisplay.from_evidence(ev, features=X, classes="disease").plot()
pyplot.show()

# %%
# The means behind the order of the rows, with their intervals.
ev.importance().plot()
pyplot.show()

# %%
# The same as a table.
ev.importance().to_frame().round(2)

# %%
# **How to misread it.** A wide swarm means that the model uses the input, not that the input
# causes the disease. Correlated inputs share one effect, and how the model splits it may be
# chance.
