r"""Points of a scorecard: weights of evidence on the scale that credit scoring uses.

The score grows with the log-odds of a favourable class:
:math:`score = points + \frac{pdo}{\ln 2} (\ln o - \ln odds)`, where o are the odds of the class.
So a row with the odds ``odds`` has ``points``, and ``pdo`` more points double the odds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.labels import one_position
from shafer._text import listed
from shafer._typing import Array, Label


@final
@dataclass(frozen=True)
class PointScale:
    """The scale of a scorecard.

    Parameters
    ----------
    points, odds : float
        A row with these odds of the favourable class has these points.
    pdo : float
        Points that double the odds.
    """

    points: float = 600.0
    odds: float = 50.0
    pdo: float = 20.0

    def __post_init__(self) -> None:
        for name, lowest in (("points", -math.inf), ("odds", 0.0), ("pdo", 0.0)):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value <= lowest:
                wanted = "a finite number" if lowest else "a finite number above 0"
                raise ValueError(f"{name} must be {wanted}; got {value!r}.")

    @property
    def factor(self) -> float:
        """Points for a weight of evidence of 1."""
        return self.pdo / math.log(2.0)

    @property
    def offset(self) -> float:
        """The score of a row with odds of 1."""
        return self.points - self.factor * math.log(self.odds)

    def shares(self, n_components: int, base_rate: int | None) -> list[float]:
        """Return the part of the offset that each component has.

        The base rate, where it is a component of its own, has all of it; otherwise all components
        share it equally.
        """
        if base_rate is not None:
            return [self.offset if g == base_rate else 0.0 for g in range(n_components)]
        return [self.offset / n_components] * n_components

    def of_weights(self, weights: Array, n_components: int, base_rate: int | None) -> Array:
        """Return the points of weights (n, G) or (n, G, K), given the place of the base rate."""
        xp = array_namespace(weights)
        given = self.shares(n_components, base_rate)
        shares = xp.asarray(given, dtype=weights.dtype, device=weights.device)
        return self.factor * weights + (shares if weights.ndim == 2 else shares[:, None])


def scored_weights(weights: Array, classes: NDArray[Any], class_: Label | None) -> Array:
    """Return the weights that points are made of, from weights (..., K).

    For two classes: those for ``class_`` over the other class, (...). For more: those of one
    class, (...), or of every class, (..., K).
    """
    if class_ is None and len(classes) > 2:
        return weights
    k = _favourable(classes) if class_ is None else one_position(class_, classes)
    return weights[..., k] - weights[..., 1 - k] if len(classes) == 2 else weights[..., k]


def _favourable(classes: NDArray[Any]) -> int:
    """Return the position of the smaller of two numeric labels: 1 is the event, such as default.

    The names of classes do not tell which one is favourable.
    """
    labels = classes.tolist()
    if all(isinstance(label, bool | int | float) for label in labels):
        return int(labels.index(min(labels)))
    raise ValueError(
        "class_ is needed for two classes with names: points grow with the odds of one of them, "
        f"and the classes are [{listed(labels)}]. Pass the favourable one, such as "
        f"class_={labels[0]!r}."
    )
