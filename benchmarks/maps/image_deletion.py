"""Deletion and insertion: how fast a class falls when the best cells of its map are removed.

The cells of an image are replaced by a filling, those that the map ranks highest first. The area
under the curve of the class's probability is the figure: the lower, the better. Insertion starts
with the filling and adds the best cells of the image first: the higher, the better.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from maps.image_methods import Maps, Positions, Subject

STEPS = 24


def fillings(subject: Subject, images: Tensor) -> dict[str, Tensor]:
    """Return what removed cells are filled with: the mean image, or the image itself, blurred."""
    blur = _blurred(images)
    return {"mean image": subject.filling.expand_as(images), "blur": blur}


def areas(
    subject: Subject, images: Tensor, classes: Positions, maps: Maps, filling: Tensor
) -> dict[str, NDArray[np.float64]]:
    """Return the areas of deletion and insertion of each image, (n,) each."""
    ranks = _ranks(maps)  # 0 for the cell that the map ranks highest
    cells = ranks[0].size
    counts = np.unique(np.round(np.linspace(0, cells, STEPS + 1)).astype(int))
    removed, added = [], []
    for count in counts:
        best = torch.from_numpy(ranks < count)
        mask = _as_pixels(best, images)
        removed.append(_probability(subject.network, torch.where(mask, filling, images), classes))
        added.append(_probability(subject.network, torch.where(mask, images, filling), classes))
    shares = counts / cells
    return {
        "deletion": np.trapezoid(np.stack(removed), shares, axis=0),
        "insertion": np.trapezoid(np.stack(added), shares, axis=0),
    }


def _ranks(maps: Maps) -> NDArray[np.intp]:
    flat = maps.reshape(len(maps), -1)
    order = np.argsort(-flat, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(flat.shape[1])[None], axis=1)
    return ranks.reshape(maps.shape)


def _as_pixels(cells: Tensor, images: Tensor) -> Tensor:
    size = (images.shape[2], images.shape[3])
    wide = nn.functional.interpolate(cells[:, None].float(), size=size, mode="nearest")
    return wide > 0.5


def _probability(network: nn.Module, images: Tensor, classes: Positions) -> NDArray[np.float64]:
    with torch.no_grad():
        found = network(images).double().softmax(1).numpy()
    return np.asarray(found[np.arange(len(classes)), classes])


def _blurred(images: Tensor, sigma: float = 4.0) -> Tensor:
    reach = torch.arange(-12, 13, dtype=images.dtype)
    kernel = torch.exp(-(reach**2) / (2 * sigma**2))
    kernel = kernel / kernel.sum()
    across = nn.functional.conv2d(images, kernel[None, None, None], padding=(0, 12))
    return nn.functional.conv2d(across, kernel[None, None, :, None], padding=(12, 0))
