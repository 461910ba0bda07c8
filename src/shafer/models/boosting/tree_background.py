"""``tree_values="background"``: boosted trees whose values compare with rows of the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

import numpy as np

from shafer._typing import Array, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.trees import ShapleyTrees, TreeBackground
from shafer.models.read_model import AdditiveModel

MOST_ROWS = 10_000
"""Of the background, which a saved explainer holds as well."""


@final
@dataclass(frozen=True)
class TreeValues:
    """What the values of trees compare a row with: the options of the user.

    Attributes
    ----------
    by_background : bool
    most_rows : int
        Of a background with more different rows, so many are taken, at even distances.
    restored : mapping or None
        The rows that a saved explainer has kept.
    """

    by_background: bool
    most_rows: int
    restored: Mapping[str, Any] | None

    @classmethod
    def read(cls, tree_values: Any, background_rows: Any, restored: Any) -> Self:
        """Check the options."""
        if tree_values not in ("path", "background"):
            raise ValueError(
                "tree_values must be 'path' (compare with the training rows in each node) or "
                f"'background' (compare with the rows of the background); got {tree_values!r}."
            )
        number = isinstance(background_rows, int | np.integer)
        if not number or isinstance(background_rows, bool) or background_rows < 1:
            raise ValueError(
                f"background_rows must be a whole number of at least 1; got {background_rows!r}."
            )
        return cls(tree_values == "background", int(background_rows), restored)

    def applied(
        self,
        model: AdditiveModel,
        trees: ShapleyTrees,
        function_of: Callable[[ShapleyTrees], Callable[[Any], Array]],
        rows_of: Callable[[Any], FloatArray | None],
    ) -> AdditiveModel:
        """Return the model with the values that were asked for.

        Parameters
        ----------
        model : AdditiveModel
            With path-dependent values.
        trees : ShapleyTrees
        function_of : callable
            Returns the function of the contributions for other trees.
        rows_of : callable
            Returns what the trees compare for rows as the model takes them; None if it cannot.
        """
        if not self.by_background:
            return model
        found = partial(_compared, trees, function_of)
        if self.restored is not None:
            return model.with_function(found(TreeBackground.read(self.restored)))
        return replace(model, against=partial(_against, found, rows_of, self.most_rows))


def _compared(
    trees: ShapleyTrees,
    function_of: Callable[[ShapleyTrees], Callable[[Any], Array]],
    background: TreeBackground,
) -> Callable[[Any], Array]:
    return function_of(trees.compared(background))


def _against(
    found: Callable[[TreeBackground], Callable[[Any], Array]],
    rows_of: Callable[[Any], FloatArray | None],
    most_rows: int,
    X: Any,
    weight: FloatArray | None,
) -> tuple[Callable[[Any], Array], dict[str, Any]]:
    """Return the contributions relative to rows of the background, and what to keep of these."""
    rows = rows_of(X)
    if rows is None:
        raise UnsupportedModelError(
            "tree_values='background' needs the background as an array of numbers or a pandas "
            f"frame with the columns of training; got {type(X).__name__}. Pass one of these, or "
            "use tree_values='path'."
        )
    background = TreeBackground.of(rows, weight, most_rows)
    return found(background), background.plain()
