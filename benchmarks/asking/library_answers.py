"""The questions of the benchmark answered by the library."""

from __future__ import annotations

from typing import Any

import numpy as np

import shafer


class LibraryAnswers:
    """Answers about a logistic regression behind a scaler; X is as the model takes it.

    Questions are asked of an explainer as users make it. In its evidence the components are the
    inputs, as in the paper: the base rate is shared among them.
    """

    def __init__(self, model: Any, background: Any) -> None:
        self._explainer = shafer.Explainer(model, background, missing="conditional")
        self._as_in_the_paper = shafer.Explainer(
            model, background, missing="conditional", prior="shared"
        )
        self._place = {name: j for j, name in enumerate(self._as_in_the_paper.component_names)}

    def evidence(self, X: Any) -> Any:
        """Return the evidence of X."""
        return self._as_in_the_paper(X)

    def best_input(self, X: Any) -> tuple[Any, Any]:
        """Return the missing input with the most information, and that, −inf if none is missing."""
        table = self._explainer.ask.next_inputs(X, top=1)
        best, nats = np.zeros(len(X), dtype=int), np.full(len(X), -np.inf)
        best[table["row"]] = [self._place[name] for name in table["input"]]
        nats[table["row"]] = table["information"]
        return best, nats

    def plan(self, X: Any, budget: int) -> Any:
        """Return rows and inputs to measure, in order, decided before anything is measured."""
        table = self._explainer.ask.next_measurements(X, budget=budget)
        return table["row"].to_numpy(), np.array([self._place[name] for name in table["input"]])

    def overturn(self, X: Any) -> Any:
        """Return the chance that the missing inputs change the decision, (n,)."""
        return self._explainer.ask.overturn(X)

    def fragility(self, X: Any, q: float, fill: str) -> Any:
        """Return the chance that lost inputs change the decision, (n,)."""
        return self._explainer.ask.fragility(X, q, fill=fill)

    @staticmethod
    def of_model(model: Any, background: Any, X: Any, q: float) -> tuple[Any, Any]:
        """Return the evidence of any additive model, and its fragility."""
        fragility = shafer.Explainer(model, background)(X).fragility(q)
        return shafer.Explainer(model, background, prior="shared")(X), fragility

    def cells(self, X: Any) -> tuple[Any, Any]:
        """Return the surprise and the stake of every cell, (n, J)."""
        table = self._explainer.ask.check_cells(X, top=None, order="stake")
        where = table["row"], [self._place[name] for name in table["input"]]
        surprise, stake = np.zeros(X.shape), np.zeros(X.shape)
        surprise[where], stake[where] = table["surprise"], table["stake"]
        return surprise, stake

    def guard(self, X: Any) -> tuple[Any, Any]:
        """Return guarded probabilities and the alarm."""
        guarded = self._explainer.ask.guard(X)
        return guarded.probability, guarded.alarm
