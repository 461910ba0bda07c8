"""Rows after one pass through a model, and the calibration that belongs to the model itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

from shafer._typing import Array, FloatArray


@final
@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows after one pass through a model. Everything else is computed from them.

    Attributes
    ----------
    encoded : array, data frame or sparse matrix of n rows
        The rows behind the transformers of a pipeline.
    terms : array or sparse matrix of n rows
        The features (n, J) of a linear model, or the contributions (n, G, K) of any other.
    """

    encoded: Any
    terms: Array


class OwnCalibration(ABC):
    """Factors on the weights of each row that are part of a model's own probabilities.

    A tempered or moderated ``EvidentialClassifier`` has one. An ``Explainer`` applies it, so that
    its probabilities are those of the classifier.
    """

    @property
    @abstractmethod
    def moderates(self) -> bool:
        """Whether the factors depend on the row."""

    @abstractmethod
    def factor(self, rows: ModelRows) -> float | FloatArray:
        """Return one factor on all weights, or one for each row."""

    @abstractmethod
    def reliability(self, rows: ModelRows, probability: Array) -> FloatArray | None:
        """Return the reliability of each row, given its probabilities; None without a discount."""
