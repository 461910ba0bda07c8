"""The user's panel of sources: names, estimators, columns, and how they are to be combined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from shafer._validation import float_array, to_numpy
from shafer.fusion.mass_tables import COMBINATIONS

Entry: TypeAlias = tuple[str, Any, Any]


def read_entries(estimators: Any) -> list[Entry]:
    """Return (name, estimator, columns) of each source, after checking their form."""
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
    names = [name for name, _, _ in entries]
    if "prior" in names:
        raise ValueError("no estimator may be called 'prior': that is the prior's own name.")
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"names of estimators must be distinct; given more than once: {twice}.")
    odd = [name for name in names if not isinstance(name, str) or "__" in name]
    if odd:
        raise ValueError(f"names of estimators must be strings without '__'; got {odd}.")
    for name, estimator, _ in entries:
        if not hasattr(estimator, "fit"):
            raise ValueError(
                f"the estimator of {name!r} must be a classifier; got {estimator!r}. To drop a "
                "source, leave it out of the list."
            )
    return entries


def check_choices(rule: str, prior: str, components: str, missing: str) -> None:
    """Refuse a choice that is not known."""
    for name, value, known in (
        ("rule", rule, tuple(COMBINATIONS)),
        ("prior", prior, ("once", "each")),
        ("components", components, ("sources", "all")),
        ("missing", missing, ("all", "any")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")


def read_folds(cv: Any, codes: NDArray[np.intp], random_state: int | None) -> Any:
    """Return a splitter: so many stratified folds, fewer if a class is rare, or the user's own."""
    if isinstance(cv, bool) or not (isinstance(cv, int | np.integer) or _gives_splits(cv)):
        raise ValueError(
            "cv must be a whole number of folds ≥ 2, a splitter or an iterable of splits; got "
            f"{cv!r}."
        )
    if not isinstance(cv, int | np.integer):
        splits = check_cv(cv, codes, classifier=True).split(codes, codes)
        return check_cv(list(splits))  # the same ones whenever asked
    if cv < 2:
        raise ValueError(f"cv must be a whole number of folds ≥ 2; got {cv!r}.")
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        raise ValueError(
            "reliability='cv' needs at least two rows of every class; the rarest class has "
            f"{smallest}, n_samples={len(codes)}. Give reliability=None or numbers."
        )
    return StratifiedKFold(min(int(cv), smallest), shuffle=True, random_state=random_state)


def _gives_splits(cv: Any) -> bool:
    return not isinstance(cv, str) and (hasattr(cv, "split") or isinstance(cv, Iterable))


def given_factors(reliability: Any, names: Sequence[str], rule: str) -> NDArray[np.float64] | None:
    """Return the factors the user gave, or None if they are to be learnt."""
    if reliability is None:
        return np.ones(len(names))
    if isinstance(reliability, str):
        if reliability != "cv" or rule not in ("dempster", "cautious"):
            raise ValueError(
                "reliability must be 'cv' (with rule 'dempster' or 'cautious'), numbers or None; "
                f"got {reliability!r} with rule {rule!r}."
            )
        return None
    values = reliability
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(
                f"reliability names unknown sources {unknown}; there are {list(names)}."
            )
        values = [values.get(name, 1.0) for name in names]
    factors = to_numpy(float_array(values, "reliability"))
    if factors.shape != (len(names),) or not (factors >= 0).all():
        raise ValueError(
            f"reliability must hold a finite number ≥ 0 for each of the {len(names)} sources; got "
            f"{reliability!r}."
        )
    return factors
