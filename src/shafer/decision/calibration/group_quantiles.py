"""Conformal quantiles of groups of rows, and of the classes in them (Mondrian)."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import FloatArray
from shafer._validation import frozen, group_labels, group_positions, label_array
from shafer.decision.calibration.conformal_quantile import conformal_quantile, rows_needed


def grouped_thresholds(
    own: FloatArray,
    truth: NDArray[np.intp],
    groups: Any,
    level: Fraction,
    classes: NDArray[Any] | None,
) -> tuple[FloatArray, tuple[Any, ...]]:
    """Return a threshold for each group, (M, 1), or for each class in it, (M, K); and the groups.

    Parameters
    ----------
    own, truth : arrays of shape (n,)
        The score of each row's true class, and the class's position.
    groups : array of shape (n,)
    level : Fraction
        The coverage.
    classes : array of shape (K,) or None
        The classes, if each has a threshold of its own.
    """
    found = label_array(groups, "groups")
    if found.shape != truth.shape:
        raise ValueError(f"groups must hold {len(truth)} labels; got shape {found.shape}.")
    names = tuple(group_labels(found))
    places = group_positions(found, names)
    strata = np.zeros_like(truth) if classes is None else truth
    n_strata = 1 if classes is None else len(classes)
    _warn_of_small_groups(places, strata, names, classes, level)
    thresholds = [
        [conformal_quantile(own[(places == g) & (strata == s)], level) for s in range(n_strata)]
        for g in range(len(names))
    ]
    return np.asarray(frozen(np.array(thresholds, dtype=np.float64))), names


def _warn_of_small_groups(
    places: NDArray[np.intp],
    strata: NDArray[np.intp],
    groups: tuple[Any, ...],
    classes: NDArray[Any] | None,
    level: Fraction,
) -> None:
    """Name the groups, or the classes in them, with too few rows for the coverage."""
    needed, small = rows_needed(level), []
    for g, group in enumerate(groups):
        counts = np.bincount(strata[places == g], minlength=1 if classes is None else len(classes))
        for s in np.flatnonzero(counts < needed):
            where = "" if classes is None else f", class {classes.tolist()[s]!r}"
            small.append(f"{group!r}{where} ({counts[s]})")
    if not small:
        return
    kept = "all classes" if classes is None else "this class"
    message = (
        f"Too few calibration rows for a coverage of {float(level):g} in group(s) "
        f"{listed(small, written=str)}; every set there will hold {kept}. Give at least {needed} "
        "rows of each, or lower the coverage."
    )
    # From here through grouped_thresholds and split_conformal to whoever called it.
    warnings.warn(message, UserWarning, stacklevel=4)
