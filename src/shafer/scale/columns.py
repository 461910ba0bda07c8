"""The columns of evidence and reasons, and their names before there is any row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer.conformal.cross import CrossConformalSets
from shafer.conformal.scores import conformal_scores
from shafer.conformal.split import ConformalSets
from shafer.decision.acts import ACT_COLUMN, check_reject, read_acts
from shafer.decision.rules import PRECISE_RULES, chosen_names
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.reasons import reason_column_names, reason_columns
from shafer.evidence.table import evidence_columns, set_names
from shafer.explain.calibration import Calibration
from shafer.explain.explainer import Explainer
from shafer.models.read_model import ReadModel
from shafer.scale.tables import label_named, read_table


def score_columns(
    explainer: Explainer, X: Any, reasons: int, decisions: SetDecisions, groups: Any = None
) -> dict[str, Any]:
    """Return the columns of evidence, and of so many reasons. Texts are lists, numbers arrays.

    Parameters
    ----------
    explainer : Explainer
    X : as the model takes it
    reasons : int
    decisions : SetDecisions
        What the column ``decision`` holds.
    groups : array of shape (n,), optional
        The column of the groups, if ``decisions`` names one.
    """
    evidence = explainer(X)
    columns = evidence_columns(evidence) | decisions.of_rows(X, evidence, groups)
    return columns | (reason_columns(evidence.weighed, reasons) if reasons else {})


def score_column_names(explainer: Explainer, reasons: int) -> dict[str, bool]:
    """Return the names of these columns, and whether each one holds numbers rather than texts."""
    weights = np.zeros((1, 1, len(explainer.classes)))
    nothing: MassEvidence = Evidence.from_weights(weights, classes=explainer.classes)
    if _discounts(explainer.calibration):
        nothing = nothing.weighed.discounted(np.ones(1))
    numbers = {name: not isinstance(x, list) for name, x in evidence_columns(nothing).items()}
    if reasons:
        bars = explainer.errors is not None
        numbers |= reason_column_names(reasons, errors=bars, codes=False)
    return numbers


def _discounts(calibration: Any) -> bool:
    """Return whether the evidence is discounted, by the explainer or by the model inside."""
    while isinstance(calibration, Calibration):
        if calibration.moderation is not None and calibration.moderation.familiarity is not None:
            return True
        calibration = calibration.inner
    return False


# what the column ``decision`` of a table of scores holds.


@final
@dataclass(frozen=True, eq=False)
class SetDecisions:
    """The calibrated sets of a model, or the rule of ``to_frame`` where there are none.

    Attributes
    ----------
    model : Explainer or classifier of shafer, or None
        What predicts the sets; None for interval dominance.
    column : str or None
        The column that holds the groups of the calibration.
    sentence : str
        What the user should know about the column; empty without :meth:`conformalize`.
    """

    model: Any = None
    column: str | None = None
    sentence: str = ""

    @classmethod
    def of(cls, model: Any, present: Collection[str]) -> Self:
        """Choose how to decide.

        Parameters
        ----------
        model : fitted model
        present : collection of strings
            The columns of the table; the groups may be one of them.
        """
        sets = calibrated_sets(model)
        if sets is None:
            return cls()
        grouped = isinstance(sets, ConformalSets) and sets.groups is not None
        column = sets.column if isinstance(sets, ConformalSets) else None
        if grouped and (column is None or column not in present):
            where = "were given beside the rows" if column is None else f"are in column {column!r}"
            return cls(
                sentence="The column decision is interval dominance, without a guarantee: the "
                f"prediction sets were calibrated by group, the groups {where}, and the table does "
                "not have them. Call conformalize with groups= the name of a column, and keep this "
                "column in the table."
            )
        return cls(
            model,
            column if grouped else None,
            "The column decision is the prediction set of conformalize, with a coverage of "
            f"{sets.coverage:.0%}.",
        )

    def of_rows(self, X: Any, evidence: MassEvidence, groups: Any = None) -> dict[str, list[str]]:
        """Return the column, or nothing if the one of the evidence stays.

        Parameters
        ----------
        X : as the model takes it
        evidence : MassEvidence
            Of the same rows.
        groups : array of shape (n,), optional
            The column of the groups.
        """
        if self.model is None:
            return {}
        sets = calibrated_sets(self.model)
        if isinstance(self.model, Explainer) and groups is None and isinstance(evidence, Evidence):
            # The evidence is at hand, and it is not discounted: no second pass through the model.
            assert isinstance(sets, ConformalSets)
            chosen = sets.sets(conformal_scores(evidence.pooled, sets.score))
        else:
            by_name = isinstance(self.model, Explainer) or hasattr(self.model, "feature_names_in_")
            chosen = self.model.predict_set(X if by_name else np.asarray(X), groups=groups)
        return {"decision": set_names(to_numpy(chosen), evidence.classes)}


def calibrated_sets(model: Any) -> ConformalSets | CrossConformalSets | None:
    """Return the calibration that ``conformalize`` left in a model, if there is one."""
    name = "conformal" if isinstance(model, Explainer) else "conformal_"
    found = getattr(model, name, None)
    return found if isinstance(found, ConformalSets | CrossConformalSets) else None


# The columns of decisions that ``shafer score`` writes: what to do about each row.


@final
@dataclass(frozen=True)
class ActColumns:
    """How to decide: the costs of the acts, the cost of rejecting, and the rule.

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

    def check(self, classes: NDArray[Any]) -> None:
        """Raise an error if the costs do not fit the classes, before any row is read."""
        nothing = Evidence.from_weights(np.zeros((1, 1, len(classes))), classes=classes)
        self.of(nothing)

    def of(self, evidence: MassEvidence) -> dict[str, Any]:
        """Return the columns: the act, and what it is expected to cost.

        A rule that keeps several acts writes them as a set, and no cost.
        """
        given = _of_names(evidence.classes) if self.loss is None else self.loss
        chosen = to_numpy(evidence.decide(self.rule, loss=given, reject=self.reject))
        probability = to_numpy(evidence.betting_probability).astype(np.float64)
        acts = read_acts(given, None, self.reject, probability, evidence.classes)
        assert acts is not None  # there is a loss
        columns: dict[str, Any] = {"act": [_text(row) for row in chosen_names(chosen, acts.names)]}
        if self.rule in PRECISE_RULES:
            columns["expected_loss"] = (probability @ to_numpy(acts.loss).T)[chosen]
        return columns


