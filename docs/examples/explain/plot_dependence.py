"""
How does the evidence change with one input?
============================================

The dependence plot shows what one input adds to the log-odds at each of its values. The curve
crosses zero at the cut-off: the value at which the input gives no evidence.
"""

# %%
# One man is copied 101 times, and only his age changes.
import numpy as np
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
explainer = shafer.Explainer(model, X, errors="sandwich")
ages = np.linspace(15, 65, 101)
over_age = explainer(X.iloc[[0] * 101].assign(age=ages))

# %%
# The cut-off is the mean age. The small marks at the bottom and at the top are
# the men of the two classes.
men = {"healthy": X.age[y == "healthy"], "disease": X.age[y == "disease"]}
display = plots.DependenceDisplay.from_evidence(over_age, "age", ages, instances=men)
display.plot(classes="disease")
pyplot.show()

# %%
# The same component as masses. Near the cut-off nearly all mass is on the set of both classes:
# the age alone tells almost nothing there.
plots.DependenceDisplay.from_evidence(over_age, "age", ages).plot(kind="masses")
pyplot.show()

# %%
# **How to misread it.** This is the effect of the age in the model while all other inputs stay the
# same. In the data, older men also differ from young men in the other inputs.
