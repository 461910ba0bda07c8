"""Columns of ``shafer score --defer``: the answer, whether a person should decide, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

if TYPE_CHECKING:
    from shafer.explain.predictor import Predictor
    from shafer.scale.models import NamedModel
    from shafer.scale.tables import Kinds


@final
class DeferColumns:
    """Makes the columns ``answer``, ``deferred`` and ``reason``, chunk by chunk."""

    def __init__(self, model: Predictor, column: str | None, promise: str) -> None:
        self._model = model
        self._column = column
        self._promise = promise

    @classmethod
    def of(cls, named: NamedModel | None) -> Self:
        """Read the promise of a model file.

        Raises
        ------
        ValueError
            If there is none, or it needs groups that are not in the table.
        """
        model = None if named is None else named.model
        promises = getattr(model, "promises", None)
        control = None if promises is None else promises.deferral
        if model is None or control is None:
            raise ValueError(
                "--defer needs a model file with a promise. Call control_error(X, y) on an "
                "Explainer or a classifier of shafer, and save it."
            )
        if control.groups is not None and control.column is None:
            raise ValueError(
                "--defer cannot be used: the promise is by group, and the groups were given beside "
                "the rows. Call control_error with groups= the name of a column."
            )
        return cls(model, control.column, control.text)

    @property
    def sentence(self) -> str:
        """The promise, for the user."""
        return f"Promise: {self._promise}."

    def kinds(self, known: Kinds, needed: Kinds, data: Path) -> Kinds:
        """Return the columns to read: those of the model, and the one of the groups."""
        if self._column is None or self._column in needed:
            return needed
        if self._column not in known:
            raise ValueError(
                f"{data} has no column {self._column!r}, which holds the groups of the promise."
            )
        return {**needed, self._column: known[self._column]}

    def __call__(self, X: Any, frame: Any) -> dict[str, Any]:
        """Return the columns about the rows of X; ``frame`` holds the groups as well."""
        groups = None if self._column is None else frame[self._column].to_numpy()
        by_name = self._model.columns is not None or not hasattr(self._model, "classes_")
        found = self._model.predict_or_defer(X if by_name else np.asarray(X), groups=groups)
        return {
            "answer": found.labels,
            "deferred": found.deferred,
            "reason": [str(word) for word in found.reason],
        }
