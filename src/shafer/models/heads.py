"""What a family file makes of a model: a linear head, and how its features come about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import narwhals as nw

from shafer._typing import Array


@final
@dataclass(frozen=True, eq=False)
class LinearHead:
    """A linear head given as arrays: logits are ``features @ coef.T + intercept``.

    Parameters
    ----------
    coef : array of shape (K, J), or (J,) or (1, J) for a binary log-odds model
    intercept : array of shape (K,), or a number for a binary model
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    names : sequence of J strings, optional
        Names of the features; x0, x1, ... by default.
    """

    coef: Array
    intercept: Array
    classes: Any = None
    names: Iterable[Any] | None = None


@final
@dataclass(frozen=True, eq=False)
class AdaptedModel:
    """A model as components: its head, and the function from the user's X to features φ(X).

    ``features`` checks X as the model itself would, and must be picklable.
    """

    head: LinearHead
    features: Callable[[Any], Array]


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame of any library, else None."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def numbers(X: Any) -> Any:
    """Take a data frame's values; leave anything else as it is."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else X
