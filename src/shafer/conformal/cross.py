r"""Conformal sets for small data: every row calibrates, scored by a model trained without it.

The rows are cut into folds, and a model is trained without each. The p-value of class k at a new
row x counts the rows that fit their own class no better than x fits k, each under the model of its
fold (Vovk 2015, *Cross-conformal predictors*):

.. math:: p_k(x) = \frac{1 + \sum_f \#\{i \in f : s_i \ge s^{(f)}_k(x)\}}{n + 1},

and the set keeps the classes with :math:`p_k > \alpha`. Scores that differ by rounding alone are
equal, so that such rows count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import true_classes
from shafer._text import percent
from shafer._typing import Array, BoolArray, FloatArray
from shafer.conformal.scores import check_score
from shafer.conformal.split import checked_scores, exact_coverage, warn_if_too_few
from shafer.decision.dominance import choose_smallest
from shafer.decision.ties import tie_width


@final
@dataclass(frozen=True, eq=False, repr=False)
class CrossConformalSets:
    """Out-of-fold scores of the calibration rows: what :func:`cross_conformal` returns.

    Attributes
    ----------
    score : str
        The score used; see :func:`conformal_scores`.
    coverage : float
        The coverage asked for, 1 − α.
    n_calibration : int
    n_classes : int
    class_conditional : bool
    allow_empty : bool
    fold_scores : tuple of tuples of arrays
        For every fold, the sorted scores of its rows: of each class if class-conditional, else of
        all together.

    See Also
    --------
    cross_conformal : Makes one.
    ConformalSets : The same for one model and held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision import cross_conformal
    >>> scores = np.array([[-2.0, 2.0], [-1.0, 1.0], [0.5, -0.5], [1.5, -1.5]])
    >>> calibrated = cross_conformal(scores, [0, 1, 0, 1], [0, 0, 0, 1], coverage=0.8)
    >>> [len(fold[0]) for fold in calibrated.fold_scores]
    [2, 2]
    """

    score: str
    coverage: float
    n_calibration: int
    n_classes: int
    class_conditional: bool
    allow_empty: bool
    fold_scores: tuple[tuple[FloatArray, ...], ...]

    @property
    def text(self) -> str:
        """What was asked for in words; the proved bound is lower, as the guide tells."""
        where = ", for each class" if self.class_conditional else ""
        return f"sets aim at a coverage of {percent(self.coverage)}, by cross-validation{where}"

    def __repr__(self) -> str:
        return f"<CrossConformalSets: {self.text}>"

    def p_values(self, scores: Iterable[Array]) -> FloatArray:
        """Return the p-value of every class, (n, K).

        Parameters
        ----------
        scores : iterable of F arrays of shape (n, K)
            Scores of the same new rows under the model of each fold, in the order of the folds.
            A generator holds one of them at a time.

        Returns
        -------
        array of shape (n, K)
            From 0 to 1.
        """
        return (1 + self._count(scores)[0]) / (1 + self._class_counts())

    def sets(self, scores: Iterable[Array]) -> BoolArray:
        """Keep the classes with a p-value above 1 − coverage, boolean (n, K); see ``p_values``.

        Parameters
        ----------
        scores : iterable of F arrays of shape (n, K)
            As in :meth:`p_values`.

        Returns
        -------
        boolean array of shape (n, K)
        """
        count, worst = self._count(scores)
        alpha = 1 - exact_coverage(self.coverage)
        # (1 + count)/(n + 1) > α, in whole numbers.
        enough = np.array([math.floor((n + 1) * alpha) for n in self._class_counts().tolist()])
        kept = count >= enough
        if self.allow_empty:
            return np.asarray(kept)
        smallest = worst.min(axis=-1, keepdims=True)
        return np.asarray(kept | choose_smallest(worst, tie_width(smallest)))

    def _class_counts(self) -> NDArray[np.intp]:
        """Rows that each class is compared with, (K,)."""
        counts = np.array([[len(part) for part in fold] for fold in self.fold_scores]).sum(axis=0)
        return np.broadcast_to(counts, (self.n_classes,))

    def _count(self, scores: Iterable[Array]) -> tuple[NDArray[np.intp], FloatArray]:
        """Count the rows that fit no better, (n, K), and find each class's worst score."""
        total: Any = 0
        worst: Any = -np.inf
        for table, parts in zip(self._tables(scores), self.fold_scores, strict=True):
            total = total + _at_least(parts, table)
            worst = np.maximum(worst, table)
        return total, worst

    def _tables(self, scores: Iterable[Array]) -> Iterator[FloatArray]:
        """Yield the scores fold by fold, and check that there is one array for each."""
        wanted, number = len(self.fold_scores), 0
        for number, given in enumerate(scores, start=1):
            if number > wanted:
                break
            yield to_numpy(checked_scores(given, self.n_classes))
        if number != wanted:
            found = f"more than {wanted}" if number > wanted else number
            raise ValueError(f"scores must hold {wanted} arrays, one for each fold; got {found}.")


