"""``DeferralControl``: thresholds that keep a promise, for all rows or for each group."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from shafer._checks.labels import group_labels, group_positions
from shafer._files.codec import Limits, OneOf, Says, read, written
from shafer._text import listed, percent
from shafer._typing import BoolArray, FloatArray
from shafer.decision.ties import exceeds
from shafer.deferral.promise import KINDS, Promise
from shafer.deferral.reasons import MEASURES, NO_PROMISE, SMALL_GROUP, UNKNOWN_GROUP, ReasonScale
from shafer.deferral.search import SelectiveThreshold
from shafer.evidence.table import native_frame

if TYPE_CHECKING:
    from shafer.deferral.prediction import SureAnswers

_UNKNOWN = f"the promise of the deferral must be one of {KINDS}; got {{got}}."
_TOO_FEW = "the deferral must have {G} threshold(s), one for each group."
_NOT_SORTED = "the measures of the deferral must hold one number for each row."


@final
@dataclass(frozen=True, eq=False, repr=False)
class DeferralControl:
    """What :meth:`shafer.Explainer.control_error` has found.

    Attributes
    ----------
    promise : Promise
        ``promise.text`` is the promise in words.
    found : tuple of SelectiveThreshold
        One for all rows, or one for each group: the threshold on the score, and the error of the
        decided calibration rows with its upper bound.
    by : tuple of labels or None
        The groups of rows, if each has a threshold of its own.
    column : str or None
        The column that they came from.
    scale : ReasonScale

    See Also
    --------
    shafer.Explainer.control_error : Makes one.
    DeferringPrediction : Answers under its promise.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.linspace(-3, 3, 300)[:, None]
    >>> y = (X[:, 0] > 0.2).astype(int)
    >>> explainer = shafer.Explainer(([2.0], 0.0), X).control_error(X, y, error=0.1)
    >>> explainer.deferral.promise.text
    'at most 10 % of the decided rows are wrong, with 90 % confidence'
    """

    promise: Promise
    found: tuple[SelectiveThreshold, ...]
    by: tuple[Any, ...] | None
    column: str | None
    scale: ReasonScale

    @property
    def threshold(self) -> float | dict[Any, float]:
        """The largest probability that a row must exceed to be decided; by group, a mapping.

        +∞ decides nothing, 0 everything. For a mean loss it is the expected loss that a row must
        stay below, and −∞ decides nothing.
        """
        values = [self._shown(part.threshold) for part in self.found]
        return values[0] if self.by is None else dict(zip(self.by, values, strict=True))

    def _shown(self, threshold: float) -> float:
        if self.promise.kind == "mean_loss":
            return -threshold
        return threshold if threshold == math.inf else float(expit(threshold))

    @property
    def too_small(self) -> tuple[Any, ...]:
        """The groups with too few rows to promise anything; (None,) if all rows are too few."""
        names = (None,) if self.by is None else self.by
        needed = self.promise.rows_needed
        return tuple(
            name
            for name, part in zip(names, self.found, strict=True)
            if part.n_calibration < needed
        )

    def places(self, by: NDArray[Any] | None, n: int) -> NDArray[np.intp]:
        """Return which threshold each of n rows has, −1 in an unknown group.

        Parameters
        ----------
        by : array of shape (n,) or None
            The group of each row.
        n : int
            The number of rows.

        Returns
        -------
        integer array of shape (n,)
        """
        if by is None or self.by is None:
            return np.zeros(n, dtype=np.intp)
        return group_positions(by, self.by)

    def thresholds(self, places: NDArray[np.intp]) -> FloatArray:
        """Return the threshold of each row; +∞ in an unknown group.

        Parameters
        ----------
        places : integer array of shape (n,)
            From :meth:`places`.

        Returns
        -------
        array of shape (n,)
        """
        # The last one is at position −1: that of unknown groups.
        limits = np.array([*(part.threshold for part in self.found), math.inf])
        return np.asarray(limits[places])

    def deferred(self, scores: FloatArray, limits: FloatArray) -> BoolArray:
        """Return which rows are deferred: their scores are not above their thresholds.

        A score that is above its threshold by rounding alone is not. The tolerance is half of
        :math:`10^{-9} (1 + |t|)`, or :math:`10^{-9} (L + |t|)` for losses up to L.

        Parameters
        ----------
        scores, limits : arrays of shape (n,)
            The thresholds are from :meth:`thresholds`.

        Returns
        -------
        boolean array of shape (n,)
        """
        return np.asarray(~exceeds(scores, limits, self.promise.unit))

    def group_reasons(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Return why a row is deferred whatever its evidence; empty where it is not.

        Parameters
        ----------
        places : integer array of shape (n,)
            From :meth:`places`.

        Returns
        -------
        array of n texts
        """
        small = set(self.too_small)
        names = (None,) if self.by is None else self.by
        words = []
        for name, part in zip(names, self.found, strict=True):
            unreachable = SMALL_GROUP if name in small and self.by else NO_PROMISE
            words.append(unreachable if part.decides_nothing else "")
        return np.array([*words, UNKNOWN_GROUP], dtype=object)[places]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with one row for each group.

        Columns: ``group`` (if there are groups), ``rows``, ``decided``, ``risk``, ``upper_bound``
        and ``threshold``. For a false negative rate, only rows of the class are counted.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame
        """
        columns: dict[str, Any] = {} if self.by is None else {"group": list(self.by)}
        columns["rows"] = [part.n_calibration for part in self.found]
        columns["decided"] = [part.n_decided for part in self.found]
        columns["risk"] = [self.promise.unscaled(part.risk) for part in self.found]
        columns["upper_bound"] = [self.promise.unscaled(part.upper_bound) for part in self.found]
        columns["threshold"] = [self._shown(part.threshold) for part in self.found]
        return native_frame(columns, None, backend)

    @property
    def error_bound(self) -> float | dict[Any, float] | None:
        """The upper bound of the error of decided rows; by group, a mapping.

        It is that of the promise: the level of :meth:`shafer.Explainer.control_error`, or what
        :meth:`shafer.Explainer.control_budget` found for its share. None if the promise is about
        misses or losses. 1 where no row is decided.
        """
        if self.promise.kind not in ("error", "budget"):
            return None
        bounds = [
            part.upper_bound if self.promise.kind == "budget" else self.promise.level
            for part in self.found
        ]
        return bounds[0] if self.by is None else dict(zip(self.by, bounds, strict=True))

    @property
    def text(self) -> str:
        """The promise in words, and for whom it holds."""
        if self.promise.kind == "budget":
            return self._budget_text
        if self.by is None:
            return self.promise.text
        where = "each group" if self.column is None else f"each group of {self.column!r}"
        return f"{self.promise.text}, in {where}"

    @property
    def _budget_text(self) -> str:
        """What is handed on, and the bound for the rest."""
        sure = f"with {percent(self.promise.confidence)} confidence"
        bounds = [f"{100.0 * part.upper_bound:.3g} %" for part in self.found]
        if self.by is None:
            return f"{self.promise.text}; at most {bounds[0]} of the decided rows are wrong, {sure}"
        each = listed([f"{b} of {g!r}" for g, b in zip(self.by, bounds, strict=True)], written=str)
        where = "each group" if self.column is None else f"each group of {self.column!r}"
        return (
            f"{self.promise.text}, in {where}; of the decided rows are wrong at most {each}, {sure}"
        )

    def __repr__(self) -> str:
        return f"<DeferralControl: {self.text}>"


def found_thresholds(
    promise: Promise,
    answers: SureAnswers,
    truth: NDArray[np.intp],
    classes: NDArray[Any],
    by: NDArray[Any] | None,
) -> tuple[tuple[SelectiveThreshold, ...], tuple[Any, ...] | None]:
    """Return the threshold of all rows or of each group, and the groups."""
    names = None if by is None else tuple(group_labels(by))
    places = (
        np.zeros(len(truth), dtype=np.intp)
        if by is None or names is None
        else group_positions(by, names)
    )
    found = []
    for place in range(1 if names is None else len(names)):
        own = places == place
        part = promise.threshold(answers.scores[own], answers.positions[own], truth[own], classes)
        found.append(part)
    return tuple(found), names


def warn_if_unreachable(control: DeferralControl) -> None:
    """Warn where nothing is decided: too few rows, or too many errors."""
    idle = [k for k, part in enumerate(control.found) if part.decides_nothing]
    if not idle:
        return
    if control.promise.kind == "budget":
        message = (
            f"All rows are handed on{_named(control, idle)}: the share leaves no row, or their "
            "probabilities tie. Hand on a smaller share, or give more rows."
        )
        warnings.warn(message, UserWarning, stacklevel=4)
        return
    needed = control.promise.rows_needed
    short = [k for k in idle if control.found[k].n_calibration < needed]
    failed = [k for k in idle if k not in short]
    of_class = "" if control.promise.class_ is None else f" of class {control.promise.class_!r}"
    messages = []
    if short:
        messages.append(
            f"Too few calibration rows{of_class} to promise anything{_named(control, short)}: at "
            f"least {needed} rows{of_class} without an error are needed."
        )
    if failed:
        messages.append(
            f"No threshold keeps the promise{_named(control, failed)}: even the surest answers "
            "are wrong too often for it."
        )
    advice = "Every such row will be deferred. Give more rows, or promise less."
    message = " ".join([*messages, advice])
    # From here through both functions control_error to whoever called the method.
    warnings.warn(message, UserWarning, stacklevel=4)


def _named(control: DeferralControl, places: list[int]) -> str:
    if control.by is None:
        return f" ({control.found[0].n_calibration} rows)"
    shown = [f"{control.by[k]!r} ({control.found[k].n_calibration} rows)" for k in places]
    return f" in group(s) {listed(shown, written=str)}"


# What is saved: arrays and plain Python values.


@final
@dataclass(frozen=True, eq=False)
class _StoredDeferral:
    """The promise, the groups g, and what was found for each of them."""

    kind: Annotated[str, OneOf(*KINDS), Says(_UNKNOWN)]
    level: float
    confidence: float
    class_: Any
    loss: Annotated[FloatArray | None, "K K", Says("loss must have {K} rows and columns.")]
    by: tuple[Any, ...] | None
    column: str | None
    threshold: Annotated[FloatArray, "G", Limits(infinite=True), Says(_TOO_FEW)]
    n_calibration: Annotated[NDArray[np.integer[Any]], "G", Says(_TOO_FEW)]
    n_decided: Annotated[NDArray[np.integer[Any]], "G", Says(_TOO_FEW)]
    risk: Annotated[FloatArray, "G", Limits(nan=True), Says(_TOO_FEW)]
    upper_bound: Annotated[FloatArray, "G", Limits(nan=True), Says(_TOO_FEW)]
    scale: Annotated[dict[str, Annotated[FloatArray, "n"]], Says(_NOT_SORTED)]


_FORMER = {"groups": "by"}  # names in files that earlier versions wrote
_PARTS = ("threshold", "n_calibration", "n_decided", "risk", "upper_bound")


def deferral_state(control: DeferralControl | None) -> dict[str, Any] | None:
    """Return the thresholds as a dictionary of arrays and plain Python values."""
    if control is None:
        return None
    promise, found = control.promise, control.found
    parts: dict[str, Any] = {
        name: np.array([getattr(part, name) for part in found]) for name in _PARTS
    }
    state: dict[str, Any] = written(
        _StoredDeferral(
            **written(promise),
            by=control.by,
            column=control.column,
            **parts,
            scale=dict(control.scale.sorted_measures),
        )
    )
    return state


def restored_deferral(given: Mapping[str, Any], n_classes: int) -> DeferralControl:
    """Check a dictionary that :func:`deferral_state` gave, and return its thresholds."""
    given = {_FORMER.get(name, name): part for name, part in given.items()}
    by = given["by"]
    sizes = {"K": n_classes, "G": 1 if by is None else len(by)}
    state = read(_StoredDeferral, given, sizes)
    if (state.kind == "mean_loss") != (state.loss is not None):
        raise ValueError(_UNKNOWN.format(got=repr(state.kind)))
    if not set(state.scale) <= set(MEASURES):
        raise ValueError(f"the deferral must measure {tuple(MEASURES)}; got {tuple(state.scale)}.")
    if not all(map(len, state.scale.values())):
        raise ValueError(_NOT_SORTED)
    promise = Promise(state.kind, state.level, state.confidence, state.class_, state.loss)
    columns = [getattr(state, name).tolist() for name in _PARTS]
    found = tuple(SelectiveThreshold(*part) for part in zip(*columns, strict=True))
    scale = ReasonScale({name: state.scale[name] for name in MEASURES if name in state.scale})
    return DeferralControl(promise, found, state.by, state.column, scale)
