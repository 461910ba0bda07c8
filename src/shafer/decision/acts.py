"""The acts one may choose and their losses, read from arrays, mappings and data frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, TypeGuard, final

import narwhals as nw
import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import check_overflow, float_array, to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import labelled, order_by_label
from shafer._text import listed
from shafer._typing import Array, FloatArray, Label

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
    >>> from shafer.decision.acts import Acts
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
    >>> from shafer.decision.acts import read_loss
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
    >>> from shafer.decision.acts import read_acts
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


def loss_of_answers(loss: Any, classes: NDArray[Any]) -> FloatArray:
    """Return losses (K, K): rows are answers, columns true classes, both in order of classes.

    Parameters
    ----------
    loss : array of shape (K, K), mapping or data frame
        As in :func:`read_loss`. Rows of an array are in the order of the classes; otherwise each
        row is named by the label of its class.
    classes : array of shape (K,)
        Class labels.

    Returns
    -------
    array of shape (K, K)

    See Also
    --------
    read_loss : Reads acts that are no classes as well.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision.acts import loss_of_answers
    >>> loss = {"well": {"ill": 5, "well": 0}, "ill": {"ill": 0, "well": 1}}
    >>> loss_of_answers(loss, np.array(["ill", "well"]))
    array([[0., 1.],
           [5., 0.]])
    """
    acts = read_loss(loss, np.zeros((1, len(classes))), classes)
    labels, names = classes.tolist(), list(acts.names)
    numbered = names == list(range(len(labels))) and not isinstance(loss, Mapping)
    if numbered and (frame_columns(loss) is None or set(names) != set(labels)):
        order = list(range(len(labels)))  # the rows of an array, in the order of the classes
    elif len(names) == len(labels) and set(names) == set(labels):
        order = [names.index(label) for label in labels]
    else:
        raise ValueError(
            f"loss must have one row for each class, named by its label; got rows "
            f"[{listed(names)}], and the classes are [{listed(labels)}]."
        )
    table = np.asarray(acts.loss, dtype=np.float64)[order]
    if table.min() == table.max():
        raise ValueError(
            f"loss must differ between answers; got {table.min():g} everywhere. Give a table with "
            "larger losses for wrong answers."
        )
    return table


def _with_reject(acts: Acts, cost: float) -> Acts:
    if REJECT in acts.names:
        raise ValueError(
            f"loss already has an act named {REJECT!r}; got reject={cost!r} as well. Leave out one."
        )
    xp = array_namespace(acts.loss)
    constant = xp.full_like(acts.loss[:1, :], cost)
    return Acts((*acts.names, REJECT), xp.concat([acts.loss, constant], axis=0))


# Losses with labels: data frames and mappings, read by class label and never by position.

ACT_COLUMN = "act"
"""The column of a data frame that names the acts."""


class LossTable(NamedTuple):
    """Names of the acts, and their losses (acts, K) in the order of the classes."""

    names: tuple[Label, ...]
    loss: FloatArray


def table_of_frame(value: Any, classes: NDArray[Any], name: str) -> LossTable | None:
    """Read a data frame of any library by its column labels; None for anything else."""
    try:
        frame = nw.from_native(value, pass_through=True, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{name} must have each class once: {error}") from error
    if not isinstance(frame, nw.DataFrame):
        return None
    labels = list(frame.columns)
    if len(frame) == 0:
        raise ValueError(f"{name} must have a row for at least one act; got an empty data frame.")
    acts: list[Label] = list(range(len(frame)))
    if ACT_COLUMN in labels and ACT_COLUMN not in classes.tolist():
        position = labels.index(ACT_COLUMN)
        labels.pop(position)
        acts = frame[:, position].to_list()
        frame = frame[:, [k for k in range(frame.shape[1]) if k != position]]
    elif frame.implementation.is_pandas_like():
        acts = value.index.tolist()
    if len(set(acts)) < len(acts):
        raise ValueError(f"{name} must name each act once; got acts {listed(acts)}.")
    table = to_numpy(float_array(frame.to_native(), name, ndim=(2,)))
    return LossTable(tuple(acts), table[:, positions_of_classes(labels, classes, name)])


def rows_by_act(value: Mapping[Label, Any], classes: NDArray[Any], name: str) -> LossTable:
    """Read a mapping of act names to one number for each class."""
    if not value:
        raise ValueError(f"{name} must name at least one act; got an empty mapping.")
    rows = [_row(row, classes, f"{name}[{act!r}]") for act, row in value.items()]
    return LossTable(tuple(value), np.array(rows))


def _row(row: Any, classes: NDArray[Any], name: str) -> FloatArray:
    """Read the numbers of one act, by label where there are labels."""
    row = labelled(row, classes.tolist())
    if isinstance(row, Mapping):
        numbers = to_numpy(float_array(list(row.values()), name, ndim=(1,)))
        return numbers[positions_of_classes(list(row), classes, name)]
    numbers = to_numpy(float_array(row, name, ndim=(1,)))
    if len(numbers) != len(classes):
        raise ValueError(
            f"{name} must hold one number for each of the {len(classes)} classes "
            f"[{listed(classes.tolist())}]; got {len(numbers)}."
        )
    return numbers


def positions_of_classes(
    labels: Sequence[Label], classes: NDArray[Any], name: str
) -> NDArray[np.intp]:
    """Return the position of each class among the labels of a loss."""
    known = classes.tolist()
    if len(set(labels)) < len(labels):
        raise ValueError(f"{name} must have each class once; got labels [{listed(labels)}].")
    order = order_by_label(labels, known)
    if order is None:
        raise ValueError(_wrong_labels(labels, known, name))
    return np.array(order, dtype=np.intp)


def _wrong_labels(labels: Sequence[Label], known: list[Label], name: str) -> str:
    unknown = [label for label in labels if label not in known]
    missing = [label for label in known if label not in labels]
    parts = []
    if unknown:
        parts.append(f"unknown labels [{listed(unknown)}]")
    if missing:
        parts.append(f"no value for [{listed(missing)}]")
    return (
        f"{name} must have one value for each class, by label; got {' and '.join(parts)}. "
        f"The classes are [{listed(known)}]."
    )


# Which single numbers a rule accepts.


def is_number(value: object) -> TypeGuard[float]:
    """Return whether ``value`` is one finite real number, and not a truth value."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and math.isfinite(value)


def check_alpha(alpha: object) -> float:
    """Return a pessimism index as a float after checking its range."""
    if not is_number(alpha) or not 0.0 <= alpha <= 1.0:
        raise ValueError(
            f"alpha must be a number from 0 (optimistic) to 1 (pessimistic); got {alpha!r}."
        )
    return float(alpha)


def check_tolerance(tolerance: object) -> float:
    """Return a tolerance to imprecision γ as a float after checking its range."""
    if not is_number(tolerance) or not 0.5 <= tolerance <= 1.0:
        raise ValueError(
            f"tolerance must be a number from 0.5 to 1, or 'u65' or 'u80'; got {tolerance!r}."
        )
    return float(tolerance)


def check_reject(cost: object, *, zero_one: bool) -> float:
    """Return a cost of rejection as a float; under 0-1 loss it is at most one."""
    if not is_number(cost) or (zero_one and not 0.0 <= cost <= 1.0):
        wanted = "a number from 0 to 1 under 0-1 loss" if zero_one else "a finite number"
        raise ValueError(f"reject must be {wanted}; got {cost!r}.")
    return float(cost)
