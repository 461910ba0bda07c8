"""
Which inputs matter for each of several classes?
================================================

With more than two classes there is one panel for each class. It compares the class with its
strongest rival in each row.
"""

# %%
# Three species of iris, four measurements.
import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
model = LogisticRegression(max_iter=1000).fit(iris.data, species)
ev = shafer.Explainer(model, iris.data)(iris.data)

# %%
# A point is the log-odds that an input adds for the class over the most probable other class of
# that flower. Petals hardly ever support versicolor. Its rival changes from flower to flower: a
# small petal is evidence for setosa, and a large petal is evidence for virginica.
plots.SummaryDisplay.from_evidence(ev, features=iris.data).plot()
pyplot.show()

# %%
# ``over`` compares all flowers with one class. Now the colours change in one direction along each
# row.
display = plots.SummaryDisplay.from_evidence(
    ev, features=iris.data, classes="virginica", over="versicolor"
)
display.plot()
pyplot.show()

# %%
# **How to misread it.** Without ``over``, do not compare panels point by point. The same flower
# can be compared with another class in each panel.
