"""A small network for Fashion-MNIST, already trained."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import nn


def load_fashion_network() -> nn.Sequential:
    """Return a trained PyTorch network for the images of :func:`load_fashion`.

    Three convolutions with batch norm, a global average of the last feature map, and a linear layer
    with ten outputs, in the order of ``load_fashion().target_names``. It takes float images of
    shape (n, 1, H, W) with values from 0 to 1. It was trained on the 60,000 images of the full
    training set, by ``benchmarks/maps/train_networks.py``.

    Returns
    -------
    torch.nn.Sequential
        In evaluation mode.

    See Also
    --------
    load_fashion : The images.
    shafer.Explainer : Explains the network.

    Examples
    --------
    >>> import torch
    >>> from shafer.datasets import load_fashion, load_fashion_network
    >>> fashion, network = load_fashion(), load_fashion_network()
    >>> images = torch.from_numpy(fashion.images / 255.0).float()[:, None]
    >>> answers = fashion.target_names[network(images).argmax(1).numpy()]
    >>> bool((answers == fashion.target).mean() > 0.85)
    True
    """
    try:
        import torch
        from torch import nn
    except ImportError:
        raise ImportError("load_fashion_network needs PyTorch. Run: pip install torch") from None

    def block(before: int, after: int) -> list[nn.Module]:
        convolution = nn.Conv2d(before, after, 3, padding=1, bias=False)
        return [convolution, nn.BatchNorm2d(after), nn.ReLU()]

    network = nn.Sequential(
        *block(1, 16),
        nn.MaxPool2d(2),
        *block(16, 32),
        nn.MaxPool2d(2),
        *block(32, 48),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(48, 10),
    )
    place = resources.files("shafer.datasets").joinpath("data/fashion_network.npz")
    with place.open("rb") as file, np.load(file) as arrays:
        state = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    network.load_state_dict(state)
    return network.eval()
