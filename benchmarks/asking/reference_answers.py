"""The questions of the benchmark answered by the reference recipes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

import shafer
from asking import reference_recipes as recipe
from asking.knowledge import Knowledge, LinearGaussian


class ReferenceAnswers:
    """Answers about a logistic regression behind a scaler; X is as the model takes it."""

    def __init__(self, model: Any, X_train: Any, background: Any) -> None:
        self._scale = model[0].transform
        self._model = LinearGaussian.of(model, background)
        self._explainer = shafer.Explainer(model, X_train, missing="conditional")

    def evidence(self, X: Any) -> Any:
        """Return the library's evidence."""
        return self._explainer(X)

    def _known(self, X: Any) -> Knowledge:
        return Knowledge.of(self._model, self._scale(X))

    def information(self, X: Any) -> Any:
        """Return the information of every missing input, (n, J), −inf if it is known."""
        return recipe.information(self._known(X))

    def overturn(self, X: Any) -> Any:
        """Return the chance that the missing inputs change the decision, (n,)."""
        return recipe.overturn(self._known(X))

    def fragility(self, X: Any, q: float, fill: str) -> Any:
        """Return the chance that lost inputs change the decision, (n,)."""
        x = self._scale(X)
        parts = x if fill == "mean" else recipe.residuals(self._model, x)[0]
        return recipe.fragility(self._model.logits(x), parts[:, :, None] * self._model.beta, q)

    @staticmethod
    def of_model(model: Any, X_train: Any, X: Any, q: float) -> tuple[Any, Any]:
        """Return the evidence of any additive model, and its fragility."""
        explainer = shafer.Explainer(model, X_train)
        ev = explainer(X)
        at_background = explainer(X_train).weights.mean(axis=0)
        return ev, recipe.fragility(ev.logits, ev.weights - at_background, q)

    def cells(self, X: Any) -> tuple[Any, Any]:
        """Return the surprise and the stake of every cell, (n, J)."""
        return recipe.stakes(self._model, self._scale(X))

    def guard(self, X: Any) -> tuple[Any, Any]:
        """Return guarded probabilities and the alarm."""
        return recipe.guard(self._model, self._scale(X))[:2]

    def probability(self, X: Any) -> Any:
        """Return the model's probabilities."""
        return softmax(self._model.logits(self._scale(X)), axis=1)