def _of_names(classes: NDArray[Any]) -> dict[Any, Any]:
    """Return the costs of naming each class: 1 for a wrong name."""
    return dict(zip(classes.tolist(), 1.0 - np.eye(len(classes)), strict=True))


def read_act_columns(
    loss_path: Path | None, rule: str | None, reject: float | None
) -> ActColumns | None:
    """Read ``--loss``, ``--rule`` and ``--reject``; None if none of them was given."""
    if loss_path is None and reject is None:
        if rule is not None:
            raise ValueError("--rule needs --loss, the costs of the acts, or --reject.")
        return None
    loss = None
    if reject is not None:
        check_reject(reject, zero_one=loss_path is None)
    if loss_path is not None:
        loss = read_table(loss_path)
        if ACT_COLUMN not in loss.columns:
            raise ValueError(
                f"{loss_path} lacks the column act. A table of costs has a row for each act: its "
                "name in the column act, and its cost in a column for each class."
            )
    return ActColumns(loss, rule or "expected_loss", reject)


def _text(names: tuple[Any, ...]) -> str:
    return str(names[0]) if len(names) == 1 else "{" + ", ".join(map(str, names)) + "}"


# The columns of reasons that ``shafer score`` writes.


@final
@dataclass(frozen=True)
class ReasonColumns:
    """The reasons to write for each row.

    Attributes
    ----------
    top : int
        How many.
    class_text : str, optional
        The class that the reasons are for, as the user wrote it; by default each row's answer.
    codes : mapping, optional
        Component -> (code, text).
    """

    top: int
    class_text: str | None = None
    codes: Mapping[str, Any] | None = None

    def of(self, evidence: MassEvidence) -> dict[str, Any]:
        """Return the columns, as :func:`shafer.evidence.reasons.reason_columns` does."""
        weighted = evidence.weighed
        class_ = None
        if self.class_text is not None:
            class_ = label_named(self.class_text, weighted.classes, "--reasons-for")
        return reason_columns(weighted, self.top, class_=class_, codes=self.codes)


# Which columns of the data are texts: those whose categories are texts.


def text_columns(model: ReadModel, columns: Sequence[str] | None, n_columns: int) -> frozenset[int]:
    """Return the positions of the columns that the model, or its transformers, take as texts."""
    if model.encoders:
        return frozenset(_of_transformer(model.encoders[0], list(range(n_columns)), columns))
    bins = getattr(model.core, "bins_", ())  # of an ExplainableBoostingClassifier
    return frozenset(j for j, found in enumerate(bins) if isinstance(found[0], Mapping))


def selects_by_name(step: Any) -> bool:
    """Say whether a transformer picks its columns by their names."""
    parts = [part for _, part in getattr(step, "steps", ())[:1]]
    parts += [part for _, part in getattr(step, "transformer_list", ())]
    selections = [selected for _, _, selected in getattr(step, "transformers_", ())]
    return any(map(selects_by_name, parts)) or any(map(_has_names, selections))


def _has_names(selected: Any) -> bool:
    if isinstance(selected, slice):
        return isinstance(selected.start, str) or isinstance(selected.stop, str)
    return any(isinstance(one, str) for one in np.atleast_1d(np.asarray(selected, dtype=object)))


def _of_transformer(
    step: Any, given: Sequence[int], columns: Sequence[str] | None
) -> Iterator[int]:
    if step is None or isinstance(step, str):  # "passthrough", "drop"
        return
    for _, part, *_ in getattr(step, "steps", ())[:1]:
        yield from _of_transformer(part, given, columns)
    for _, part in getattr(step, "transformer_list", ()):
        yield from _of_transformer(part, given, columns)
    for _, part, selected in getattr(step, "transformers_", ()):
        yield from _of_transformer(part, _selected(selected, given, columns), columns)
    for place, known in zip(given, _known_values(step), strict=False):
        if any(isinstance(value, str) for value in known):
            yield place


def _known_values(step: Any) -> list[Sequence[Any]]:
    """Return values of each column that a transformer knows: categories, or what it fills in."""
    if hasattr(step, "categories_"):
        return list(step.categories_)
    filled = getattr(step, "statistics_", None)
    return [] if filled is None or np.ndim(filled) != 1 else [[value] for value in filled]


def _selected(selected: Any, given: Sequence[int], columns: Sequence[str] | None) -> list[int]:
    """Return the positions of columns selected by name, position, slice or mask."""
    if isinstance(selected, slice):
        if isinstance(selected.start, str) or isinstance(selected.stop, str):
            names = list(columns or ())
            start = 0 if selected.start is None else names.index(selected.start)
            stop = len(names) if selected.stop is None else names.index(selected.stop) + 1
            return list(given[start:stop])
        return list(given[selected])
    chosen = [selected] if np.ndim(selected) == 0 else list(selected)
    if chosen and isinstance(chosen[0], bool | np.bool_):
        return [place for place, kept in zip(given, chosen, strict=True) if kept]
    names = list(columns or ())
    return [given[names.index(c) if isinstance(c, str) else int(c)] for c in chosen]
