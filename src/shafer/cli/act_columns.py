"""The columns of decisions that ``shafer score`` writes: what to do about each row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._validation import to_numpy
from shafer.cli.table_files import read_table
from shafer.decision import PRECISE_RULES, chosen_names, read_acts
from shafer.decision.labelled_losses import ACT_COLUMN
from shafer.decision.option_checks import check_reject
from shafer.evidence import Evidence, MassEvidence


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
