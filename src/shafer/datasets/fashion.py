"""Fashion-MNIST, a subset: 500 small grey images of garments, ten classes."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

CLASSES = (
    "T-shirt",
    "trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
SUBSETS = ("train", "test")
_DESCRIPTION = """\
Fashion-MNIST, a subset: grey images of garments, 28 × 28 pixels, white on black, ten classes.

"train": the first 20 images of each class among the 60,000 training images.
"test": the first 30 images of each class among the 10,000 test images.
Classes: T-shirt, trousers, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot.

Source: H. Xiao, K. Rasul and R. Vollgraf (2017), Fashion-MNIST: a Novel Image Dataset for
Benchmarking Machine Learning Algorithms, arXiv:1708.07747. Copyright Zalando SE, MIT licence. Taken
from Debian's package dataset-fashion-mnist, which holds all 70,000 images.
"""


def load_fashion(subset: str = "test", *, return_X_y: bool = False) -> Any:
    """Return images of garments from Fashion-MNIST: 300 test or 200 training images, 10 classes.

    Parameters
    ----------
    subset : {"test", "train"}
        Test images; or training images, as background data for an :class:`shafer.Explainer`.
    return_X_y : bool
        Return ``(images, target)`` only.

    Returns
    -------
    Bunch
        ``images`` (n, 28, 28) of bytes, ``data`` the same as (n, 784), ``target`` (n,) with the
        names of the classes, ``target_names`` in the order of a network's outputs, ``DESCR`` with
        source and licence.

    See Also
    --------
    load_fashion_network : A network trained for these images.
    shafer.plots.EvidenceMapDisplay : Show the evidence on an image.

    Examples
    --------
    >>> from shafer.datasets import load_fashion
    >>> fashion = load_fashion()
    >>> fashion.images.shape, str(fashion.target[0])
    ((300, 28, 28), 'ankle boot')
    """
    if subset not in SUBSETS:
        raise ValueError(f"subset must be 'test' or 'train'; got {subset!r}.")
    place = resources.files("shafer.datasets").joinpath("data/fashion.npz")
    with place.open("rb") as file, np.load(file) as arrays:
        images, positions = arrays[f"{subset}_images"], arrays[f"{subset}_target"]
    names = np.array(CLASSES)
    bunch = Bunch(
        images=images,
        data=images.reshape(len(images), -1),
        target=names[positions],
        target_names=names,
        DESCR=_DESCRIPTION,
    )
    return (bunch.images, bunch.target) if return_X_y else bunch
