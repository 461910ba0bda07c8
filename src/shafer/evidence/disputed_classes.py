"""The two classes that the components disagree about most."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from shafer._typing import FloatArray

_MOST = 64  # classes of which all pairs are compared
_ROUNDING = 1e-12


def disputed_classes(weights: FloatArray) -> tuple[int, int] | None:
    r"""Return the positions of the two classes in dispute, or None if there is no dispute.

    Components dispute about the classes a and b if some favour a over b, and others b over a: then
    the bars of "a rather than b" point both ways. With the sums :math:`c^+` and :math:`c^-` of the
    positive and the negative contrasts of the two classes, :math:`\min(c^+, c^-)` is the weight
    that cancels. The pair with the largest is returned, the more supported class first. None means
    that all components put the classes in the same order, up to ties. With many classes, the 64
    most probable are compared.

    Parameters
    ----------
    weights : array of shape (G, K)
        Weights of evidence of one instance.

    Examples
    --------
    >>> import numpy as np
    >>> disputed_classes(np.array([[1.0, 0.5, -1.5], [1.0, -1.5, 0.6]]))
    (2, 1)
    """
    logits = weights.sum(axis=0)
    kept = np.sort(np.argsort(-logits, kind="stable")[:_MOST]).tolist()
    least = _ROUNDING * float(np.max(np.abs(weights), initial=0.0))
    most, pair = 0.0, None
    for a, b in combinations(kept, 2):
        contrast = weights[:, a] - weights[:, b]
        favour_a = float(np.maximum(contrast, 0.0).sum())
        favour_b = float(np.maximum(-contrast, 0.0).sum())
        cancelled = min(favour_a, favour_b)
        if cancelled > max(most, least):
            most, pair = cancelled, (b, a) if favour_b > favour_a else (a, b)
    return pair
