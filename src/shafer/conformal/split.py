r"""Prediction sets with guaranteed coverage, from scores of held-out rows. Arrays only.

Split conformal prediction (Vovk, Gammerman & Shafer 2005; Papadopoulos et al. 2002): of n
calibration rows, take the :math:`\lceil (n + 1)(1 - \alpha) \rceil`-th smallest score of their true
classes; a new set keeps every class whose score does not exceed it. If the n + 1 rows are
exchangeable, the set holds the true class with a probability of at least :math:`1 - \alpha` and,
without ties, less than :math:`1 - \alpha + 1/(n + 1)`, for any model.

A score that exceeds the threshold by rounding alone is equal to it, and its class is kept. So a
threshold is the quantile itself, and the tolerance is in the comparison.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Annotated, Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, frozen, to_numpy
from shafer._checks.labels import group_labels, group_positions, label_array, true_classes
from shafer._files.codec import Limits, Says
from shafer._text import listed, percent
from shafer._typing import Array, FloatArray
from shafer.conformal.scores import check_score
from shafer.decision.dominance import choose_smallest
from shafer.decision.ties import tie_width

_DAMAGED = "threshold must be a number for each class or for all; got {got}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConformalSets:
    """A calibrated threshold on scores: what :func:`split_conformal` returns.

    Attributes
    ----------
    score : str
        The score the threshold is for; see :func:`conformal_scores`.
    coverage : float
        The promised coverage, 1 − α.
    threshold : float or array of shape (K,), (M, 1) or (M, K)
        A class is kept if its score is at most this, up to rounding; one for each class if
        class-conditional, and a row for each of M groups. +∞ keeps every class: there were too few
        rows to promise more.
    n_calibration : int
        The number of calibration rows.
    n_classes : int
    allow_empty : bool
    by : tuple of M labels or None
        The groups of rows, if each has thresholds of its own.
    column : str or None
        The column that they came from.

    See Also
    --------
    split_conformal : Makes one.
    CrossConformalSets : The same for cross-validated models.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision import ConformalSets
    >>> calibrated = ConformalSets("plausibility", 0.9, 0.5, n_calibration=100, n_classes=2)
    >>> calibrated.sets(np.array([[-3.0, 3.0], [0.2, -0.2]]))
    array([[ True, False],
           [ True,  True]])
    """

    score: str
    coverage: float
    threshold: Annotated[
        float | FloatArray, "K", "M 1", "M K", Limits(infinite=True), Says(_DAMAGED)
    ]
    n_calibration: int
    n_classes: Annotated[int, "K"]
    allow_empty: bool = True
    by: Annotated[tuple[Any, ...] | None, "M"] = None
    column: str | None = None

    @property
    def class_conditional(self) -> bool:
        """Whether every class has a threshold of its own."""
        return np.shape(self.threshold)[-1:] == (self.n_classes,)

    @property
    def text(self) -> str:
        """The promise in words, and for whom it holds."""
        where = ", for each class" if self.class_conditional else ""
        if self.by is not None:
            group = "each group" if self.column is None else f"each group of {self.column!r}"
            where += f", in {group}"
        sure = percent(self.coverage)
        return f"sets hold the true class with a probability of at least {sure}{where}"

    def __repr__(self) -> str:
        return f"<ConformalSets: {self.text}>"

    @property
    def plausibility_floor(self) -> float | FloatArray | None:
        r"""The plausibility a class needs to be kept; None for another score.

        The threshold t is on the log-odds of :math:`1 - pl_k`, so this is :math:`1/(1 + e^t)`,
        and 1 − this is the threshold on :math:`1 - pl_k` itself.
        """
        if self.score != "plausibility":
            return None
        return _like(self.threshold, 1.0 / (1.0 + _exp(self.threshold)))

    @property
    def discount_rate(self) -> float | FloatArray | None:
        r"""The discount of beliefs that the dominance threshold amounts to; None for another score.

        Interval dominance drops class k if some other has :math:`bel_l > pl_k`; these sets drop it
        only if :math:`(1 - a)\, bel_l > pl_k`, with :math:`1 - a = e^{-t}` for the threshold t. So
        a is the discount of beliefs that the coverage needs: 0 gives interval dominance itself,
        1 (t = +∞) keeps all classes. With a negative rate the sets are smaller than those of
        interval dominance.
        """
        if self.score != "dominance":
            return None
        return _like(self.threshold, 1.0 - _exp(np.negative(self.threshold)))

    def sets(self, scores: Array, by: Any = None) -> Array:
        r"""Keep the classes whose score is at most the threshold, boolean (n, K).

        A score that is above it by rounding alone counts as equal: by at most
        :math:`10^{-9} (1 + |t|)`, or :math:`1.2 \cdot 10^{-5} (1 + |t|)` in single precision.

        Parameters
        ----------
        scores : array of shape (n, K)
            Scores of new rows, by the same model and :func:`conformal_scores`.
        by : array of shape (n,), optional
            The group of each row, if they were given at calibration. All classes are kept in an
            unknown group.

        Returns
        -------
        boolean array of shape (n, K)
        """
        scores = checked_scores(scores, self.n_classes)
        xp = array_namespace(scores)
        # Through a list: torch warns about arrays that are not to be written to.
        limits = self._limits(by, scores.shape[0]).tolist()
        threshold = xp.asarray(limits, dtype=scores.dtype, device=scores.device)
        kept = scores <= threshold + tie_width(threshold)
        if self.allow_empty:
            return kept
        smallest = xp.min(scores, axis=-1, keepdims=True)
        return kept | choose_smallest(scores, tie_width(smallest))

    def _limits(self, by: Any, n: int) -> FloatArray:
        """Return the thresholds, of each row if there are groups."""
        limits = np.asarray(self.threshold, dtype=np.float64)
        if (by is None) != (self.by is None):
            given = "none" if by is None else "some"
            raise ValueError(
                f"by must be given if it was given at calibration, and only then; got {given}."
            )
        if self.by is None:
            return limits
        labels = label_array(by, "by")
        if labels.shape != (n,):
            raise ValueError(f"by must hold {n} labels; got shape {labels.shape}.")
        unknown = np.full((1, limits.shape[1]), np.inf)
        return np.asarray(np.concatenate([limits, unknown])[group_positions(labels, self.by)])


def split_conformal(
    scores: Any,
    y: Any,
    *,
    coverage: float = 0.9,
    score: str = "plausibility",
    class_conditional: bool = False,
    allow_empty: bool = True,
    classes: Any = None,
    by: Any = None,
    column: str | None = None,
) -> ConformalSets:
    r"""Find the threshold on scores that gives prediction sets the promised coverage.

    Parameters
    ----------
    scores : array of shape (n, K)
        Scores of rows the model was not trained on, from :func:`conformal_scores`.
    y : array of shape (n,)
        Their true classes.
    coverage : float
        The promised coverage 1 − α, in (0, 1). It holds on average over calibration sets.
    score : {"plausibility", "dominance"}
        Which score ``scores`` holds.
    class_conditional : bool
        Promise the coverage for each class by itself (Mondrian; Vovk 2012): a threshold for each,
        from its own rows. The sets become larger, more so for classes with few rows.
    allow_empty : bool
        Whether a set may be empty. If the model is right more often than ``coverage`` asks for,
        some sets are empty: all their classes fit worse than the true classes of 90 % of the
        calibration rows. Empty sets make the coverage exact and mark unusual rows. ``False``
        always keeps the class of the smallest score; the coverage can only grow.
    classes : array of shape (K,), optional
        The labels in ``y``, in the order of the columns of ``scores``. May be left out if the
        labels are the numbers 0..K−1, each of them present.
    by : array of shape (n,), optional
        The group of each row, such as a site or an age band. Promise the coverage in each group by
        itself; with ``class_conditional``, for each class in each group.
    column : str, optional
        The name of the column that ``by`` came from; it is kept in the result.

    Returns
    -------
    ConformalSets

    Warns
    -----
    UserWarning
        If there are too few rows for the coverage, :math:`n < \lceil 1/\alpha \rceil - 1`, in
        all, in a class or in a group: all classes, or this one, are then kept.

    See Also
    --------
    conformal_scores : Makes the scores.
    cross_conformal : Uses all rows for training as well.
    shafer.Explainer.conformalize : Does all of it for a model.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[-2.0, 2.0], [-1.0, 1.0], [0.5, -0.5], [1.5, -1.5]])
    >>> calibrated = split_conformal(scores, [0, 0, 0, 1], coverage=0.8)
    >>> calibrated.threshold
    0.5
    >>> calibrated.sets(np.array([[-3.0, 3.0], [0.2, -0.2]]))
    array([[ True, False],
           [ True,  True]])
    """
    check_score(score)
    level = exact_coverage(coverage)
    table = to_numpy(checked_scores(scores))
    truth, labels = true_classes(y, classes, table.shape[1], n=len(table))
    own = table[np.arange(len(table)), truth]
    n, n_classes, names = len(table), len(labels), None
    threshold: float | FloatArray
    if by is not None:
        known = labels if class_conditional else None
        threshold, names = grouped_thresholds(own, truth, by, level, known)
    elif class_conditional:
        parts = [own[truth == k] for k in range(n_classes)]
        threshold = frozen(np.array([conformal_quantile(part, level) for part in parts]))
        warn_if_too_few([len(part) for part in parts], level, labels)
    else:
        threshold = conformal_quantile(own, level)
        warn_if_too_few([n], level)
    empty = bool(allow_empty)
    return ConformalSets(score, float(level), threshold, n, n_classes, empty, names, column)


def checked_scores(scores: Any, n_classes: int | None = None) -> Array:
    """Return scores as an (n, K) array; infinite ones are allowed, NaN is not."""
    # Infinity is a legitimate score, so only NaN is looked for.
    array = float_array(scores, "scores", ndim=(2,), finite=True)
    xp = array_namespace(array)
    if bool(xp.any(xp.isnan(array))):
        raise ValueError("scores must not hold NaN; make them with conformal_scores.")
    if n_classes is not None and array.shape[1] != n_classes:
        raise ValueError(
            f"scores must have {n_classes} columns, as at calibration; got {array.shape[1]}."
        )
    return array


def _exp(x: Any) -> Any:
    with np.errstate(over="ignore"):  # far out: e^1000 is as good as infinity
        return np.exp(x)


def _like(threshold: float | FloatArray, value: Any) -> float | FloatArray:
    return value if isinstance(threshold, np.ndarray) else float(value)


# The conformal quantile: the score threshold that promises a coverage, and the rows it needs.


def conformal_quantile(scores: FloatArray, coverage: Fraction) -> float:
    r"""Return the :math:`\lceil (n + 1) c \rceil`-th smallest of n scores, +∞ if there is none.

    The rank is found in whole numbers: in floating point :math:`(n + 1) \cdot 0.9` can come out
    just above the integer that it is.
    """
    rank = math.ceil((len(scores) + 1) * coverage)
    return math.inf if rank > len(scores) else float(np.sort(scores)[rank - 1])


def exact_coverage(coverage: Any) -> Fraction:
    """Read a coverage in (0, 1) as the decimal it is written as: 0.9 is 9/10."""
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(
            f"coverage must be a number between 0 and 1, such as 0.9; got {coverage!r}."
        )
    return Fraction(str(coverage))


def rows_needed(coverage: Fraction) -> int:
    """Return the smallest number of calibration rows that can promise less than everything."""
    return math.ceil(1 / (1 - coverage)) - 1


def warn_if_too_few(
    counts: list[int], coverage: Fraction, labels: NDArray[Any] | None = None
) -> None:
    """Warn if there are too few rows, in all (one count) or of a class (one count each)."""
    needed = rows_needed(coverage)
    short = [k for k, count in enumerate(counts) if count < needed]
    if not short:
        return
    if labels is None:
        message = f"{counts[0]} calibration rows cannot promise a coverage of {float(coverage):g}: "
        message += f"every set will hold all classes. Give at least {needed} rows"
    else:
        named = ", ".join(f"{labels[k].item()!r} ({counts[k]})" for k in short[:8])
        more = f" and {len(short) - 8} more" if len(short) > 8 else ""
        message = f"Class(es) with too few calibration rows for a coverage of {float(coverage):g}: "
        message += f"{named}{more}; every set will hold them. Give at least {needed} rows of each"
    # From here to whoever called split_conformal or cross_conformal.
    warnings.warn(message + ", or lower the coverage.", UserWarning, stacklevel=3)


# Conformal quantiles of groups of rows, and of the classes in them (Mondrian).


def grouped_thresholds(
    own: FloatArray,
    truth: NDArray[np.intp],
    by: Any,
    level: Fraction,
    classes: NDArray[Any] | None,
) -> tuple[FloatArray, tuple[Any, ...]]:
    """Return a threshold for each group, (M, 1), or for each class in it, (M, K); and the groups.

    Parameters
    ----------
    own, truth : arrays of shape (n,)
        The score of each row's true class, and the class's position.
    by : array of shape (n,)
        The group of each row.
    level : Fraction
        The coverage.
    classes : array of shape (K,) or None
        The classes, if each has a threshold of its own.
    """
    found = label_array(by, "by")
    if found.shape != truth.shape:
        raise ValueError(f"by must hold {len(truth)} labels; got shape {found.shape}.")
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
