"""The errors shafer raises. All are ``ValueError``, so one ``except`` catches them."""

from __future__ import annotations


class TotalConflictError(ValueError):
    """The pieces of evidence contradict each other completely (κ = 1): no rule can pool them."""


class FrameTooLargeError(ValueError):
    """An enumeration of all 2^K subsets was asked for a frame that is too large."""


class UnsupportedModelError(ValueError):
    """The model is not a logistic or softmax of a sum of contributions, or is not known yet."""
