"""
Did the incoming data change, and does it matter?
=================================================

A monitor compares each batch of new rows with rows from a time when the model worked well. It
names the components that moved, and counts the decisions that changed because of them.
"""

# %%
# The reference rows should be new to the model.
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
monitor = shafer.Monitor.fit(explainer, reference)

# %%
# Twelve months of 200 men each. From June on they get older every month. From September on the
# tobacco column is filled in differently.
random = np.random.default_rng(0)
months, reports = [f"2025-{month:02d}" for month in range(1, 13)], []
for month in range(12):
    batch = reference.iloc[random.integers(0, len(reference), 200)]
    older, factor = 2.0 * max(0, month - 4), 0.4 if month >= 8 else 1.0
    batch = batch.assign(age=batch["age"] + older, tobacco=batch["tobacco"] * factor)
    reports.append(monitor.check(batch))

# %%
# Framed cells moved. The other colours may be chance.
monitor.display(reports, months).plot()
pyplot.show()

# %%
# One report in words. The chance of a false alarm is bounded over all tests of a batch together.
print(reports[-1])

# %%
# **How to misread it.** An alarm is about the inputs, not about errors. The accuracy may be the
# same as before, and you need labels to measure it.
