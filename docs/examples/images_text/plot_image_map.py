"""
Where in the image is the evidence?
===================================

Many networks average a feature map before their last layer. Then each location of the map is
exactly a piece of evidence, and a map of the image shows it.
"""

# %%
# A small network for garments, trained on Fashion-MNIST. It comes with the library.
import shafer
import torch
from matplotlib import pyplot
from shafer import plots

fashion, train = shafer.datasets.load_fashion(), shafer.datasets.load_fashion("train")
network = shafer.datasets.load_fashion_network()


def as_input(images):
    """Return images as the network takes them."""
    return torch.from_numpy(images / 255.0).float()[:, None]


explainer = shafer.Explainer(
    network,
    as_input(train.images),
    components="locations",
    classes=fashion.target_names,
)
ev = explainer(as_input(fashion.images))

# %%
# This ankle boot is taken for a sneaker. Blue locations support sneaker over sandal, the runner-up.
# Orange locations support sandal. The sum is below the map.
plots.EvidenceMapDisplay.from_evidence(ev, 68, fashion.images[68]).plot()
pyplot.show()

# %%
# Why not ankle boot, the true class? Name the two classes.
plots.EvidenceMapDisplay.from_evidence(
    ev, 68, fashion.images[68], class_="sneaker", over="ankle boot"
).plot()
pyplot.show()

# %%
# **How to misread it.** The network did not use only the blue cells. A cell shows what was
# computed there from a larger part of the image. So evidence may lie beside the garment.
