"""``scorecard``: a model as a table of points, one row for each bin of each component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Label
from shafer.evidence.evidence import Evidence
from shafer.evidence.points import PointScale, scored_weights
from shafer.evidence.table import native_frame
from shafer.explain.explainer import Explainer
from shafer.rows.columns import in_order
from shafer.scorecards.bins import FiniteComponent, finite_components


def scorecard(
    explainer: Explainer,
    points: float = 600.0,
    odds: float = 50.0,
    pdo: float = 20.0,
    class_: Label | None = None,
    *,
    backend: str | None = "pandas",
) -> Any:
    """Return a model as a scorecard: a data frame of the points of each component and bin.

    A row of data has one bin of each component; its points add up to the score, as in
    :meth:`shafer.Evidence.points`. The components must have finitely many values: bins of
    optbinning or ``KBinsDiscretizer``, categories, indicators, terms of an EBM. See
    ``docs/guide/scorecards.md``.

    Parameters
    ----------
    explainer : Explainer
        With the background at hand, and without ``moderate=``.
    points, odds, pdo, class_
        As in :meth:`shafer.Evidence.points`: two classes with names need the favourable one.
    backend : {"pandas", "polars", "pyarrow"}, optional
        By default pandas; None takes the library in use.

    Returns
    -------
    data frame
        Columns ``component``, ``bin``, ``log_odds`` (of ``class_`` over the other class) and
        ``points``. With three or more classes ``class``, and ``weight`` in place of ``log_odds``.

    See Also
    --------
    shafer.Evidence.points : The points of rows.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> X, y = shafer.datasets.load_german_credit(return_X_y=True)
    >>> X = X[["housing", "telephone"]]
    >>> model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    >>> explainer = shafer.Explainer(model, X, groups="source", prior="own")
    >>> shafer.scorecards.scorecard(explainer, class_="good").round(1)
       component        bin  log_odds  points
    0    housing       free      -0.5   -14.7
    1    housing        own       0.2     5.2
    2    housing       rent      -0.4   -11.7
    3  telephone       none      -0.1    -2.3
    4  telephone        yes       0.1     3.3
    5  base rate  every row       0.9   512.0
    """
    if explainer.background is None:
        raise ValueError(
            "scorecard needs the background, but this explainer did not keep it: it was made "
            "from an iterator, or read from a file. Make a new Explainer with the rows at hand."
        )

    def of_bins(X: Any) -> Evidence:
        seen = explainer.observe(X)
        if not isinstance(seen.factor, float):
            raise ValueError(
                "scorecard needs weights that depend on one component each; with moderate= they "
                "depend on the whole row. Make an Explainer without moderate=."
            )
        return seen.even

    background = in_order(explainer.background, explainer.columns)
    components = finite_components(explainer.weighed_model, of_bins, background)
    base = len(components) - 1 if explainer.pool.base_rate is not None else None
    return points_table(
        components, PointScale(points, odds, pdo), explainer.classes, class_, backend, base
    )


# The table of a scorecard as a data frame: one row for each bin of each component.


def points_table(
    components: Mapping[str, FiniteComponent],
    scale: PointScale,
    classes: NDArray[Any],
    class_: Label | None,
    backend: str | None,
    base_rate: int | None,
) -> Any:
    """Return a data frame of weights and points; for three or more classes with their class."""
    names = list(components)
    owner = np.repeat(np.arange(len(names)), [len(one.bins) for one in components.values()])
    stacked = np.concatenate([one.weights for one in components.values()])
    weights = scored_weights(stacked, classes, class_).reshape(len(owner), -1)  # a column each
    points = scale.factor * weights + np.array(scale.shares(len(names), base_rate))[owner, None]
    labels = classes.tolist() if weights.shape[1] == len(classes) else [class_]
    bins = [label for one in components.values() for label in one.bins]
    rows = [(names[g], label, one) for g, label in zip(owner, bins, strict=True) for one in labels]
    component, label, class_of_row = (list(column) for column in zip(*rows, strict=True))
    table: dict[str, Any] = {"component": component, "bin": label, "class": class_of_row}
    if len(classes) == 2:
        del table["class"]
    table |= {"log_odds" if len(classes) == 2 else "weight": weights.ravel()}
    table["points"] = points.ravel()
    return native_frame(table, None, backend)
