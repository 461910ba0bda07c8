"""The errors shafer raises. All are ``ValueError``, so one ``except`` catches them."""

from __future__ import annotations

from collections.abc import Sequence


class BadRowsError(ValueError):
    """Some rows cannot be passed through the model; the others may be fine.

    Not every error about rows is of this class: it is raised where the rows are known.

    Attributes
    ----------
    rows : tuple of int
        The positions of rows that would fail for this reason, in ascending order.
    reasons : tuple of str
        What is wrong with each of them: the column and the value.
    column : str or None
        The column of the first one.

    See Also
    --------
    shafer.scale.score : Leaves such rows out, or gives their reason, with ``on_error``.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
    >>> try:
    ...     explainer(np.array([[0.0, 1.0], [np.nan, 1.0]]))
    ... except shafer.BadRowsError as error:
    ...     print(error.rows, error.column, error.reasons[0])
    (1,) 0 Column 0 is missing (NaN), and a linear head cannot take NaN.
    """

    def __init__(
        self, message: str, rows: Sequence[int], reasons: Sequence[str], column: str | None
    ) -> None:
        super().__init__(message, tuple(rows), tuple(reasons), column)  # so it can be pickled
        self.rows = tuple(rows)
        self.reasons = tuple(reasons)
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


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
