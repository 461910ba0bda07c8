"""``FocalSet``, and the largest focal sets of closed forms and of tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer import kernels
from shafer._typing import Array, Label
from shafer._validation import to_numpy
from shafer.kernels import LogTerms


class FocalSet(NamedTuple):
    """A set of classes that holds mass, and how much.

    Attributes
    ----------
    classes : frozenset of labels
        The set of classes.
    mass : float
        Its mass.

    See Also
    --------
    shafer.MassEvidence.focal_sets : Finds the largest of them.

    Examples
    --------
    >>> from shafer.evidence import FocalSet
    >>> FocalSet(frozenset(["yes"]), 0.25).mass
    0.25
    """

    classes: frozenset[Label]
    mass: float


def pooled_focal_sets(terms: LogTerms, classes: NDArray[Any], top: int) -> list[list[FocalSet]]:
    """Find the largest focal sets of each row of pooled evidence, without enumerating 2^K."""
    _check_top(top)
    flat = [
        to_numpy(array).astype(np.float64).reshape(-1, array.shape[-1])
        for array in kernels.focal_logarithms(terms)
    ]
    labels = classes.tolist()
    return [
        [
            FocalSet(frozenset(labels[k] for k in inside), float(np.exp(log_mass)))
            for log_mass, inside in kernels.largest_focal_sets(
                log_u, log_v, log_belief, float(log_scale[0]), int(top)
            )
        ]
        for log_u, log_v, log_belief, log_scale in zip(*flat, strict=True)
    ]


def table_focal_sets(masses: Array, classes: NDArray[Any], top: int) -> list[list[FocalSet]]:
    """Find the largest focal sets of each row of a table (n, 2^K)."""
    _check_top(top)
    labels = classes.tolist()

    def inside(mask: int) -> frozenset[Label]:
        return frozenset(label for k, label in enumerate(labels) if mask >> k & 1)

    return [
        [
            FocalSet(inside(int(mask)), float(row[mask]))
            for mask in np.argsort(-row, kind="stable")[:top]
            if row[mask] > 0
        ]
        for row in to_numpy(masses)
    ]


def _check_top(top: int) -> None:
    if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
        raise ValueError(f"top must be a positive integer; got {top!r}.")
