"""Confusion matrix of prediction sets: true classes against sets."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import row_weights
from shafer._checks.labels import class_columns
from shafer._text import listed
from shafer._typing import BoolArray, FloatArray
from shafer.metrics.set_predictions import set_array, set_predictions

_Cells: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

_NORMALIZE = ("all", "true", "pred", None)


class SetCounts(NamedTuple):
    """How often each set was predicted for each true class."""

    counts: NDArray[Any]  # (K, S), rows or their weights
    sets: BoolArray  # (S, K)
    classes: NDArray[Any]  # (K,)


def set_confusion_matrix(
    y_true: Any,
    y_set: Any,
    *,
    labels: Any = None,
    sets: Any = None,
    normalize: str | None = "all",
    sample_weight: Any = None,
) -> NDArray[Any]:
    r"""Return how often each set is predicted for each true class, in per cent of all rows.

    .. math:: C_{ks} = \frac{100}{n} \sum_i 1[y_i = \theta_k, \ A_i = B_s]

    Rows are true classes, as in scikit-learn. Columns are sets. The K single classes come first, so
    that sets of one class give the ordinary confusion matrix. The other sets follow, small before
    large, an empty set last. :func:`confusion_sets` returns the sets of the columns. The tables of
    Denœux (2019, Tables 1 to 4) are the transpose; like them, the matrix sums to 100.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.
    sets : boolean array of shape (S, K), optional
        The sets of the columns; every predicted set must be among them. Pass the same sets for
        each fold to average the tables of several folds.
    normalize : {"all", "true", "pred", None}
        Per cent of all rows, of the rows of the true class, or of the rows with that set; None for
        the number of rows (or their weight). A class or set without rows has zeros.

    Returns
    -------
    array of shape (K, S)

    See Also
    --------
    confusion_sets : The sets of the columns.
    shafer.plots.SetConfusionDisplay : Draws the result.

    Examples
    --------
    >>> from shafer.metrics import confusion_sets, set_confusion_matrix
    >>> y_set = [[True, False], [True, True], [False, True], [False, True]]
    >>> y_true, labels = ["no", "yes", "yes", "no"], ["no", "yes"]
    >>> set_confusion_matrix(y_true, y_set, labels=labels)
    array([[25., 25.,  0.],
           [ 0., 25., 25.]])
    >>> confusion_sets(y_set)
    array([[ True, False],
           [False,  True],
           [ True,  True]])
    >>> set_confusion_matrix(y_true, y_set, labels=labels, normalize="true")
    array([[50., 50.,  0.],
           [ 0., 50., 50.]])
    """
    relative = normalize is not None  # sums of huge weights would overflow
    counted = count_sets(y_true, y_set, labels, sets, sample_weight, relative=relative)
    return in_per_cent(counted.counts, normalize)


def confusion_sets(y_set: Any, *, labels: Any = None) -> BoolArray:
    """Return the sets of the columns of :func:`set_confusion_matrix`.

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Prediction sets.
    labels : sequence of K labels, optional
        The classes; needed only if ``y_set`` is a data frame with its columns in another order.

    Returns
    -------
    boolean array of shape (S, K)
        The K single classes, then the other sets in ``y_set``, small before large and in the order
        of the classes, an empty set last.

    See Also
    --------
    set_confusion_matrix : The numbers in these columns.
    shafer.plots.SetConfusionDisplay : Draws them.

    Examples
    --------
    >>> from shafer.metrics import confusion_sets
    >>> confusion_sets([[1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 1]]).astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1],
           [0, 1, 1],
           [1, 1, 1]])
    """
    return _single_first(set_array(class_columns(y_set, labels, "y_set")[0]))


def count_sets(
    y_true: Any, y_set: Any, labels: Any, sets: Any, sample_weight: Any, *, relative: bool = False
) -> SetCounts:
    """Return the rows, or the sum of their weights, in each cell of the confusion matrix.

    ``relative`` divides the weights by the largest one.
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    if sets is None:
        columns = _single_first(predictions.chosen)
    else:
        columns = set_array(class_columns(sets, labels, "sets")[0], "sets")
    cells = predictions.truth, _column_of(predictions.chosen, columns, predictions.classes)
    weight = None
    if sample_weight is not None:
        n = len(predictions.chosen)
        weight = predictions.weight if relative else row_weights(sample_weight, n)
    shape = predictions.chosen.shape[1], len(columns)
    return SetCounts(_counted(shape, cells, weight), columns, predictions.classes)


def _single_first(chosen: BoolArray) -> BoolArray:
    n_classes = chosen.shape[1]
    distinct = _distinct(chosen)
    size = distinct.sum(axis=1)
    rank = np.where(size == 0, n_classes + 1, size)[size != 1]
    others = distinct[size != 1]
    # The last key counts first; within a size, sets that hold the earlier classes come first.
    order = np.lexsort((*~others.T[::-1], rank))
    return np.concatenate([np.eye(n_classes, dtype=bool), others[order]])


def _packed(sets: BoolArray) -> NDArray[np.void]:
    """Return each set as one value that can be compared: its bits, eight to a byte."""
    packed = np.ascontiguousarray(np.packbits(sets, axis=1))
    return packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]


def _distinct(chosen: BoolArray) -> BoolArray:
    first: NDArray[np.intp] = np.unique(_packed(chosen), return_index=True)[1]
    return chosen[first]


def _column_of(chosen: BoolArray, columns: BoolArray, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the column of each predicted set, (n,)."""
    n_classes = chosen.shape[1]
    if columns.shape[1] != n_classes:
        raise ValueError(
            f"sets must have one column for each of the {n_classes} classes; "
            f"got shape {columns.shape}."
        )
    keys = _packed(columns)
    known = {key.tobytes(): s for s, key in enumerate(keys)}
    if len(known) < len(keys):
        raise ValueError(
            f"sets must be distinct; got {len(keys)} of which {len(known)} are different."
        )
    decided, inverse = np.unique(_packed(chosen), return_inverse=True)
    column = np.array([known.get(key.tobytes(), -1) for key in decided], dtype=np.intp)
    if np.any(column < 0):
        missing = chosen[np.argmax(column[inverse] < 0)]
        raise ValueError(
            f"sets must hold every predicted set; {int((column < 0).sum())} are missing, such as "
            f"the set of the classes [{listed(classes[missing].tolist())}]."
        )
    return column[inverse]


def _counted(shape: tuple[int, int], cells: _Cells, weight: FloatArray | None) -> NDArray[Any]:
    table = np.zeros(shape, dtype=np.int64 if weight is None else np.float64)
    np.add.at(table, cells, 1 if weight is None else weight)
    return table


def in_per_cent(table: NDArray[Any], normalize: str | None) -> NDArray[Any]:
    """Turn counts (K, S) into per cent of the total, of each row or of each column."""
    if normalize not in _NORMALIZE:
        raise ValueError(
            f"normalize must be one of {', '.join(map(repr, _NORMALIZE))}; got {normalize!r}."
        )
    if normalize is None:
        return table
    axis = {"all": None, "true": 1, "pred": 0}[normalize]
    total = table.sum(axis=axis, keepdims=True)
    return np.asarray(100.0 * table / np.where(total > 0, total, 1.0))
