"""
What if a sensor fails?
=======================

Three models see three parts of the inputs, and any of them may be missing for a row. The fused
classifier then uses the evidence that is left.
"""

# %%
# Each estimator has its own columns of wine measurements. How much each source counts is learnt.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

wine = load_wine()
X, y = wine.data, np.array(["barolo", "grignolino", "barbera"])[wine.target]
parts = {"acids": [0, 1, 2, 3], "phenols": [4, 5, 6, 7, 8], "colour": [9, 10, 11, 12]}
one = make_pipeline(StandardScaler(), LogisticRegression())
voting = shafer.EvidentialVotingClassifier([(name, one, at) for name, at in parts.items()])
voting = voting.fit(X[::2], y[::2])

# %%
# One wine, first complete, then without its colour measurements. A missing source gives no
# evidence, so its bar has length 0. Nothing is imputed. The prior, the frequencies of the classes,
# is counted once. The note below the axis is about what is left of each source's own base rate.
row, broken = X[[83]], X[[83]].copy()
broken[:, parts["colour"]] = np.nan
options = {"class_": "barbera", "over": "grignolino"}
plots.WaterfallDisplay.from_evidence(voting.evidence(row), **options).plot()
plots.WaterfallDisplay.from_evidence(voting.evidence(broken), **options).plot()
pyplot.show()

# %%
# The log loss of new wines, with more and more sources missing at random. For comparison: the
# average of the probabilities of the sources that are there.
alone = [one.fit(X[::2][:, at], y[::2]).predict_proba(X[1::2][:, at]) for at in parts.values()]
shares, fused, average = [0.0, 0.2, 0.4, 0.6], [], []
for share in shares:
    lost = np.random.default_rng(0).random((3, len(X[1::2]))) < share
    lost[0, lost.all(axis=0)] = False  # one source is always there
    gappy = X[1::2].copy()
    for source, at in enumerate(parts.values()):
        gappy[np.ix_(lost[source], at)] = np.nan
    fused.append(log_loss(y[1::2], voting.predict_proba(gappy)))
    mean = (np.stack(alone) * ~lost[..., None]).sum(axis=0) / (~lost).sum(axis=0)[:, None]
    average.append(log_loss(y[1::2], mean))

figure, ax = pyplot.subplots(layout="constrained")
ax.plot(shares, fused, "o-", label="fused evidence")
ax.plot(shares, average, "s--", label="average of probabilities")
ax.set(xlabel="share of missing sources", ylabel="log loss of new wines", ylim=0)
ax.legend()
pyplot.show()

# %%
# **How to misread it.** A source without a bar may be missing, or its inputs may give no evidence.
# The picture does not show which, so look at the inputs.
