"""Models given as arrays or functions: a linear head, or contributions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from shafer._typing import Array


@final
@dataclass(frozen=True, eq=False)
class LinearHead:
    """The last linear layer of a model, as arrays: logits are ``features @ coef.T + intercept``.

    Parameters
    ----------
    coef : array of shape (K, J), or (J,) or (1, J) for a binary log-odds model
    intercept : array of shape (K,), or a number for a binary model
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    names : sequence of J strings, optional
        Names of the features; x0, x1, ... by default.

    See Also
    --------
    shafer.Explainer : Explains it.
    shafer.least_commitment : The same without an explainer.
    shafer.models.Contributions : A model that is a sum of other parts.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> head = shafer.LinearHead([1.0, -2.0], 0.5, classes=["no", "yes"], names=["u", "v"])
    >>> shafer.Explainer(head, np.zeros((1, 2)))([[1.0, 0.0]]).probability.round(3)
    array([[0.182, 0.818]])
    """

    coef: Array
    intercept: Array
    classes: Any = None
    names: Iterable[Any] | None = None


@final
@dataclass(frozen=True, eq=False)
class Contributions:
    """A model given as a function: logits are ``function(X).sum(axis=1) + intercept``.

    Parameters
    ----------
    function : callable
        From rows X to the contributions of each component to each logit, (n, G, K); or (n, G) to
        the log-odds of a binary model. For the background it is called on a few rows at a time.
    intercept : array of shape (K,), or a number for a binary model, optional
        The part of the logits that is not in the contributions; zero by default.
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.

    See Also
    --------
    shafer.LinearHead : A linear model as arrays.
    from_shap : Contributions from SHAP values.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> squares = shafer.models.Contributions(lambda X: X**2, intercept=-1.0)
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> shafer.Explainer(squares, X)(X).probability.round(3)
    array([[0.5  , 0.5  ],
           [0.269, 0.731]])
    """

    function: Callable[[Any], Array]
    intercept: Array = None
    classes: Any = None
    names: Iterable[Any] | None = None
