"""``bootstrap_refits``: the same model trained on rows drawn again from the training data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d, indexable

from shafer._checks.arrays import row_weights
from shafer._checks.frames import in_row_order
from shafer.estimators.fitting import fit_weights

_TRIES = 1000


def bootstrap_refits(
    model: Any,
    X: Any,
    y: Any,
    n: int = 50,
    *,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> list[Any]:
    """Train copies of a scikit-learn classifier, each on as many rows drawn with replacement.

    They are the ``refits`` of ``Explainer(model, X, errors="bootstrap", refits=...)``.

    Parameters
    ----------
    model : scikit-learn classifier, trained or not
        A copy is trained, as a whole: the transformers of a pipeline too.
    X, y : the training data
    n : int
        The number of copies.
    sample_weight : array of shape (n rows,), optional
        Each drawn row keeps its weight.
    random_state : int or generator
        The seed of the draws.

    Returns
    -------
    list of n trained classifiers
        Samples that lack a class are drawn again, so all have the classes of ``y``.

    See Also
    --------
    shafer.Explainer : Takes them as ``refits=``.
    shafer.Evidence.weight_interval : The intervals that they give.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> heart = shafer.datasets.load_heart()
    >>> X, y = heart.data[:, [1, 2]], heart.target
    >>> model = LogisticRegression().fit(X, y)
    >>> refits = shafer.models.bootstrap_refits(model, X, y, n=30)
    >>> ev = shafer.Explainer(model, X, errors="bootstrap", refits=refits)(X[:1])
    >>> ev.weights_std.shape
    (1, 3, 2)
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise ValueError(f"n must be a whole number of refits ≥ 2; got {n!r}.")
    y, sample_weight = in_row_order(y, X), in_row_order(sample_weight, X, "sample_weight")
    X, y = indexable(X, y)
    labels = column_or_1d(y)
    weight = row_weights(sample_weight, len(labels))
    random = check_random_state(random_state)
    refits = []
    for _ in range(n):
        rows = _drawn(labels, random)
        copy = clone(model)
        part = None if weight is None else weight[rows]
        copy.fit(_safe_indexing(X, rows), labels[rows], **fit_weights(copy, part))
        refits.append(copy)
    return refits


def _drawn(labels: Any, random: Any) -> Any:
    """Draw as many rows as there are, until every class is among them."""
    _, codes = np.unique(labels, return_inverse=True)
    for _ in range(_TRIES):
        rows = random.randint(0, len(codes), len(codes))
        if len(np.unique(codes[rows])) == codes.max() + 1:
            return rows
    counts = np.bincount(codes)
    raise ValueError(
        f"No sample of {len(codes)} rows held every class in {_TRIES} tries: the smallest of the "
        f"{len(counts)} classes has {counts.min()} row(s). Join rare classes, or add rows."
    )
