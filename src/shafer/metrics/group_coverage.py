"""Coverage of prediction sets in groups of rows, with exact intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import in_row_order
from shafer._checks.labels import group_labels, group_positions, is_missing, label_array
from shafer._typing import FloatArray
from shafer.decision.acts import is_number
from shafer.metrics.bounds import rate_interval
from shafer.metrics.set_predictions import set_predictions


@final
@dataclass(frozen=True, eq=False)
class GroupCoverage:
    """Coverage and size of prediction sets in each group.

    Attributes
    ----------
    by : tuple of M labels
        The groups.
    n : array of shape (M,)
        The number of rows.
    coverage, mean_size : arrays of shape (M,)
        How often sets hold the true class, and how many classes they hold on average.
    lower, upper : arrays of shape (M,)
        Clopper and Pearson's interval of the coverage.

    See Also
    --------
    coverage_by_group : Makes one.
    StratifiedCoverage : The same by class or by size.

    Examples
    --------
    >>> from shafer.metrics import coverage_by_group
    >>> found = coverage_by_group([0, 1, 0], [[1, 0], [1, 0], [1, 1]], ["a", "a", "b"])
    >>> found.by, found.n, found.coverage
    (('a', 'b'), array([2, 1]), array([0.5, 1. ]))
    """

    by: tuple[Any, ...]
    n: NDArray[np.intp]
    coverage: FloatArray
    mean_size: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def worst(self) -> float:
        """The smallest coverage of any group."""
        return float(self.coverage.min())

    def to_dict(self) -> dict[str, Any]:
        """Return the columns of a table, one row for each group: ``pandas.DataFrame(...)``.

        Returns
        -------
        dict from column name to array
        """
        return {
            "group": list(self.by),
            "n": self.n,
            "coverage": self.coverage,
            "lower": self.lower,
            "upper": self.upper,
            "mean_size": self.mean_size,
        }


def coverage_by_group(
    y_true: Any, y_set: Any, by: Any, *, labels: Any = None, confidence: float = 0.95
) -> GroupCoverage:
    r"""Return the coverage among rows of each group, with an exact interval.

    .. math:: P(Y \in A \mid \text{group})

    ``conformalize(..., by=)`` guarantees it. Small groups have wide intervals: a coverage below
    the promise is news only if the whole interval lies below it.

    Parameters
    ----------
    y_true, y_set, labels
        As in :func:`coverage_score`.
    by : array of shape (n,)
        The group of each row.
    confidence : float
        Of the two-sided intervals of Clopper and Pearson.

    Returns
    -------
    GroupCoverage

    See Also
    --------
    coverage_by_class : The same for classes.
    coverage_by_size : The same for sizes of sets.
    coverage_score : Of all rows together.

    Examples
    --------
    >>> from shafer.metrics import coverage_by_group
    >>> y_set = [[1, 0], [1, 1], [0, 1], [0, 1]]
    >>> by_group = coverage_by_group([0, 1, 0, 1], y_set, ["a", "a", "b", "b"])
    >>> by_group.by, by_group.coverage, by_group.mean_size
    (('a', 'b'), array([1. , 0.5]), array([1.5, 1. ]))
    >>> by_group.lower.round(2), by_group.upper.round(2)
    (array([0.16, 0.01]), array([1.  , 0.99]))
    """
    if not is_number(confidence) or not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be a number between 0 and 1; got {confidence!r}.")
    predictions = set_predictions(y_true, y_set, labels, None)
    given = label_array(in_row_order(by, y_set, "by", "y_set"), "by")
    if given.shape != predictions.truth.shape:
        raise ValueError(
            f"by must hold one label for each of {len(predictions.truth)} rows; got shape "
            f"{given.shape}."
        )
    if any(map(is_missing, given.tolist())):
        raise ValueError("by must not be missing. Give these rows a group of their own.")
    names = tuple(group_labels(given))
    places = group_positions(given, names)
    n = np.bincount(places, minlength=len(names))
    hits = np.bincount(places, predictions.hit, minlength=len(names))
    sizes = np.bincount(places, predictions.size, minlength=len(names))
    lower, upper = rate_interval(hits, n, float(confidence))
    return GroupCoverage(names, n, hits / n, sizes / n, lower, upper)
