"""The options of ``EvidentialVotingClassifier``: sources, choices, and numbers for each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shafer._validation import float_array, to_numpy
from shafer.fusion.mass_tables import COMBINATIONS

Entry: TypeAlias = tuple[str, Any, Any]
_LEARNT_FOR = ("dempster", "cautious")


def read_entries(estimators: Any) -> list[Entry]:
    """Return (name, estimator, columns) of each source, after checking them."""
    message = (
        "estimators must be a list of (name, estimator) or (name, estimator, columns); got "
        f"{estimators!r}."
    )
    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(message)
    entries: list[Entry] = []
    for entry in estimators:
        if not isinstance(entry, list | tuple) or len(entry) not in (2, 3):
            raise ValueError(message)
        entries.append((entry[0], entry[1], entry[2] if len(entry) == 3 else None))
    _check_names([name for name, _, _ in entries])
    for name, estimator, _ in entries:
        if not hasattr(estimator, "fit"):
            raise ValueError(
                f"The estimator of {name!r} must be a classifier; got {estimator!r}. To drop a "
                "source, remove it from the list."
            )
    return entries


def _check_names(names: list[Any]) -> None:
    if "prior" in names:
        raise ValueError(
            "An estimator must not be called 'prior', because the class prior has that name. "
            "Rename the estimator."
        )
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Names of estimators must be distinct; given more than once: {twice}.")
    odd = [name for name in names if not isinstance(name, str) or "__" in name]
    if odd:
        raise ValueError(f"Names of estimators must be strings without '__'; got {odd}.")


def check_choices(combination: str, prior: str, granularity: str, absent_if: str) -> None:
    """Raise an error for a choice that is not known."""
    for name, value, known in (
        ("combination", combination, tuple(COMBINATIONS)),
        ("prior", prior, ("once", "each")),
        ("granularity", granularity, ("sources", "components")),
        ("absent_if", absent_if, ("all", "any")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")


def given_tempering(
    tempering: Any, names: Sequence[str], combination: str
) -> NDArray[np.float64] | None:
    """Return the factors that the user gave, or None if they are to be learnt."""
    if isinstance(tempering, str):
        if tempering != "cv" or combination not in _LEARNT_FOR:
            raise ValueError(
                "tempering must be 'cv' (for combination='dempster' or 'cautious'), numbers or "
                f"None; got {tempering!r} with combination={combination!r}."
            )
        return None
    return _one_each(tempering, names, "tempering", np.inf)


def given_reliability(reliability: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the reliability of each source, 1 by default."""
    if isinstance(reliability, str):
        raise ValueError(
            f"reliability must be numbers in [0, 1] or None; got {reliability!r}. To learn a "
            "factor for each source from the data, use tempering='cv'."
        )
    return _one_each(reliability, names, "reliability", 1.0)


def _one_each(given: Any, names: Sequence[str], what: str, most: float) -> NDArray[np.float64]:
    """Return one number for each source, given in order or by name; 1 if it is not given."""
    if given is None:
        return np.ones(len(names))
    values = given
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(
                f"{what} names unknown sources {unknown}; the sources are {list(names)}."
            )
        values = [values.get(name, 1.0) for name in names]
    numbers = to_numpy(float_array(values, what)).astype(np.float64)
    if numbers.shape != (len(names),) or not ((numbers >= 0) & (numbers <= most)).all():
        allowed = "a finite number ≥ 0" if most == np.inf else "a number in [0, 1]"
        raise ValueError(
            f"{what} must hold {allowed} for each of the {len(names)} sources; got {given!r}."
        )
    return numbers
