"""
How do I share the evidence with people who do not use Python?
==============================================================

A report is one HTML file that works offline, with every row, its reasons and sliders. The command
``shafer report`` writes the same page without any Python.
"""

# %%
# A study is a model, rows, and their true classes if they are known.
import tempfile
from pathlib import Path

import shafer
from shafer.report import make_study, write_report
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

heart = shafer.datasets.load_heart(as_frame=True)
X, y = heart.data, heart.target.map({0: "healthy", 1: "disease"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
study = make_study(shafer.Explainer(model, X, prior="own"), X, y)
# sphinx_gallery_thumbnail_path = "figures/report.png"

# %%
# The file appears when it is complete, or not at all.
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "heart.html"
    write_report(study, page)
    print(f"{page.stat().st_size / 1000:.0f} kB")

# %%
# What it looks like in a browser:
#
# .. image:: /figures/report.png
#    :alt: The report on the heart data: a summary, plots, and a page for each patient

# %%
# **How to misread it.** The sliders show what the model would answer for other inputs; they do not
# show what would happen to a person whose inputs changed.
