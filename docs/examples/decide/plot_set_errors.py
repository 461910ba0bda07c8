"""
What do set-valued answers get wrong?
=====================================

An answer with two classes is right more often than an answer with one, but it is less precise. A
table and a curve show the errors and the precision.
"""

# %%
# Two poor features of iris, so that many flowers stay undecided.
import shafer
from matplotlib import pyplot
from shafer import metrics, plots
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

iris = load_iris()
X, y = iris.data[:, :2], iris.target_names[iris.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
clf = shafer.EvidentialClassifier(groups="one").fit(X_train, y_train)
ev = clf.evidence(X_test)
y_set = ev.decide("interval_dominance")

# %%
# The confusion table has a row for each decided set. Bold numbers are sets that contain the true
# class, orange cells are errors. All numbers are per cent of the test flowers. Θ is the set of all
# classes.
plots.SetConfusionDisplay.from_predictions(y_test, y_set, labels=clf.classes_).plot()
pyplot.show()

# %%
# The curve lets the sets grow, the least certain ones first. Imprecision is 0 for single classes
# and 1 if every set holds all classes. The points are the decisions of two rules.
rules = {rule: ev.decide(rule) for rule in ("plausibility", "interval_dominance")}
plots.ErrorImprecisionDisplay.from_predictions(
    y_test, ev.plausibility, labels=clf.classes_, rules=rules
).plot()
pyplot.show()

# %%
# One number for both sides: u65 gives a correct pair 65 % of the value of a correct class.
{
    rule: round(metrics.u65_score(y_test, sets, labels=clf.classes_), 3)
    for rule, sets in rules.items()
}

# %%
# **How to misread it.** Larger sets have fewer errors, but this alone does not make a rule better.
# A rule that always answers with all classes is never wrong.
