"""``AnsweredRows``: all that a service tells about rows, from one pass through the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import group_positions
from shafer._typing import BoolArray, FloatArray
from shafer.conformal.scores import class_scores
from shafer.deferral.deferring import deferred_answers
from shafer.deferral.prediction import sure_answers
from shafer.evidence.reasons import RowReasons, columns_of_reasons, row_reasons, value_text
from shafer.evidence.table import (
    columns_of_probabilities,
    label_texts,
    labels_at,
    native_frame,
    set_names,
)
from shafer.explain.row_pass import RowPass
from shafer.rows.groups import (
    KEEPS_ALL,
    Calibrated,
    grouped_rows,
    rows_of_known_groups,
    warn_of_unknown_groups,
)

if TYPE_CHECKING:
    from shafer.explain.predictor import Predictor

_BETWEEN = "; "


@final
@dataclass(frozen=True, eq=False, repr=False)
class AnsweredRows:
    """The answer about each row, what was promised, and the reasons: from ``answer``.

    Attributes
    ----------
    classes : array of shape (K,)
    positions : array of shape (n,)
        The positions of the answers among the classes: those of ``predict``, or with a promise
        about a loss those it is about.
    probability : array of shape (n, K)
        That of ``predict_proba``.
    sets : boolean array of shape (n, K), or None
        The calibrated sets of ``predict_set``; None before ``conformalize``.
    deferred : boolean array of shape (n,), or None
        Whether a person should decide, as in ``predict_or_defer``; None before ``control_error``.
    why : tuple of n strings, or None
        Why a row is deferred; empty where it is not.
    reasons : RowReasons or None
        The reasons for the answer, over the most probable other class. None if none were asked
        for, or the evidence was combined in a way that leaves no weights.
    warnings : tuple of n tuples of strings
        What to know before an answer is used: missing inputs, values that training did not have,
        rows unlike the training data, groups without a calibration.
    index : pandas index or None
        The labels of the rows.

    See Also
    --------
    shafer.Explainer : Its method ``answer`` makes one.
    shafer.scale.score : The same columns for large tables.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.linspace(-3, 3, 300)[:, None]
    >>> y = np.where(X[:, 0] > 0.2, "ill", "well")
    >>> model = shafer.LinearHead([2.0], 0.0, classes=["well", "ill"])
    >>> explainer = shafer.Explainer(model, X, names=["dose"]).conformalize(X, y, 0.9)
    >>> found = explainer.answer([[0.5], [9.0]], reasons=1)
    >>> found.to_frame("pandas")[["answer", "set", "reason_1"]]
      answer    set reason_1
    0    ill  {ill}     dose
    1    ill  {ill}     dose
    >>> found.records()[1]["warnings"]
    ['unlike the training data: its typicality is 0.000714']
    """

    classes: NDArray[Any]
    positions: NDArray[np.intp]
    probability: FloatArray
    sets: BoolArray | None
    deferred: BoolArray | None
    why: tuple[str, ...] | None
    reasons: RowReasons | None
    warnings: tuple[tuple[str, ...], ...]
    index: Any = None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def labels(self) -> NDArray[Any]:
        """The answers, (n,)."""
        return np.asarray(self.classes[self.positions])

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with the columns of :func:`shafer.scale.score`, and ``warnings``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame of n rows
        """
        columns: dict[str, Any] = {"answer": labels_at(self.positions, self.classes)}
        columns |= columns_of_probabilities(self.probability, self.classes)
        if self.sets is not None:
            columns["set"] = set_names(self.sets, self.classes)
        if self.deferred is not None and self.why is not None:
            columns |= {"deferred": self.deferred, "why": list(self.why)}
        if self.reasons is not None:
            columns |= columns_of_reasons(self.reasons, self.classes)
        columns["warnings"] = [_BETWEEN.join(texts) for texts in self.warnings]
        return native_frame(columns, self.index, backend)

    def records(self) -> list[dict[str, Any]]:
        """Return one mapping for each row, of plain values that JSON can hold.

        Returns
        -------
        list of n dicts
            ``answer``; ``probability`` by class; after ``conformalize`` ``set``, a list of
            classes; after ``control_error`` ``deferred`` and ``why``; with reasons
            ``reasons_class``, ``reasons_over`` and ``reasons``, the strongest first, each with
            ``component``, ``value``, ``log_odds``, ``share`` and ``words``; ``warnings``.
        """
        names = label_texts(self.classes)
        labels = _plain(labels_at(np.arange(len(names)), self.classes))
        answers, sets, deferred = self.positions.tolist(), self.sets, self.deferred
        found = []
        for row, probability in enumerate(self.probability.tolist()):
            one: dict[str, Any] = {"answer": labels[answers[row]]}
            one["probability"] = dict(zip(names, probability, strict=True))
            if sets is not None:
                one["set"] = [labels[k] for k in np.flatnonzero(sets[row])]
            if deferred is not None and self.why is not None:
                one["deferred"], one["why"] = bool(deferred[row]), self.why[row]
            if self.reasons is not None:
                one |= _reason_record(self.reasons, row, names)
            one["warnings"] = list(self.warnings[row])
            found.append(one)
        return found

    def __repr__(self) -> str:
        kept = [f"{len(self)} rows"]
        kept += [] if self.sets is None else [f"sets of {self.sets.sum() / max(1, len(self)):.3g}"]
        kept += [] if self.deferred is None else [f"{int(self.deferred.sum())} deferred"]
        warned = sum(map(bool, self.warnings))
        kept += [f"{warned} with a warning"] if warned else []
        return f"<AnsweredRows: {', '.join(kept)}>"


