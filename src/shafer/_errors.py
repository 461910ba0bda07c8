"""The errors shafer raises. All are ``ValueError``, so one ``except`` catches them."""

from __future__ import annotations


class TotalConflictError(ValueError):
    """The evidence contradicts itself completely (κ = 1), so Dempster's rule is not defined."""


class FrameTooLargeError(ValueError):
    """There are too many classes to list all 2^K sets of them."""


class UnsupportedModelError(ValueError):
    """The model is not a logistic or softmax of a sum of contributions, or is not known yet."""
