"""The list of score columns: every table of scores is made from it, whatever reads or writes it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._column import Column, ColumnKind, columns_of
from shafer._kernels.products import product
from shafer.asking.columns import ask_columns
from shafer.conformal.columns import set_column
from shafer.decision.acts import check_reject, read_acts
from shafer.decision.rules import PRECISE_RULES, chosen_names
from shafer.deferral.columns import answer_column, defer_columns
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.reasons import reason_column_kinds, reason_columns
from shafer.evidence.table import (
    mass_columns,
    mass_kinds,
    members_text,
    probability_columns,
    probability_kinds,
)
from shafer.explain.explainer import Explainer
from shafer.rows.access import take_rows
from shafer.scale.background_means import MeasuredModel
from shafer.scale.bad_rows import BadRowOptions
from shafer.scale.models import read_codes, read_loss_table
from shafer.scale.scorer import ScoredRows
from shafer.scale.tables import label_named

_REASONS = 3
_PROMISED = ("set", "deferred", "why")


@final
@dataclass(frozen=True)
class ScoreOptions:
    """What to write besides the answer and what was promised, as the user asks for it.

    Attributes
    ----------
    reasons : int, optional
        Reasons for each row; by default 3 if the model was calibrated or the next options are
        given, and none otherwise.
    class_ : str, optional
        The class that they are for, as the user wrote it; by default each row's answer.
    over : str, optional
        The class it is compared with; by default the most probable other class of each row.
    evidence : bool
        Belief, plausibility, ignorance and conflict.
    ask : bool
        What to measure, what to check, and whether the answer would stand.
    keep : tuple of strings
        Columns of the data to pass on, besides the ids.
    reject : float, optional
        The cost of not deciding.
    rule : str, optional
        How acts are chosen.
    codes : Path, optional
        The table of reason codes.
    loss : str or Path, optional
        The costs of acts: a file, or JSON.
    bad : BadRowOptions
        What to do about rows that cannot be scored.
    """

    reasons: int | None = None
    class_: str | None = None
    over: str | None = None
    evidence: bool = False
    ask: bool = False
    keep: tuple[str, ...] = ()
    reject: float | None = None
    rule: str | None = None
    codes: Path | None = None
    loss: str | Path | None = None
    bad: BadRowOptions = field(default_factory=BadRowOptions)

    def check(self) -> None:
        """Read the tables, and raise an error if options do not fit together."""
        _ = self.acts
        given = (("--class", self.class_), ("--over", self.over), ("--codes", self.codes))
        for option, value in given:
            if value is not None and self.reasons == 0:
                raise ValueError(f"{option} is about reasons, and --reasons 0 writes none.")
        if self.over is not None and self.class_ is None:
            raise ValueError("--over needs --class, the class to compare with it.")
        _ = self.known_codes

    def choices(self) -> dict[str, Any]:
        """Return the options that are not files, as plain values."""
        names = ("reasons", "class_", "over", "evidence", "ask", "keep", "reject", "rule")
        return {name.strip("_"): getattr(self, name) for name in names} | asdict(self.bad)

    def contents(self) -> dict[str, Path | None]:
        """Return the options that are files, whose content changes the scores."""
        is_file = self.loss is not None and not str(self.loss).lstrip().startswith("{")
        return {"--codes": self.codes, "--loss": Path(str(self.loss)) if is_file else None}

    @cached_property
    def known_codes(self) -> dict[str, tuple[str, str | None]] | None:
        """The code and the text of each component."""
        return None if self.codes is None else read_codes(self.codes)

    @cached_property
    def acts(self) -> ActsAsked | None:
        """How to decide; None if no costs are given."""
        if self.loss is None and self.reject is None:
            if self.rule is not None:
                raise ValueError("--rule needs --loss, the costs of the acts, or --reject.")
            return None
        loss = None
        if self.reject is not None:
            check_reject(self.reject, zero_one=self.loss is None)
        if self.loss is not None:
            loss = read_loss_table(str(self.loss))
        return ActsAsked(loss, self.rule or "expected_loss", self.reject)


@final
@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """The list of columns, and what the user should know about them.

    Attributes
    ----------
    listed : tuple of Column
    promised : str
        On the columns ``set`` and ``deferred``: what holds for them. Empty if nothing was promised.
    left_out : str
        On columns that cannot be there; empty if all are.
    """

    listed: tuple[Column, ...]
    promised: str
    left_out: str

    @classmethod
    def of(
        cls, model: MeasuredModel, options: ScoreOptions, present: Collection[str] | None
    ) -> ScoreColumns:
        """Make the list.

        Parameters
        ----------
        model : MeasuredModel
        options : ScoreOptions
        present : collection of strings or None
            The columns of the table to be scored; None for one that has what is needed.
        """
        sets, of_sets = set_column(model.predictor, present)
        defers, of_deferral = defer_columns(model.predictor, present)
        listed = [answer_column(model.predictor, model.classes)]
        listed += columns_of(_probabilities, probability_kinds(model.classes))
        listed += [] if sets is None else [sets]
        listed += defers
        if options.evidence:
            listed += _evidence(model)
        promised = [of_sets if sets else "", of_deferral if defers else ""]
        left_out = ["" if sets else of_sets, "" if defers else of_deferral]
        top = options.reasons
        about = (options.class_, options.over, options.codes)
        promises = bool(sets or defers) and isinstance(model.evidence, Explainer)
        if top is None and (promises or any(value is not None for value in about)):
            top = _REASONS
        if top:
            listed += _reasons(model, top, options)
        if options.ask:
            asked, unasked = ask_columns(model.evidence)
            listed += asked
            left_out.append(unasked)
        if options.acts is not None:
            listed += options.acts.columns(model.classes)
        return cls(tuple(listed), *(" ".join(filter(None, text)) for text in (promised, left_out)))

    def __iter__(self) -> Iterator[Column]:
        return iter(self.listed)


def _row_numbers(rows: ScoredRows) -> NDArray[np.intp]:
    numbers = np.arange(len(rows.seen.evidence)) if rows.numbers is None else rows.numbers
    return np.asarray(numbers, dtype=np.intp)


ROW = Column("row", "whole", _row_numbers)
"""The number of each row, in tables that are read from files and have no ids."""


def kept_columns(types: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return columns that are passed on, given their Arrow types; None stands for text."""
    return tuple(Column(name, "text", _Kept(name), type=own) for name, own in types.items())


