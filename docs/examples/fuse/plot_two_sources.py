"""
How do I combine models of different inputs?
============================================

One model uses blood values, one the way of life, and one age and family. Their combined evidence
shows what each source adds, and how much the sources contradict each other.
"""

# %%
# Three models that were trained separately. Their evidence has the same classes.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
columns = {
    "blood": ["ldl", "sbp"],
    "life": ["tobacco", "alcohol", "obesity"],
    "person": ["age", "famhist"],
}
sources = {}
for name, inputs in columns.items():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[inputs], y)
    sources[name] = shafer.Explainer(model, X[inputs])(X[inputs])

# %%
# Every model contains the base rate. ``prior`` removes it from each source and counts it once.
# ``granularity="sources"`` makes each source one component. The note below the axis is about what
# is left of each source's own base rate.
share = y.value_counts(normalize=True)
both = shafer.combine(sources, prior=share[sources["blood"].classes], granularity="sources")
plots.WaterfallDisplay.from_evidence(both, 345, class_="disease").plot()
pyplot.show()

# %%
# How strongly do the sources contradict each other about this man? 0 means no conflict.
plots.SourceConflictDisplay.from_evidences(sources, 345).plot()
pyplot.show()

# %%
# How far would the probability move without one of the sources?
found = shafer.fusion.influence(sources)
dict(zip(sources, found.probability_change[345].round(2).tolist(), strict=True))

# %%
# **How to misread it.** Dempster's rule assumes that the sources are independent. With two models
# of the same inputs it counts the same evidence twice. Use ``EvidentialVotingClassifier`` for
# them.
