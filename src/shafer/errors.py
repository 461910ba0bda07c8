"""The errors shafer raises. All are ``ValueError``, so one ``except`` catches them."""

from __future__ import annotations


class TotalConflictError(ValueError):
    """The evidence contradicts itself completely (κ = 1), so Dempster's rule is not defined.

    See Also
    --------
    shafer.belief.dempster : Raises it.
    shafer.combine : Raises it where sources contradict each other completely.

    Examples
    --------
    >>> import shafer
    >>> from shafer.belief import Frame, MassFunction, dempster
    >>> frame = Frame(["a", "b"])
    >>> try:
    ...     dempster(MassFunction.categorical("a", frame), MassFunction.categorical("b", frame))
    ... except shafer.TotalConflictError:
    ...     print("The sources contradict each other.")
    The sources contradict each other.
    """


class FrameTooLargeError(ValueError):
    """There are too many classes to list all 2^K sets of them.

    See Also
    --------
    shafer.MassEvidence.masses : Raises it.
    shafer.MassEvidence.mass_of : Works for any number of classes.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> try:
    ...     shafer.Evidence.from_weights(np.zeros((1, 1, 40))).masses()
    ... except shafer.FrameTooLargeError:
    ...     print("Too many classes.")
    Too many classes.
    """


class UnsupportedModelError(ValueError):
    """The model is not a logistic or softmax of a sum of contributions, or is not known yet.

    See Also
    --------
    shafer.Explainer : Raises it.
    shafer.models.Contributions : Explains any model that is a sum.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> try:
    ...     shafer.Explainer(KNeighborsClassifier(1).fit(X, [0, 0, 1, 1]), X)
    ... except shafer.UnsupportedModelError:
    ...     print("Use shafer.NeighbourEvidence instead.")
    Use shafer.NeighbourEvidence instead.
    """
