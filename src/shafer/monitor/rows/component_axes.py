r"""The directions in which the weights of a component vary: one score, or a few, for each row.

A component gives each of K classes a weight. For two classes this is one number, the log-odds
:math:`w_2 - w_1`. A feature of a linear model moves all its K weights along one direction, also
for more classes. Other components may need several directions; at most three are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._typing import BoolArray, FloatArray

MOST_AXES = 3
_LEAST_SHARE = 1e-8  # of the variance of the first axis: less is rounding


@final
@dataclass(frozen=True, eq=False)
class ComponentAxes:
    """Centres and directions of the weights of G components.

    Attributes
    ----------
    centre : array of shape (G, K)
        Mean weights over reference rows.
    axes : array of shape (G, K, R)
        Unit vectors; zeros where a component needs fewer than R. For two classes (−1, 1), so that
        the score is the log-odds of the second class over the first.
    """

    centre: FloatArray
    axes: FloatArray

    @classmethod
    def fit(cls, weights: FloatArray) -> ComponentAxes:
        """Find the axes from the weights of some reference rows, (n, G, K)."""
        centre = weights.mean(axis=0)
        n_components, n_classes = centre.shape
        if n_classes == 2:
            axes = np.broadcast_to([[-1.0], [1.0]], (n_components, 2, 1)).copy()
            return cls(centre, axes)
        deviations = np.moveaxis(weights - centre, 1, 0)  # (G, n, K)
        found = [_principal(block) for block in deviations]
        width = max(axes.shape[1] for axes in found)
        axes = np.zeros((n_components, n_classes, width))
        for g, own in enumerate(found):
            axes[g, :, : own.shape[1]] = own
        return cls(centre, axes)

    @property
    def n_axes(self) -> int:
        """The most axes R of a component."""
        return int(self.axes.shape[2])

    @property
    def used(self) -> BoolArray:
        """Which axes a component has, boolean (G, R)."""
        used: BoolArray = (self.axes != 0.0).any(axis=1)
        return used

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return the scores (n, G, R) of weights (n, G, K)."""
        scores: FloatArray = np.einsum("ngk,gkr->ngr", weights - self.centre, self.axes)
        return scores

    def weights(self, g: int, scores: FloatArray) -> FloatArray:
        """Return the weights (n, K) of component g, relative to its centre, from scores (n, R)."""
        axes = self.axes[g]
        scale = 0.5 if len(axes) == 2 else 1.0  # the log-odds is twice the weight
        return np.asarray(scale * (scores @ axes.T))


def _principal(deviations: FloatArray) -> FloatArray:
    """Return up to three directions (K, r) of rows (n, K), those with a variance."""
    n_classes = deviations.shape[1]
    _, sizes, directions = np.linalg.svd(deviations, full_matrices=False)
    if sizes[0] == 0.0:  # constant so far: any direction will do, but not a symmetric one
        direction = np.sqrt(np.arange(1.0, n_classes + 1.0))
        direction -= direction.mean()
        return np.asarray(direction / np.linalg.norm(direction))[:, None]
    kept = min(int((sizes**2 > _LEAST_SHARE * sizes[0] ** 2).sum()), MOST_AXES, n_classes - 1)
    axes = directions[:kept]
    strongest = axes[np.arange(kept), np.abs(axes).argmax(axis=1)]
    signed: FloatArray = (axes * np.sign(strongest)[:, None]).T
    return signed