def _plain(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _reason_record(reasons: RowReasons, row: int, names: Sequence[str]) -> dict[str, Any]:
    entries = []
    for rank, component in enumerate(reasons.component[row]):
        if component is None:
            break
        entry = {
            "component": component,
            "value": value_text(reasons.value[row, rank]),
            "log_odds": float(reasons.log_odds[row, rank]),
            "share": float(reasons.share[row, rank]),
            "words": reasons.words[row, rank],
        }
        if reasons.has_errors:
            entry["lower"] = float(reasons.lower[row, rank])
            entry["upper"] = float(reasons.upper[row, rank])
        entries.append(entry)
    return {
        "reasons_class": names[reasons.classes[row]],
        "reasons_over": names[reasons.over[row]],
        "reasons": entries,
    }


def answered_rows(predictor: Predictor, X: Any, reasons: int, by: Any) -> AnsweredRows:
    """Pass rows through the model once, and return what is told about them."""
    top = checked_reasons(reasons)
    rows, of_sets, of_deferral = _grouped(predictor, X, by)
    seen = predictor.observe(rows, errors=top > 0)
    kept, classes = predictor.promises, predictor.classes
    control = kept.deferral
    loss = None if control is None else control.promise.loss
    answers = sure_answers(seen.bet, loss, predictor.policy.cutoff)
    sets = None
    if kept.cross is not None:
        sets = to_numpy(predictor.predict_set(rows))  # the models of all folds are needed
    elif kept.conformal is not None:
        sets = to_numpy(kept.conformal.sets(class_scores(seen.bet, kept.conformal.score), of_sets))
        warn_of_unknown_groups(of_sets, kept.conformal.by, "conformalize", KEEPS_ALL)
    warnings = seen.warnings()  # before deferral, which takes its typicality from here
    deferred = None
    if control is not None:
        deferred = deferred_answers(predictor, control, seen, of_deferral, answers)
    for labels, calibration in ((of_sets, kept.conformal), (of_deferral, control)):
        _warn_of_groups(warnings, labels, calibration)
    return AnsweredRows(
        classes=classes,
        positions=answers.positions,
        probability=np.asarray(to_numpy(seen.bet.betting_probability), dtype=np.float64),
        sets=sets,
        deferred=None if deferred is None else deferred.deferred,
        why=None if deferred is None else tuple(map(str, deferred.reason)),
        reasons=_reasons(seen, top),
        warnings=tuple(map(tuple, warnings)),
        index=seen.bet.index,
    )


def checked_reasons(reasons: Any) -> int:
    """Return the number of reasons; it must be a whole number of at least 0."""
    if isinstance(reasons, bool) or not isinstance(reasons, int | np.integer) or reasons < 0:
        raise ValueError(f"reasons must be a whole number of at least 0; got {reasons!r}.")
    return int(reasons)


def _grouped(
    predictor: Predictor, X: Any, by: Any
) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """Return the rows as the model takes them, and their groups for sets and for deferral."""
    kept, columns = predictor.promises, predictor.columns
    calibrations: list[Calibrated | None] = [kept.conformal, kept.deferral]
    grouped = [one is not None and one.by is not None for one in calibrations]
    if by is not None and not any(grouped):
        rows_of_known_groups(X, by, None, columns)  # raises an error
    labels, rows = [], X
    for one, has in zip(calibrations, grouped, strict=True):
        found = rows_of_known_groups(X, by if has else None, one if has else None, columns)
        labels.append(found.by)
        if found.column is not None and found.column in (frame_columns(rows) or ()):
            rows = grouped_rows(rows, found.column, columns).X
    return rows, labels[0], labels[1]


def _reasons(seen: RowPass, top: int) -> RowReasons | None:
    weighed = seen.weighed
    if not top or weighed is None:
        return None
    shown = seen.evidence.weighed
    return row_reasons(weighed, top, logits=None if shown is weighed else shown.logits)


def _warn_of_groups(
    warnings: list[list[str]], labels: NDArray[Any] | None, calibration: Calibrated | None
) -> None:
    if labels is None or calibration is None or calibration.by is None:
        return
    for row in np.flatnonzero(group_positions(labels, calibration.by) < 0).tolist():
        text = f"group {labels.tolist()[row]!r} had no row in the calibration"
        if text not in warnings[row]:
            warnings[row].append(text)
