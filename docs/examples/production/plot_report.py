"""
How do I share the evidence with people who do not use Python?
==============================================================

A report is one HTML file that works offline, with every row, its reasons and sliders. The command
``shafer report`` writes the same page without any Python.
"""

# %%
# It needs a model, rows, and their true classes if they are known.
import tempfile
from pathlib import Path

import shafer
from matplotlib import pyplot
from shafer import plots
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
explainer = shafer.Explainer(model, X)

# %%
# The file appears when it is complete, or not at all.
with tempfile.TemporaryDirectory() as folder:
    page = explainer.report(X, y, Path(folder) / "heart.html")
    print(f"{page.stat().st_size / 1000:.0f} kB")

# %%
# The page opens with one case: the answer, the reasons on both sides, what to check. One row gives
# a page about this case alone.
with tempfile.TemporaryDirectory() as folder:
    page = explainer.report(X.iloc[[345]], path=Path(folder) / "case.html")
    print(f"{page.stat().st_size / 1000:.0f} kB")

# %%
# Under "Advanced" is the plane of ignorance and disagreement, in which every row can be clicked. It
# is the same picture as this one.
plots.UncertaintyDisplay.from_evidence(explainer(X), y).plot()
pyplot.show()
# sphinx_gallery_thumbnail_path = "figures/report.png"

# %%
# What the page looks like in a browser:
#
# .. image:: /figures/report.png
#    :alt: The report on the heart data: one man, the answer, the reasons on both sides, what next
#
# **How to misread it.** The sliders show what the model would answer for other inputs; they do not
# show what would happen to a person whose inputs changed.