def cross_conformal(
    scores: Any,
    folds: Any,
    y: Any,
    *,
    coverage: float = 0.9,
    score: str = "plausibility",
    class_conditional: bool = False,
    allow_empty: bool = True,
    classes: Any = None,
) -> CrossConformalSets:
    r"""Calibrate on all rows, each scored by a model trained without its fold.

    Parameters
    ----------
    scores : array of shape (n, K)
        Out-of-fold scores: those of each row under the model trained without its fold.
    folds : array of shape (n,)
        The fold of each row, 0..F−1, every fold with one row at least.
    y : array of shape (n,)
        The true classes.
    coverage, score, class_conditional, allow_empty, classes
        As in :func:`split_conformal`.

    Returns
    -------
    CrossConformalSets

    See Also
    --------
    split_conformal : With a stronger promise, for many rows.
    conformal_scores : Makes the scores.

    Notes
    -----
    Every row is used twice, so the proof is weaker: a coverage of at least
    :math:`1 - 2\alpha - \sqrt{2/n}` (Barber, Candès, Ramdas & Tibshirani 2021, for K-fold CV+ and
    cross-conformal sets), not :math:`1 - \alpha`. In practice it comes out near
    :math:`1 - \alpha`, often slightly above. Use :func:`split_conformal` where rows abound.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[-2.0, 2.0], [-1.0, 1.0], [0.5, -0.5], [1.5, -1.5]])
    >>> calibrated = cross_conformal(scores, [0, 1, 0, 1], [0, 0, 0, 1], coverage=0.8)
    >>> new = np.array([[-3.0, 3.0], [0.2, -0.2]])
    >>> calibrated.p_values([new, new])
    array([[1. , 0.2],
           [0.4, 0.4]])
    >>> calibrated.sets([new, new])
    array([[ True, False],
           [ True,  True]])
    """
    check_score(score)
    level = exact_coverage(coverage)
    table = to_numpy(checked_scores(scores))
    truth, labels = true_classes(y, classes, table.shape[1], n=len(table))
    where = _fold_positions(folds, len(table))
    own = table[np.arange(len(table)), truth]
    # Without conditions all rows are of one and the same group.
    group = truth if class_conditional else np.zeros_like(truth)
    n_groups = len(labels) if class_conditional else 1
    fold_scores = tuple(
        tuple(np.sort(own[(where == fold) & (group == k)]) for k in range(n_groups))
        for fold in range(int(where.max()) + 1)
    )
    counts = np.bincount(group, minlength=n_groups).tolist()
    warn_if_too_few(counts, level, labels if class_conditional else None)
    return CrossConformalSets(
        score,
        float(level),
        len(table),
        len(labels),
        bool(class_conditional),
        bool(allow_empty),
        fold_scores,
    )


def _at_least(parts: tuple[FloatArray, ...], table: FloatArray) -> NDArray[np.intp]:
    """Count the scores of a fold that are no smaller than each new one, up to rounding, (n, K)."""
    table = table - tie_width(table)
    if len(parts) == 1:
        return len(parts[0]) - np.searchsorted(parts[0], table, side="left")
    columns = [
        len(part) - np.searchsorted(part, new) for part, new in zip(parts, table.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def _fold_positions(folds: Any, n: int) -> NDArray[np.intp]:
    """Return the fold of each row, and check that none of 0..F−1 is empty."""
    where = np.asarray(folds)
    if n == 0 or where.shape != (n,) or where.dtype.kind not in "iu":
        raise ValueError(
            f"folds must hold one whole number for each of the {n} rows, and there must be at "
            f"least one row; got shape {where.shape} of {where.dtype}."
        )
    present = np.unique(where)
    if not np.array_equal(present, np.arange(len(present))):
        raise ValueError(f"folds must be numbered from 0 without a gap; got {present.tolist()}.")
    return where.astype(np.intp)
