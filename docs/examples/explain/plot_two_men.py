"""
Why is this 50 %?
=================

Two men get the same probability of heart disease, one half. For one of them the model has almost
no evidence, for the other it has strong evidence on both sides.
"""

# %%
# The model uses two inputs: the age and the LDL cholesterol. It is the first example of the paper
# behind this library (Denœux 2019), with its weights: both inputs share the base rate.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data[["age", "ldl"]], heart.target.map({0: "healthy", 1: "disease"})
model = LogisticRegression(C=1e9).fit(X, y)

men = X.iloc[:2].assign(age=[50, 25], ldl=[6.8, 14.5])
model.predict_proba(men).round(2)

# %%
# Each bar goes from the belief to the plausibility of a class. Belief is what the evidence
# supports. Plausibility is what it does not contradict. The width is the ignorance.
#
# At age 50 with an LDL of 6.8, neither input gives evidence, so the bars are wide. At age 25 with
# an LDL of 14.5, the age is evidence against the disease, and the LDL is equally strong evidence
# for it. So the bars are narrow, and both classes have some belief.
ev = shafer.Explainer(model, X, prior="shared")(men)
names = ["50 years, LDL 6.8", "25 years, LDL 14.5"]
plots.IntervalDisplay.from_evidence(ev, names=names).plot()
pyplot.show()

# %%
# The same two men among all values of age and LDL. Ignorance is high where both inputs are near
# their cut-offs, the values at which they give no evidence.
explainer = shafer.Explainer(model, X, prior="shared")
figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, response in zip(axes, ["ignorance", "conflict"], strict=True):
    plots.RegionDisplay.from_explainer(explainer, X, response).plot(ax)
    ax.set_title(response)
    ax.plot(men["age"], men["ldl"], "o", color="white", markeredgecolor="black")
pyplot.show()

# %%
# **How to misread it.** Low ignorance does not mean that the answer is certain. The second man has
# low ignorance because there is much evidence, but the evidence is contradictory.
