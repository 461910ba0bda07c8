"""Probabilities that stand for a mass function when one must bet."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray
from shafer.belief._subsets import cardinalities, label_count, membership
from shafer.belief.products import split_off_conflict


def contour(masses: FloatArray) -> FloatArray:
    r"""Return the plausibility of each label, :math:`pl(\theta) = \sum_{A \ni \theta} m(A)`.

    Examples
    --------
    >>> contour(np.array([0, 0.5, 0, 0.5])).tolist()
    [1.0, 0.5]
    """
    return masses @ membership(label_count(masses))


def plausibility_transform(masses: FloatArray) -> FloatArray:
    r"""Return the normalised contour :math:`pl(\theta) / \sum_{\theta'} pl(\theta')`.

    It turns Dempster's rule into the product of probabilities (Cobb and Shenoy 2006; Denœux 2019,
    eq. plaustrans), which is why a softmax classifier can be read as pooled evidence.

    Examples
    --------
    >>> plausibility_transform(np.array([0, 0.5, 0, 0.5])).round(4).tolist()
    [0.6667, 0.3333]
    """
    values = contour(split_off_conflict(masses)[0])
    return values / np.sum(values)


def pignistic(masses: FloatArray) -> FloatArray:
    r"""Return :math:`BetP(\theta) = \sum_{A \ni \theta} m(A) / |A|` after normalisation.

    Each mass is shared equally among the labels of its set (Smets and Kennes 1994).

    Examples
    --------
    >>> pignistic(np.array([0, 0.5, 0, 0.5])).tolist()
    [0.75, 0.25]
    """
    normalised, _ = split_off_conflict(masses)
    n_labels = label_count(masses)
    return normalised / np.maximum(cardinalities(n_labels), 1) @ membership(n_labels)
