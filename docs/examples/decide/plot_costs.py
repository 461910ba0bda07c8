"""
What should I do if errors have different costs, and I can refer a case?
========================================================================

Missing an ill patient costs more than treating a healthy one, and asking a doctor also has a cost.
Give the costs by label, and the model chooses the act with the smallest expected cost.
"""

# %%
# ``moderate="laplace"`` makes the probabilities less extreme where the training data leave the
# coefficients uncertain. Good probabilities matter more than the decision rule.
import numpy as np
import pandas as pd
import shafer
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression())
clf = shafer.EvidentialClassifier(model, moderate="laplace").fit(X[::2], y[::2])

loss = {
    "treat": {"disease": 0, "healthy": 1},
    "send home": {"disease": 5, "healthy": 0},
    "refer": {"disease": 0.5, "healthy": 0.5},
}
acts = clf.decide(X[1::2], loss)

# %%
# The lines are the expected costs of the acts at each probability. The lowest line wins. The
# points are the test patients, at the act that was chosen for them.
p = np.linspace(0, 1, 101)
risk = clf.predict_proba(X[1::2])[:, 0]
figure, ax = pyplot.subplots(layout="constrained")
for act, costs in loss.items():
    (line,) = ax.plot(p, p * costs["disease"] + (1 - p) * costs["healthy"], label=act)
    chosen = risk[acts == act]
    ax.plot(chosen, np.full(len(chosen), -0.1), "|", color=line.get_color(), markersize=9)
ax.set(xlabel="probability of disease", ylabel="expected cost", ylim=(-0.2, 2))
ax.legend()
pyplot.show()

# %%
# The mean cost on the test patients, with and without the third act.
pair = {act: loss[act] for act in ("treat", "send home")}
cost = {
    name: np.mean([loss[act][truth] for act, truth in zip(decided, y[1::2], strict=True)])
    for name, decided in (("with refer", acts), ("without", clf.decide(X[1::2], pair)))
}
pd.Series(cost).round(3)

# %%
# **How to misread it.** A referral does not mean that the model knows nothing about the patient.
# Referring is simply the cheapest act at that probability and with these costs.
