"""
How much evidence is in each region of the image?
=================================================

Pass a segmentation, and the evidence of all locations in a region is added up. Regions can also
test whether the evidence lies on the right garment.
"""

# %%
# The network for garments that comes with the library.
import numpy as np
import shafer
import torch
from matplotlib import pyplot
from shafer import plots

fashion, train = shafer.datasets.load_fashion(), shafer.datasets.load_fashion("train")
network = shafer.datasets.load_fashion_network()
options = {"components": "locations", "classes": fashion.target_names, "prior": "own"}


def as_input(images):
    """Return images as the network takes them."""
    return torch.from_numpy(images / 255.0).float()[:, None]


# %%
# Three regions: the background (0), the upper (1) and the lower part of the shoe (2).
boot = fashion.images[68]
parts = np.where(boot > 40, 1 + (np.arange(28)[:, None] >= 14), 0)
ev = shafer.Explainer(network, as_input(train.images), **options)(as_input(boot[None]))
plots.EvidenceMapDisplay.from_evidence(ev.grouped(parts), 0, boot).plot()
pyplot.show()

# %%
# A boot and a pullover side by side. The evidence for boot should lie on the left, the evidence for
# pullover on the right.
wide_train = np.concatenate([train.images[0::2], train.images[1::2]], axis=2)
pair = np.concatenate(list(fashion.images[:2]), axis=1)
wide = shafer.Explainer(network, as_input(wide_train), **options)(as_input(pair[None]))
plots.EvidenceMapDisplay.from_evidence(wide, 0, pair, class_="ankle boot", over="pullover").plot()
pyplot.show()

# %%
# **How to misread it.** Sums count, not peaks: many pale cells of a large region together can
# count more than one strong cell of a small region.
