"""
Which pixels decide about a digit?
==================================

If the inputs of a linear model are pixels, their weights are a map. It shows which pixels support
the answer, and which support the runner-up.
"""

# %%
# A logistic regression on digits of 8 × 8 pixels.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

digits = load_digits()
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
model = model.fit(digits.data, digits.target)
names = [f"row {place // 8}, column {place % 8}" for place in range(64)]
ev = shafer.Explainer(model, digits.data, names=names)(digits.data)

# %%
# This five is taken for a nine. Blue pixels support nine, orange ones support the runner-up. The
# image is drawn pale under the colours.
plots.EvidenceMapDisplay.from_evidence(
    ev, 5, digits.images[5], shape=(8, 8), show=["evidence", "ignorance", "disagreement"]
).plot()
pyplot.show()

# %%
# The same pixels as bars. With ``order="sign"`` all evidence for the answer lies above all evidence
# against it, so you see how much of it cancels.
plots.WaterfallDisplay.from_evidence(ev, 5, top=9).plot(order="sign")
pyplot.show()

# %%
# **How to misread it.** A dark pixel of the digit need not be coloured. A pixel is evidence only
# if it differs from the average image *and* if the two digits differ at this place.
