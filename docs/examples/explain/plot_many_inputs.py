"""
How do I read a model with many inputs?
=======================================

With dozens of inputs, nearly all evidence cancels and a waterfall has too many bars. Groups of
inputs make a row readable again, and the probabilities stay the same.
"""

# %%
# A logistic regression on 30 measurements of cells, many of which are strongly correlated.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

cells = load_breast_cancer(as_frame=True)
X, y = cells.data, cells.target_names[cells.target]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
ev = shafer.Explainer(model, X)(X)
plots.WaterfallDisplay.from_evidence(ev, 81, top=9).plot(order="sign")
pyplot.show()

# %%
# ``groups="auto"`` joins components that contradict each other over the background rows, until a
# few are left. A group is named after its strongest members.
grouped = shafer.Explainer(model, X, groups="auto", n_groups=5)(X)
plots.WaterfallDisplay.from_evidence(grouped, 81).plot()
pyplot.show()

# %%
# You can also name the groups yourself. A group adds up the signed weights of its members.
kinds = {kind: [c for c in X if c.startswith(kind)] for kind in ("mean", "worst")}
kinds["errors"] = [c for c in X if c.endswith("error")]
named = shafer.Explainer(model, X, groups=kinds)(X)
for evidence in (ev, grouped, named):
    print(evidence.n_components, evidence[81].probability.round(3), evidence[81].disagreement)

# %%
# **How to misread it.** Less disagreement after grouping does not mean that the model is surer.
# Opposite weights cancel inside a group, so they no longer count as disagreement.
