"""The two classes that the components disagree about most."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray

_MOST = 12  # classes of which all pairs are compared


def disputed_classes(weights: FloatArray) -> tuple[int, int] | None:
    r"""Return the positions of the two classes in dispute, or None if there is no dispute.

    A pair of classes is in dispute if some components support the first over the second, and
    others the second over the first. With the sums :math:`c^+` and :math:`c^-` of the positive and
    the negative contrasts, the weight in dispute is :math:`\min(c^+, c^-)`. The pair with the
    largest is returned, the more supported class first.

    Parameters
    ----------
    weights : array of shape (G, K)
        Weights of evidence of one instance.

    Examples
    --------
    >>> import numpy as np
    >>> disputed_classes(np.array([[1.0, 0.5, -1.5], [1.0, -1.5, 0.5]]))
    (1, 2)
    """
    # A class in dispute has evidence for it and against it.
    both = np.minimum(np.maximum(weights, 0.0).sum(axis=0), np.maximum(-weights, 0.0).sum(axis=0))
    kept = np.sort(np.argsort(-both, kind="stable")[:_MOST])
    contrasts = weights[:, kept, None] - weights[:, None, kept]  # (G, k, k)
    support = np.maximum(contrasts, 0.0).sum(axis=0)  # of the row over the column
    dispute = np.minimum(support, support.T)
    first, second = np.unravel_index(int(np.argmax(dispute)), dispute.shape)
    if dispute[first, second] <= 0.0:
        return None
    if support[first, second] < support[second, first]:
        first, second = second, first
    return int(kept[first]), int(kept[second])
