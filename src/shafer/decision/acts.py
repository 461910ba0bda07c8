"""The acts one may choose and their losses, read from arrays, mappings and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._typing import Array, Label
from shafer._validation import check_overflow, float_array, to_numpy
from shafer.decision.labelled_losses import LossTable, rows_by_act, table_of_frame
from shafer.decision.option_checks import check_reject

REJECT = "reject"
"""The name of the act that a cost of rejection adds."""


@final
@dataclass(frozen=True, eq=False)
class Acts:
    """Named acts and their losses, (acts, K), in the library of the evidence.

    Attributes
    ----------
    names : tuple of labels
        The name of each act.
    loss : array of shape (acts, K)
        The loss of each act under each class.

    See Also
    --------
    read_loss : Makes acts from a loss.
    read_acts : Makes acts from a loss or a utility, with rejection.

    Examples
    --------
    >>> from shafer.decision import Acts
    >>> import numpy as np
    >>> acts = Acts(("wait", "treat"), np.array([[0.0, 5.0], [1.0, 1.0]]))
    >>> acts.names
    ('wait', 'treat')
    """

    names: tuple[Label, ...]
    loss: Array


def read_loss(value: Any, like: Array, classes: NDArray[Any], name: str = "loss") -> Acts:
    """Return acts and losses after checking them.

    Parameters
    ----------
    value : array of shape (acts, K), mapping or data frame
        Array: one row for each act, columns in the order of ``classes``. Mapping: act name -> K
        numbers in the order of ``classes``, or act name -> {class: number}. Data frame: columns
        are class labels in any order. The acts are named by a column "act", else by the index of
        a pandas frame, else by row number.
    like : array of shape (..., K)
        The result has its library, device and precision.
    classes : array of shape (K,)
        Class labels.
    name : str
        What to call the argument in errors.

    Returns
    -------
    Acts

    See Also
    --------
    read_acts : Takes a utility or a rejection as well.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision import read_loss
    >>> classes = np.array(["ill", "well"])
    >>> acts = read_loss({"wait": [5, 0], "treat": [1, 1]}, np.zeros((1, 2)), classes)
    >>> acts.names, acts.loss.tolist()
    (('wait', 'treat'), [[5.0, 0.0], [1.0, 1.0]])
    """
    read = _read(value, classes, name)
    xp = array_namespace(like)
    with np.errstate(over="ignore"):  # checked below
        there = xp.asarray(np.array(read.loss), dtype=like.dtype, device=like.device)
    check_overflow(there, f"values of {name}")
    return Acts(read.names, there)


def _read(value: Any, classes: NDArray[Any], name: str) -> LossTable:
    if isinstance(value, Mapping):
        return rows_by_act(value, classes, name)
    frame = table_of_frame(value, classes, name)
    if frame is not None:
        return frame
    table = to_numpy(float_array(value, name, ndim=(2,)))
    if table.shape[0] == 0 or table.shape[1] != len(classes):
        raise ValueError(
            f"{name} must have one row for each act and one column for each of the {len(classes)} "
            f"classes; got shape {tuple(table.shape)}."
        )
    return LossTable(tuple(range(len(table))), table)


def read_acts(
    loss: Any, utility: Any, reject: float | None, like: Array, classes: NDArray[Any]
) -> Acts | None:
    """Return the acts of a loss or a utility, with rejection as the last; None under 0-1 loss.

    Parameters
    ----------
    loss : array of shape (acts, K), mapping or data frame; or None
        As in :func:`read_loss`.
    utility : the same, or None
        Its negative is the loss. At most one of the two may be given.
    reject : float or None
        The loss of an act ``"reject"``, whatever the class. It needs a loss, not a utility.
    like : array of shape (..., K)
        The result has its library, device and precision.
    classes : array of shape (K,)
        Class labels.

    Returns
    -------
    Acts or None

    See Also
    --------
    read_loss : Reads a loss alone.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision import read_acts
    >>> loss = {"wait": {"ill": 5, "well": 0}, "treat": {"ill": 1, "well": 1}}
    >>> acts = read_acts(loss, None, 0.5, np.zeros((1, 2)), np.array(["ill", "well"]))
    >>> acts.names, acts.loss.tolist()
    (('wait', 'treat', 'reject'), [[5.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    """
    if loss is not None and utility is not None:
        raise ValueError("Give loss or utility, not both: one is minus the other.")
    if utility is not None:
        if reject is not None:
            raise ValueError(
                f"reject is a cost and needs a loss; got a utility and reject={reject!r}. Add an "
                "act with the same utility for every class instead."
            )
        acts = read_loss(utility, like, classes, "utility")
        return Acts(acts.names, -acts.loss)
    if loss is None:
        return None
    acts = read_loss(loss, like, classes)
    return acts if reject is None else _with_reject(acts, check_reject(reject, zero_one=False))


def _with_reject(acts: Acts, cost: float) -> Acts:
    if REJECT in acts.names:
        raise ValueError(
            f"loss already has an act named {REJECT!r}; got reject={cost!r} as well. Leave out one."
        )
    xp = array_namespace(acts.loss)
    constant = xp.full_like(acts.loss[:1, :], cost)
    return Acts((*acts.names, REJECT), xp.concat([acts.loss, constant], axis=0))
