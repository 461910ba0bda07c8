"""``BagBars``: error bars from the outer bags of an additive model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer.evidence.weight_errors import ComponentSums, TableErrors
from shafer.models.error_bars.error_bars import ErrorBars, sums_of
from shafer.models.readers.adapted_model import AdaptedModel, AdditiveModel
from shafer.models.readers.model_rows import ModelRows
from shafer.models.readers.term_bags import TermBags
from shafer.models.weighed_model import WeighedModel


@final
@dataclass(frozen=True, eq=False)
class BagBars(ErrorBars):
    """Error bars of a model that was trained on several bags: the spread of its terms over them.

    The means of the terms over the background, and the components' shares of the base rate, are
    taken as known. So the bars of a term are those that interpret shows. The base rate as a
    component of its own has the spread of the intercepts.

    Attributes
    ----------
    bags : TermBags
    sums : ComponentSums
    """

    bags: TermBags
    sums: ComponentSums

    @classmethod
    def fit(cls, weighed: WeighedModel) -> BagBars:
        """Read the bags of the model."""
        bags = read_bags(weighed.model, "the model")
        return cls(bags, sums_of(weighed, len(weighed.means), with_shares=False))

    def __call__(self, X: Any, rows: ModelRows) -> TableErrors:  # noqa: ARG002 - for refits
        lines = self.bags.lines(rows.encoded)
        n_lines = self.bags.scores.shape[1]
        base = np.full((len(lines), 1), n_lines)  # the line after all terms
        tables = np.concatenate([self.bags.scores, self.bags.intercepts[:, None, :]], axis=1)
        return TableErrors(
            np.concatenate([lines, base], axis=1),
            tables - tables.mean(axis=-1, keepdims=True),
            self.bags.shares,
            self.sums,
            np.ones(len(lines)),
        )

    def plain(self) -> dict[str, Any]:
        return {"kind": "bags"}


def read_bags(adapted: AdaptedModel, model: str) -> TermBags:
    """Return the bags of a model; ``model`` names it in an error.

    Raises
    ------
    UnsupportedModelError
        If the model has none.
    """
    if not isinstance(adapted, AdditiveModel) or adapted.bags is None:
        raise UnsupportedModelError(
            "errors='bags' needs a model that was trained on several bags, an "
            f"ExplainableBoostingClassifier; {model} is not one. Use errors='laplace' for a linear "
            "model, or errors='bootstrap' with refits=."
        )
    return adapted.bags()
