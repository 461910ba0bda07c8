"""The two classes that the components disagree about most."""

from __future__ import annotations

import numpy as np

from shafer import kernels
from shafer._typing import FloatArray

_MOST = 64  # classes of which all pairs are compared


def disputed_classes(weights: FloatArray) -> tuple[int, int] | None:
    r"""Return the positions of the two classes in dispute, or None if there is no dispute.

    Components g and h contradict each other about the classes a and b if one supports a alone and
    the other b alone. The masses of all such contradictions add up to

    .. math:: \sum_{g \neq h} m_g(\{a\})\, m_h(\{b\}).

    The pair with the largest sum is returned, the more supported class first. It is a dispute only
    if some components favour a over b and others b over a: pairs about which all contrasts point
    the same way are passed over. With many classes, the 64 most supported are compared.

    Parameters
    ----------
    weights : array of shape (G, K)
        Weights of evidence of one instance.

    Examples
    --------
    >>> import numpy as np
    >>> disputed_classes(np.array([[1.0, 0.5, -1.5], [0.5, 1.0, -1.5]]))
    (0, 1)
    """
    alone = kernels.Pooled(weights, np.maximum(weights, 0.0), np.maximum(-weights, 0.0))
    belief = np.asarray(kernels.closed_forms(alone).belief)  # (G, K): masses of single classes
    support = belief.sum(axis=0)
    kept = np.argsort(-support, kind="stable")[:_MOST]  # the more supported class comes first
    every = np.outer(support[kept], support[kept])
    within = belief[:, kept].T @ belief[:, kept]  # a component does not contradict itself
    dispute = np.triu(every - within, k=1)
    for place in np.argsort(-dispute, axis=None, kind="stable").tolist():
        first, second = divmod(place, len(kept))
        if dispute[first, second] <= 1e-12 * every[first, second]:  # rounding
            return None
        pair = int(kept[first]), int(kept[second])
        if _both_ways(weights[:, pair[0]] - weights[:, pair[1]]):
            return pair
    return None


def _both_ways(contrast: FloatArray) -> bool:
    """Return whether some contrasts are positive and others negative, beyond rounding."""
    least = 1e-12 * float(np.max(np.abs(contrast)))
    return bool(np.min(contrast) < -least and np.max(contrast) > least)
