"""
Which missing value should I ask for next?
==========================================

Three inputs of a patient are not known yet. The evidence shows whether they could change the
answer, and which of them gives most information.
"""

# %%
# ``missing="conditional"`` replaces a missing input by its expectation, given the known inputs.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
explainer = shafer.Explainer(model, X[::2], missing="conditional")
patient = X.loc[[167]].assign(age=np.nan, ldl=np.nan, tobacco=np.nan)

# %%
# Hatched bars are expected weights of inputs that are missing.
plots.WaterfallDisplay.from_evidence(explainer(patient), class_="disease", features=patient).plot()
pyplot.show()

# %%
# The chance that the answer changes once all three values are known.
float(explainer.ask.overturn(patient)[0])

# %%
# The inputs, ranked by their information in nats: how far the probabilities are expected to move.
plan = explainer.ask.next_inputs(patient)
figure, ax = pyplot.subplots(figsize=(6, 2), layout="constrained")
ax.barh(plan["input"], plan["information"])
ax.invert_yaxis()
ax.set(xlabel="expected information about the class (nats)")
pyplot.show()

# %%
# With costs, and inputs that come together: a talk gives the age and the tobacco.
groups = {"blood test": ["ldl"], "talk": ["age", "tobacco"]}
plan = explainer.ask.next_inputs(patient, costs={"blood test": 5.0, "talk": 1.0}, groups=groups)
plan[["input", "information", "cost", "information_per_cost"]].round(3)

# %%
# **How to misread it.** The plan assumes that values are missing at random. If doctors measure
# only those who look ill, a missing value is itself information, and the plan does not use it.
