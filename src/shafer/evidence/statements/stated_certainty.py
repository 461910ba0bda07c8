r"""How sure an expert is, as a weight of evidence.

A certainty about a class, or a set of classes F, is given in one of three ways.

- *probability* q: "I am 70 % sure". The weight is the change of the log-odds from the prior
  probability :math:`\pi_F`, which is |F|/K unless the expert's prior is known,

  .. math:: w = \ln \frac{q}{1 - q} - \ln \frac{\pi_F}{1 - \pi_F}.

  Read alone, the statement then gives F the probability q if the prior is uniform. At
  :math:`q = \pi_F` there is no evidence: 50 % for one of two classes states nothing. Below it, the
  evidence is against F.
- *support* s: the mass m(F) = s, and the rest is ignorance; :math:`w = -\ln(1 - s)`.
- *weight* w itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from shafer._typing import FloatArray

SIDES = ("for", "against")
KINDS = ("weight", "support", "probability")
_PER_CENT = re.compile(r"([-+.\deE]+)\s*%(?:\s*(?:sure|certain))?")


def side_and_kind(given: Mapping[str, Any], others: Collection[str] = ()) -> tuple[str, str]:
    """Return the keys of a mapping: on which side it is, and what its certainty means."""
    sides = [key for key in SIDES if key in given]
    kinds = [key for key in KINDS if key in given]
    strange = set(given) - {*SIDES, *KINDS, *others}
    if len(sides) != 1 or len(kinds) != 1 or strange:
        optional = f", and may have a {' or '.join(map(repr, others))}" if others else ""
        raise ValueError(
            "A statement given as a mapping must have either 'for' or 'against', and either "
            f"'weight' or 'support' or 'probability'{optional}; got {dict(given)!r}."
        )
    return sides[0], kinds[0]


def log_odds_of(members: Collection[int], log_prior: FloatArray) -> float:
    """Return the prior log-odds of a set of classes, which is neither empty nor the whole frame."""
    inside = np.zeros(len(log_prior), dtype=bool)
    inside[list(members)] = True
    odds = np.logaddexp.reduce(log_prior[inside]) - np.logaddexp.reduce(log_prior[~inside])
    return float(odds)


def signed_weight(side: str, kind: str, value: Any, prior_odds: float, where: str) -> float:
    """Return the weight of a statement about a set: positive for the set, negative against it.

    Parameters
    ----------
    side : {"for", "against"}
    kind : {"weight", "support", "probability"}
    value : number or text
        A text may be a percentage, such as ``"70 %"`` or ``"70 % sure"``, unless it is a weight.
    prior_odds : float
        The log-odds of the set before the statement.
    where : str
        Where the value stands, for errors.
    """
    number = _number(value, kind)
    if math.isnan(number):
        raise ValueError(f"{kind} must be a number; got {value!r} {where}.")
    sign = 1.0 if side == "for" else -1.0
    if kind == "weight":
        return sign * _weight(number, value, where)
    if kind == "support":
        return sign * _support(number, value, where)
    return sign * _log_odds(number, value, where) - prior_odds


def _number(value: Any, kind: str) -> float:
    """Return a number, NaN for anything else."""
    if isinstance(value, bool | np.bool_):
        return math.nan
    per_cent = _PER_CENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if per_cent is not None and kind != "weight":
        return _number(per_cent[1], kind) / 100.0
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _weight(number: float, value: Any, where: str) -> float:
    if not 0.0 <= number < math.inf:
        raise ValueError(
            f"weight must be finite and ≥ 0; got {value!r} {where}. Use 'against' for "
            "evidence against a class."
        )
    return number


def _support(number: float, value: Any, where: str) -> float:
    if number == 1.0:
        raise ValueError(
            f"support must be below 1; got 1 {where}, an infinite weight. Give a "
            "support such as 0.999, which other evidence can outweigh."
        )
    if not 0.0 <= number < 1.0:
        raise ValueError(f"support must be in [0, 1); got {value!r} {where}.{_as_share(number)}")
    return -math.log1p(-number)


def _log_odds(number: float, value: Any, where: str) -> float:
    if number in (0.0, 1.0):
        raise ValueError(
            f"probability must be above 0 and below 1; got {value!r} {where}, an infinite weight. "
            "Give a probability such as 0.99 or 0.01, which other evidence can outweigh."
        )
    if not 0.0 < number < 1.0:
        raise ValueError(
            f"probability must be above 0 and below 1; got {value!r} {where}.{_as_share(number)}"
        )
    return math.log(number) - math.log1p(-number)


def _as_share(number: float) -> str:
    """Say how to write a percentage that was given as a number above 1."""
    if not 1.0 < number <= 100.0:
        return ""
    return f" Write {number:g} % as {number / 100.0:g} or as the text '{number:g} %'."
