"""Masses and rates from user input, checked, and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shafer._typing import FloatArray
from shafer.belief.frame import Frame, Subset

_SUM_TOLERANCE = 1e-9
_ROUNDING = 1e-12
_LISTED = 8


def check_length(array: NDArray[Any], frame: Frame, name: str) -> None:
    """Refuse an array that does not have one entry per subset of the frame.

    Examples
    --------
    >>> check_length(np.zeros(4), Frame(["a", "b"]), "masses")
    """
    if array.shape != (frame.n_subsets,):
        raise ValueError(
            f"{name} must have shape ({frame.n_subsets},), one entry per subset of the "
            f"{len(frame)} labels; got shape {array.shape}"
        )


def checked_masses(masses: ArrayLike, frame: Frame) -> FloatArray:
    """Return a float64 copy of the masses after checking them.

    Negative values above -1e-12 are rounding left by an inverse transform and become 0. A sum
    that differs from 1 by more than 1e-12, but by at most 1e-9, is corrected by division.

    Examples
    --------
    >>> checked_masses([0, 0.5, 0, 0.5], Frame(["a", "b"])).tolist()
    [0.0, 0.5, 0.0, 0.5]
    """
    array = np.array(masses, dtype=np.float64)
    check_length(array, frame, "masses")
    bad = np.flatnonzero(~(array >= -_ROUNDING))
    if bad.size:
        where = subset_text(int(bad[0]), frame)
        raise ValueError(f"masses must be numbers >= 0; got {float(array[bad[0]])} for {where}")
    array = np.where(array > 0, array, 0.0)
    total = float(array.sum())
    if not abs(total - 1.0) <= _SUM_TOLERANCE:
        raise ValueError(f"masses must sum to 1 within {_SUM_TOLERANCE:g}; got a sum of {total!r}.")
    return array if abs(total - 1.0) <= _ROUNDING else array / total


def array_from_mapping(values: Mapping[Any, float], frame: Frame, name: str) -> FloatArray:
    """Return the 2**K values of a mapping of subsets, 0 for those left out.

    Examples
    --------
    >>> array_from_mapping({"a": 0.5, ("b", "a"): 0.5}, Frame(["a", "b"]), "masses").tolist()
    [0.0, 0.5, 0.0, 0.5]
    """
    array = np.zeros(frame.n_subsets)
    for mask, value in _by_mask(values, frame, name).items():
        array[mask] = value
    return array


def rates_by_mask(rates: Mapping[Any, float] | ArrayLike, frame: Frame) -> dict[int, float]:
    """Return the discount rate of each context, by bitmask.

    Examples
    --------
    >>> rates_by_mask([0.25, 0.5], Frame(["a", "b"]))
    {1: 0.25, 2: 0.5}
    """
    if isinstance(rates, Mapping):
        return _by_mask(rates, frame, "rates")
    return {1 << k: float(rate) for k, rate in enumerate(_per_label(rates, frame, "rates"))}


def simple_masses(
    subset: Subset, frame: Frame, weight: float | None, support: float | None
) -> FloatArray:
    r"""Return the masses of :math:`A^w`: s on A and :math:`1 - s = e^{-w}` on the frame.

    Examples
    --------
    >>> simple_masses("a", Frame(["a", "b"]), None, 0.25).tolist()
    [0.0, 0.25, 0.0, 0.75]
    """
    mask = frame.subset(subset)
    if mask in (0, frame.full):
        raise ValueError(
            "A simple mass function needs a subset that is not empty and not the whole frame; "
            f"got {subset!r}. Name some of the labels."
        )
    masses = np.zeros(frame.n_subsets)
    masses[mask], masses[-1] = _support_and_rest(weight, support)
    return masses


def bayesian_masses(probabilities: Mapping[Any, float] | ArrayLike, frame: Frame) -> FloatArray:
    """Return masses on single labels.

    Examples
    --------
    >>> bayesian_masses({"b": 0.75, "a": 0.25}, Frame(["a", "b"])).tolist()
    [0.0, 0.25, 0.75, 0.0]
    """
    masses = np.zeros(frame.n_subsets)
    if isinstance(probabilities, Mapping):
        for label, value in probabilities.items():
            masses[1 << frame.position(label)] = value
    else:
        masses[1 << np.arange(len(frame))] = _per_label(probabilities, frame, "probabilities")
    return masses


def subset_text(mask: int, frame: Frame) -> str:
    """Return the text of a subset.

    Examples
    --------
    >>> [subset_text(mask, Frame(["a", "b"])) for mask in range(4)]
    ['∅', '{a}', '{b}', 'Θ']
    """
    if mask == 0:
        return "∅"
    if mask == frame.full:
        return "Θ"
    return "{" + ", ".join(str(label) for label in frame.labels_in(mask)) + "}"


def listing(masses: FloatArray, frame: Frame) -> str:
    """Return the largest focal sets with their masses, in the order of the bitmasks.

    Examples
    --------
    >>> listing(np.array([0, 0.25, 0, 0.75]), Frame(["a", "b"]))
    '{a}: 0.25, Θ: 0.75'
    """
    focal = np.flatnonzero(masses)
    shown = np.sort(focal[np.argsort(-masses[focal], kind="stable")][:_LISTED])
    parts = [f"{subset_text(int(mask), frame)}: {masses[mask]:.4g}" for mask in shown]
    if focal.size > _LISTED:
        parts.append(f"… {focal.size - _LISTED} smaller")
    return ", ".join(parts)


def _by_mask(values: Mapping[Any, float], frame: Frame, name: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for subset, value in values.items():
        mask = frame.subset(subset)
        if mask in found:
            raise ValueError(f"{name} must name each subset once; got {subset!r} a second time")
        found[mask] = float(value)
    return found


def _per_label(values: ArrayLike, frame: Frame, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(frame),):
        raise ValueError(
            f"{name} must have shape ({len(frame)},), one entry per label; got shape {array.shape}"
        )
    return array


def _support_and_rest(weight: float | None, support: float | None) -> tuple[float, float]:
    if (weight is None) == (support is None):
        raise ValueError(
            f"Give exactly one of weight and support; got weight={weight!r}, support={support!r}."
        )
    if support is not None:
        if not 0 <= support <= 1:
            raise ValueError(f"support must be a number between 0 and 1; got {support!r}")
        return support, 1.0 - support
    if not (weight is not None and weight >= 0):
        raise ValueError(f"weight must be a number >= 0 (inf is certainty); got {weight!r}")
    return float(-np.expm1(-weight)), float(np.exp(-weight))
