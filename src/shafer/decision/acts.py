"""What one may do, and what it costs: losses, utilities and the cost of not deciding, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace

from shafer._typing import Array, Label
from shafer._validation import check_overflow, float_array, to_numpy
from shafer.decision.option_checks import check_reject

REJECT = "reject"
"""The name of the act that a cost of rejection adds."""


@final
@dataclass(frozen=True, eq=False)
class Acts:
    """Named acts and their losses, (acts, K), in the library of the evidence."""

    names: tuple[Label, ...]
    loss: Array


def read_loss(value: Any, like: Array, name: str = "loss") -> Acts:
    """Check a matrix (acts, K), or a mapping of act names to K numbers each.

    Parameters
    ----------
    value : array of shape (acts, K) or mapping
    like : array of shape (..., K)
        Whose library, device and precision the result takes.
    name : str
        What to call the argument in errors.
    """
    n_classes = int(like.shape[-1])
    if isinstance(value, Mapping):
        names, table = tuple(value), _rows(value, n_classes, name)
    else:
        table = float_array(value, name, ndim=(2,))
        names = tuple(range(int(table.shape[0])))
    if table.shape[0] == 0 or table.shape[1] != n_classes:
        raise ValueError(
            f"{name} must have one row for each act and one column for each of the {n_classes} "
            f"classes; got shape {tuple(table.shape)}."
        )
    xp = array_namespace(like)
    with np.errstate(over="ignore"):  # checked below
        there = xp.asarray(np.array(to_numpy(table)), dtype=like.dtype, device=like.device)
    check_overflow(there, f"values of {name}")
    return Acts(names, there)


def _rows(value: Mapping[Label, Any], n_classes: int, name: str) -> Array:
    if not value:
        raise ValueError(f"{name} must name at least one act; got an empty mapping.")
    for act, row in value.items():
        numbers = float_array(row, f"{name}[{act!r}]", ndim=(1,))
        if numbers.shape[0] != n_classes:
            raise ValueError(
                f"{name}[{act!r}] must hold one number for each of the {n_classes} classes; "
                f"got {numbers.shape[0]}."
            )
    return float_array([to_numpy(float_array(row, name)).tolist() for row in value.values()], name)


def read_acts(loss: Any, utility: Any, reject: float | None, like: Array) -> Acts | None:
    """Return the acts of a loss or a utility, with rejection as the last; None under 0-1 loss."""
    if loss is not None and utility is not None:
        raise ValueError("Give loss or utility, not both: one is minus the other.")
    if utility is not None:
        if reject is not None:
            raise ValueError(
                "reject is a cost, so it goes with a loss; to a utility, add an act of your own "
                f"with the same utility for every class; got reject={reject!r}."
            )
        acts = read_loss(utility, like, "utility")
        return Acts(acts.names, -acts.loss)
    if loss is None:
        return None
    acts = read_loss(loss, like)
    return acts if reject is None else _with_reject(acts, check_reject(reject, zero_one=False))


def _with_reject(acts: Acts, cost: float) -> Acts:
    if REJECT in acts.names:
        raise ValueError(f"loss has an act named {REJECT!r} already; leave out reject={cost!r}.")
    xp = array_namespace(acts.loss)
    constant = xp.full_like(acts.loss[:1, :], cost)
    return Acts((*acts.names, REJECT), xp.concat([acts.loss, constant], axis=0))
