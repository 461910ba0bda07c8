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
from shafer.models.formula import Formula
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
        *,
        shapley: bool = True,
    ) -> AdditiveModel:
        """Return the model with the values that were asked for.

        Parameters
        ----------
        model : AdditiveModel
            With the values of ``tree_values="path"``.
        trees : ShapleyTrees
        function_of : callable
            Returns the function of the contributions for other trees.
        rows_of : callable
            Returns what the trees compare for rows as the model takes them; None if it cannot.
        shapley : bool
            Whether the values of ``model`` are Shapley values, which have interactions.
        """
        if not self.by_background:
            return replace(model, pairs=partial(_pairs, trees, rows_of)) if shapley else model
        model = replace(model, formula=_no_formula)
        if self.restored is not None:
            compared = trees.compared(TreeBackground.read(self.restored))
            pairs = partial(_pairs, compared, rows_of)
            return replace(model, pairs=pairs).with_function(function_of(compared))
        return replace(
            model, against=partial(_against, trees, function_of, rows_of, self.most_rows)
        )


def _no_formula(_: Any) -> Formula:
    raise UnsupportedModelError(
        "The values compare a row with all rows of the background (tree_values='background')."
    )


def _pairs(trees: ShapleyTrees, rows_of: Callable[[Any], FloatArray | None], X: Any) -> FloatArray:
    """Return the interactions of rows as the model takes them."""
    rows = rows_of(X)
    found = None if rows is None else trees.pairs(rows)
    if found is None:
        raise UnsupportedModelError(
            "The interactions of this model cannot be computed, because its trees, or these rows, "
            "cannot be read here: they need trees that split on numbers or on coded categories, "
            "and rows as an array of numbers or a pandas frame with the columns of training."
        )
    return found


def _against(
    trees: ShapleyTrees,
    function_of: Callable[[ShapleyTrees], Callable[[Any], Array]],
    rows_of: Callable[[Any], FloatArray | None],
    most_rows: int,
    X: Any,
    weight: FloatArray | None,
) -> tuple[Callable[[Any], Array], Callable[[Any], FloatArray], dict[str, Any]]:
    """Return contributions and pairs relative to rows of the background, and what to keep."""
    rows = rows_of(X)
    if rows is None:
        raise UnsupportedModelError(
            "tree_values='background' needs the background as an array of numbers or a pandas "
            f"frame with the columns of training; got {type(X).__name__}. Pass one of these, or "
            "use tree_values='path'."
        )
    background = TreeBackground.of(rows, weight, most_rows)
    compared = trees.compared(background)
    return function_of(compared), partial(_pairs, compared, rows_of), background.plain()
