"""
How do I add what a doctor thinks?
==================================

A doctor has seen some of the patients and tells how sure she is. Her statements are evidence, and
they can be combined with the evidence of the model.
"""

# %%
# The model, five patients, and the opinions. An empty cell means no opinion.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data[["ldl", "tobacco", "age"]], heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
patients = X.head().assign(
    opinion=["disease", "", "healthy", "", "disease"],
    sure=["70 %", "", "90 %", "", "50 %"],
)
evidence = shafer.Explainer(model, X)(patients[X.columns])

# %%
# "70 % sure" is a probability. With two classes, "50 % sure" adds no evidence.
doctor = shafer.Evidence.from_statements(
    patients,
    classes=["disease", "healthy"],
    columns={"doctor": {"for": "opinion", "probability": "sure"}},
)
fused = shafer.combine({"model": evidence, "seen": doctor})

# %%
figure, ax = pyplot.subplots(figsize=(6.4, 3), layout="constrained")
for shift, (name, ev) in enumerate({"model": evidence, "model and doctor": fused}.items()):
    ax.bar(np.arange(5) + 0.4 * shift, ev.probability[:, 0], width=0.38, label=name)
words = [f"{o}\n{s}" if o else "not seen" for o, s in patients[["opinion", "sure"]].to_numpy()]
ax.set_xticks(np.arange(5) + 0.2, words)
ax.set(ylabel="probability of disease", xlabel="the doctor's opinion, and how sure she is")
ax.set_ylim(0, 1.1)
ax.legend(loc="upper right")
pyplot.show()

# %%
# The doctor is one more bar.
plots.WaterfallDisplay.from_evidence(fused, 2, class_="disease").plot()
pyplot.show()

# %%
# **How to misread it.** The rule assumes that doctor and model are independent. If she looked at
# the same values as the model, these values count twice. Then use ``combine(..., "cautious")``.