@final
@dataclass(frozen=True)
class _Kept:
    name: str

    def __call__(self, rows: ScoredRows) -> Any:
        return rows.kept[self.name]


def _probabilities(rows: ScoredRows) -> dict[str, Any]:
    return probability_columns(rows.seen.bet)


def _evidence(model: MeasuredModel) -> tuple[Column, ...]:
    explainer = model.evidence
    discounts = isinstance(explainer, Explainer) and explainer.calibration.discounts
    discounts = discounts and not model.is_guarded
    kind = DiscountedEvidence if discounts else MassEvidence
    return columns_of(_masses, mass_kinds(kind, model.classes))


def _masses(rows: ScoredRows) -> dict[str, Any]:
    return mass_columns(rows.seen.evidence)


def _reasons(model: MeasuredModel, top: int, options: ScoreOptions) -> tuple[Column, ...]:
    explainer, codes = model.evidence, options.known_codes
    class_, over = (
        None if text is None else label_named(text, model.classes, option)
        for text, option in ((options.class_, "--class"), (options.over, "--over"))
    )

    def table(rows: ScoredRows) -> dict[str, Any]:
        weighted = rows.given.evidence.weighed
        answers = rows.seen.evidence.weighed.logits if model.is_guarded else None
        return reason_columns(weighted, top, class_=class_, over=over, codes=codes, logits=answers)

    bars = isinstance(explainer, Explainer) and explainer.errors is not None
    return columns_of(table, reason_column_kinds(top, errors=bars, codes=codes is not None))


# What to do about each row.


@final
@dataclass(frozen=True, eq=False)
class ActsAsked:
    """How to decide: the costs of the acts, the rule, and the cost of rejecting.

    Attributes
    ----------
    loss : data frame or None
        A row for each act, with its name in the column ``act``, and a column for each class. None
        if the acts are to name one class, and a wrong name costs 1.
    rule : str
    reject : float, optional
    """

    loss: Any
    rule: str
    reject: float | None

    def columns(self, classes: NDArray[Any]) -> tuple[Column, ...]:
        """Return the columns ``act`` and ``expected_loss``; raise an error for wrong costs.

        A rule that keeps several acts writes them as a set, and no cost.
        """
        self._of(Evidence.from_weights(np.zeros((1, 1, len(classes))), classes=classes))
        kinds: dict[str, ColumnKind] = {"act": "text"}
        if self.rule in PRECISE_RULES:
            kinds["expected_loss"] = "number"
        return columns_of(lambda rows: self._of(rows.seen.evidence), kinds)

    def _of(self, evidence: MassEvidence) -> dict[str, Any]:
        given = _of_names(evidence.classes) if self.loss is None else self.loss
        chosen = to_numpy(evidence.decide(self.rule, loss=given, reject=self.reject))
        probability = to_numpy(evidence.betting_probability).astype(np.float64)
        acts = read_acts(given, None, self.reject, probability, evidence.classes)
        assert acts is not None  # there is a loss
        columns: dict[str, Any] = {"act": [_text(row) for row in chosen_names(chosen, acts.names)]}
        if self.rule in PRECISE_RULES:
            columns["expected_loss"] = product(probability, to_numpy(acts.loss).T)[chosen]
        return columns


def _of_names(classes: NDArray[Any]) -> dict[Any, Any]:
    """Return the costs of naming each class: 1 for a wrong name."""
    return dict(zip(classes.tolist(), 1.0 - np.eye(len(classes)), strict=True))


def _text(names: tuple[Any, ...]) -> str:
    return str(names[0]) if len(names) == 1 else members_text(names)


def promised_lines(model: MeasuredModel, X: Any, frame: Any, row: int) -> list[str]:
    """Return what was promised about one row: a line for each column of ``shafer score``.

    Parameters
    ----------
    model : MeasuredModel
    X : as the model takes it
        The rows.
    frame : pandas frame
        The same rows with all columns of their table, such as one of groups.
    row : int
        The position of the row.
    """
    columns = ScoreColumns.of(model, ScoreOptions(), frame.columns)
    rows = ScoredRows(model, take_rows(X, [row]), frame.iloc[[row]])
    shown = (column for column in columns.listed if column.name in _PROMISED)
    written = [(column.name, str(column.of(rows)[0])) for column in shown]
    lines = [f"  {name:<8}  {value}" for name, value in written if value]
    return [*lines, *filter(None, (columns.promised, columns.left_out))]
