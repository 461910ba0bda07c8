"""
How do I watch rows one by one, without false alarms piling up?
===============================================================

A test after every row would raise a false alarm sooner or later. You may read a stream test at any
time: the chance that it ever raises a false alarm is at most 5 %.
"""

# %%
# Men arrive in groups of ten. After 400 men the new ones are ten years older.
import numpy as np
import shafer
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
explainer = shafer.Explainer(model, X[::2])
reference = X[1::2]
stream = shafer.Monitor.fit(explainer, reference).watch()

# %%
# Every component bets against "nothing has changed". The evidence is the logarithm of the best bet.
random = np.random.default_rng(0)
seen, evidence = [], []
for step in range(80):
    men = reference.iloc[random.integers(0, len(reference), 10)]
    if step >= 40:
        men = men.assign(age=men["age"] + 10)
    stream.update(men)
    seen.append(10 * (step + 1))
    evidence.append(stream.evidence)
print(stream.alarm, stream.moved)

# %%
figure, ax = pyplot.subplots(layout="constrained")
ax.plot(seen, evidence)
ax.axhline(-np.log(0.05), color="tab:red", linestyle="dashed", label="alarm")
ax.axvline(400, color="gray", linestyle="dotted", label="the men get older")
ax.set(xlabel="rows seen", ylabel='evidence against "nothing has changed"')
ax.legend()
pyplot.show()

# %%
# **How to misread it.** No alarm is not a proof that nothing changed: a small shift needs many rows
# before it can be told from chance.
