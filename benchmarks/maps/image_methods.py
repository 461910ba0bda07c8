"""A map of a class for each image, on the grid of a network's last feature map, by several methods.

Methods that give pixels (integrated gradients, SHAP, occlusion) are averaged over the cells: all
are compared at one resolution. The rival is the class that the difference maps compare with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from captum.attr import IntegratedGradients, LayerGradCam, Occlusion
from numpy.typing import NDArray
from torch import Tensor, nn

import shafer

Positions = NDArray[np.intp]
Maps = NDArray[np.float64]

_IG_STEPS = 32
_SHAP_SAMPLES = 32


@dataclass(frozen=True, eq=False)
class Subject:
    """A network, and background images (m, 1, H, W) of the size of those to explain."""

    network: nn.Sequential
    background: Tensor
    filling: Tensor

    @cached_property
    def layer(self) -> nn.Module:
        """The last feature map: the output of the last ReLU."""
        return [layer for layer in self.network if isinstance(layer, nn.ReLU)][-1]

    @cached_property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the last feature map."""
        shapes: list[torch.Size] = []
        hook = self.layer.register_forward_hook(lambda *run: shapes.append(run[2].shape))
        with torch.no_grad():
            self.network(self.background[:1])
        hook.remove()
        return shapes[0][2], shapes[0][3]

    @cached_property
    def cell(self) -> tuple[int, int]:
        """Height and width of a cell, in pixels."""
        height, width = self.background.shape[2:]
        return height // self.grid[0], width // self.grid[1]

    def explainer(self, means: str) -> shafer.Explainer:
        """Return the explainer of locations, with this choice of background means."""
        return shafer.Explainer(
            self.network,
            self.background,
            components="locations",
            location_means=means,
            prior="own",
        )

    @cached_property
    def explainers(self) -> dict[str, shafer.Explainer]:
        """The explainers of both choices."""
        return {means: self.explainer(means) for means in ("place", "shared")}

    def on_grid(self, pixels: Tensor) -> Maps:
        """Average pixels (n, C, H, W) over the cells of the grid."""
        pooled = nn.functional.adaptive_avg_pool2d(pixels.sum(1, keepdim=True), self.grid)
        return pooled[:, 0].detach().double().numpy()


Method = Callable[[Subject, Tensor, Positions, Positions], Maps]


def _evidence(means: str, *, over: bool) -> Method:
    def method(subject: Subject, images: Tensor, classes: Positions, rivals: Positions) -> Maps:
        ev = subject.explainers[means](images)
        rows = np.arange(len(images))
        weights = np.asarray(ev.weights, dtype=np.float64)
        found = weights[rows, :, classes]
        if over:
            found = found - weights[rows, :, rivals]
        assert ev.layout is not None
        return np.asarray(ev.layout.spread(found))

    return method


def _grad_cam(subject: Subject, images: Tensor, classes: Positions, _: Positions) -> Maps:
    target = torch.from_numpy(classes)
    found = LayerGradCam(subject.network, subject.layer).attribute(images, target=target)
    return found[:, 0].detach().double().numpy()


def _grad_cam_over(subject: Subject, images: Tensor, classes: Positions, rivals: Positions) -> Maps:
    first = _grad_cam(subject, images, classes, rivals)
    return first - _grad_cam(subject, images, rivals, classes)


def _integrated(subject: Subject, images: Tensor, classes: Positions, _: Positions) -> Maps:
    found = IntegratedGradients(subject.network).attribute(
        images,
        baselines=subject.filling.expand_as(images),
        target=torch.from_numpy(classes),
        n_steps=_IG_STEPS,
        internal_batch_size=512,
    )
    return subject.on_grid(found)


def _occlusion(subject: Subject, images: Tensor, classes: Positions, _: Positions) -> Maps:
    height, width = subject.cell
    with torch.no_grad():
        found = Occlusion(subject.network).attribute(
            images,
            sliding_window_shapes=(1, height, width),
            strides=(1, height, width),
            baselines=subject.filling.expand_as(images),
            target=torch.from_numpy(classes),
        )
    return subject.on_grid(found)


def _gradient_shap(subject: Subject, images: Tensor, classes: Positions, _: Positions) -> Maps:
    import shap

    explained = shap.GradientExplainer(_Chosen(subject.network), subject.background)
    parts = []
    for k in np.unique(classes):
        rows = np.flatnonzero(classes == k)
        explained.explainer.model.chosen = int(k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = explained.shap_values(images[rows], nsamples=_SHAP_SAMPLES, rseed=0)
        parts.append((rows, np.asarray(values)[..., 0]))
    found = np.empty(tuple(images.shape))
    for rows, values in parts:
        found[rows] = values
    return subject.on_grid(torch.from_numpy(found))


class _Chosen(nn.Module):
    """One output of a network: SHAP then computes the gradients of that one only."""

    def __init__(self, network: nn.Module, chosen: int = 0) -> None:
        super().__init__()
        self.network = network
        self.chosen = chosen

    def forward(self, images: Tensor) -> Tensor:
        """Return the output as a column."""
        found: Tensor = self.network(images)[:, self.chosen : self.chosen + 1]
        return found


def _random(subject: Subject, images: Tensor, classes: Positions, _: Positions) -> Maps:
    rng = np.random.default_rng([len(images), int(classes.sum())])
    return rng.normal(size=(len(images), *subject.grid))


METHODS: dict[str, Method] = {
    "evidence, place means": _evidence("place", over=False),
    "evidence, shared means": _evidence("shared", over=False),
    "evidence over rival, place means": _evidence("place", over=True),
    "evidence over rival, shared means": _evidence("shared", over=True),
    "captum GradCAM": _grad_cam,
    "captum GradCAM, difference": _grad_cam_over,
    "captum integrated gradients": _integrated,
    "captum occlusion": _occlusion,
    "SHAP gradient explainer": _gradient_shap,
    "random": _random,
}
