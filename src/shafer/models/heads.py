"""What a family file makes of a model: a linear head, and how its features come about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

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


def as_given(X: Any) -> Any:
    """Take X for the features themselves; whoever reads them checks them."""
    return X
