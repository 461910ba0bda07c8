"""``ErrorBars``: from rows to the standard errors of their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shafer.evidence.weight_errors import ComponentSums, WeightErrors
from shafer.models.readers.model_rows import ModelRows
from shafer.models.weighed_model import WeighedModel

KINDS = ("laplace", "bags", "bootstrap")


@dataclass(frozen=True, eq=False)
class ErrorBars(ABC):
    """How an explainer finds the errors of the weights of new rows."""

    @abstractmethod
    def __call__(self, X: Any, rows: ModelRows) -> WeightErrors:
        """Return the errors of the weights of rows, before any factor on the weights.

        Parameters
        ----------
        X : as the model takes it
        rows : ModelRows
            X after one pass through the model.
        """

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """Return what a saved explainer holds: arrays and plain Python values, and the kind."""


def sums_of(weighed: WeighedModel, n_terms: int, *, with_shares: bool) -> ComponentSums:
    """Return the components of a model as sums of its terms.

    Parameters
    ----------
    weighed : WeighedModel
    n_terms : int
        The number of terms, without the base rate.
    with_shares : bool
        The parts of the base rate in the components are uncertain too.
    """
    groups: Sequence[Sequence[int]] = [[j] for j in range(n_terms)]
    if weighed.groups is not None:
        groups = list(weighed.groups.values())
    own = weighed.prior == "own"
    share = 1.0 / len(groups) if with_shares and not own else 0.0
    return ComponentSums.of_groups(groups, n_terms, share, own=own)
