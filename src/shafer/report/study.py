"""What a report is about: a model, the instances it was asked about, and what it answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import AnyEvidence
from shafer.models import Explainer
from shafer.report import instance_words
from shafer.report.table_columns import Columns, columns_of
from shafer.report.what_if import NotLinearError, WhatIf, learn

Positions: TypeAlias = NDArray[np.intp]

_AT_ONCE = 2**22  # weights (rows, G, K) held at a time


@final
@dataclass(frozen=True, eq=False)
class Study:
    """Instances, their evidence, and how the model came about.

    Attributes
    ----------
    title : str
    about : tuple of strings
        Sentences on the data, the model and how its error was measured.
    explainer : Explainer
    X : array or pandas frame of shape (n, J)
        The instances as the model takes them.
    columns : dict of name to values
        The same, as plain values.
    evidence : AnyEvidence
    truth : array of shape (n,), optional
        Positions of the true classes.
    held_out_error : float, optional
        Error on rows the model has not seen, by cross-validation.
    """

    title: str
    about: tuple[str, ...]
    explainer: Explainer
    X: Any
    columns: Columns
    evidence: AnyEvidence
    truth: Positions | None = None
    held_out_error: float | None = None

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def answers(self) -> Positions:
        """Position of the most plausible class of each instance, (n,)."""
        answers: Positions = np.argmax(to_numpy(self.evidence.logits), axis=1)
        return answers

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether the most plausible class is not the true one, (n,); False without truth."""
        if self.truth is None:
            return np.zeros(len(self), dtype=bool)
        wrong: NDArray[np.bool_] = self.answers != self.truth
        return wrong

    @property
    def decided(self) -> NDArray[np.bool_]:
        """The classes that no other dominates, (n, K)."""
        return to_numpy(self.evidence.decide("interval_dominance"))

    def title_of(self, component: str, row: int) -> str:
        """Name a component with its value in a row, such as ``age 61``, if it is an input."""
        name = instance_words.shortened(component)
        if component not in self.columns:
            return name
        return f"{name} {instance_words.shown_value(self.columns[component][row])}"

    def sentence(self, row: int) -> str:
        """Say in plain words what the evidence of a row is."""
        titles = [self.title_of(name, row) for name in self.evidence.component_names]
        return instance_words.sentence(self.evidence[row], titles)

    def mean_weights(self) -> FloatArray:
        """Return the mean of |w_gk| over the instances, (G, K), holding few weights at a time."""
        ev = self.evidence
        step = max(1, _AT_ONCE // (ev.n_components * ev.n_classes))
        total = np.zeros((ev.n_components, ev.n_classes))
        for start in range(0, len(self), step):
            total += np.abs(to_numpy(ev[start : start + step].weights)).sum(axis=0)
        return total / len(self)

    def what_if(self, rows: list[int]) -> tuple[WhatIf | None, str]:
        """Return how the inputs make the weights, or None and why the page cannot tell."""
        try:
            return learn(self.explainer, self.X, list(self.columns), rows), ""
        except NotLinearError as reason:
            return None, str(reason)


def make_study(
    explainer: Explainer,
    X: Any,
    truth: Positions | None = None,
    *,
    title: str = "Evidence report",
    about: Sequence[str] = (),
    names: Sequence[str] | None = None,
    held_out_error: float | None = None,
) -> Study:
    """Ask a model about instances.

    Parameters
    ----------
    explainer : Explainer
        The model.
    X : array or pandas frame of shape (n, J)
        The instances.
    truth : array of shape (n,), optional
        Positions of the true classes.
    title, about : str and sequence of str
        What the report says of itself.
    names : sequence of J strings, optional
        Names of the columns of an array.
    held_out_error : float, optional
        Error on rows the model has not seen.
    """
    return Study(
        title,
        tuple(about),
        explainer,
        X,
        columns_of(X, names),
        explainer(X),
        truth,
        held_out_error,
    )
