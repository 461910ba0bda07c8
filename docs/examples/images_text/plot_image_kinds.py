"""
Which parts of an image tell nothing, and which contradict the rest?
====================================================================

A heat map shows evidence for and against. Belief functions add two maps: where there is no
evidence, and which locations disagree with all others.
"""

# %%
# The network for garments that comes with the library, and an ankle boot taken for a sneaker.
import shafer
import torch
from matplotlib import pyplot
from shafer import plots

fashion, train = shafer.datasets.load_fashion(), shafer.datasets.load_fashion("train")
background, images = (
    torch.from_numpy(part.images / 255.0).float()[:, None] for part in (train, fashion)
)
network = shafer.datasets.load_fashion_network()
options = {"components": "locations", "classes": fashion.target_names, "prior": "own"}
ev = shafer.Explainer(network, background, **options)(images[68:69])
boot = fashion.images[68]

# %%
# One map for each class, on one scale. These are weights of evidence: each map compares its class
# with the average of all ten classes.
names = ["sneaker", "ankle boot", "sandal"]
plots.EvidenceMapDisplay.from_evidence(ev, 0, boot, classes=names).plot(grid=True)
pyplot.show()

# %%
# *Ignorance*: a light location gives no evidence about any class. *Disagreement*: strong colours
# mark locations that support other classes than the rest of the image does.
kinds = ["evidence", "ignorance", "disagreement"]
with pyplot.style.context("dark_background"):
    plots.EvidenceMapDisplay.from_evidence(ev, 0, boot, show=kinds).plot(smooth=True, grid=True)
pyplot.show()

# %%
# **How to misread it.** The disagreement map does not show errors. It shows which locations differ
# from the rest. Images with a correct answer have such locations too.
