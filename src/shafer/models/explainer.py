"""``Explainer``: from a trained model and its training data to evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, final

from numpy.typing import NDArray

from shafer._errors import UnsupportedModelError
from shafer._validation import component_names, frame_columns
from shafer.evidence import Evidence, LinearPool, RunningMean
from shafer.evidence.groups import Groups, read_groups
from shafer.models.adapted import AdaptedModel, Pool
from shafer.models.background import as_batches
from shafer.models.families import adapt
from shafer.models.inputs import take_rows
from shafer.models.sources import encoded_names, source_groups


@final
class Explainer:
    """Shows the evidence behind the probabilities of a trained model.

    Parameters
    ----------
    model : fitted model
        Any model of the table in ``docs/models.md``: scikit-learn estimators and pipelines,
        XGBoost, LightGBM, CatBoost, EBMs, torch modules; or a :class:`LinearHead`, a pair
        (coef, intercept), or :class:`Contributions`. Make a new explainer when the model is
        trained further: this one keeps the coefficients it has read.
    background : array, data frame or sparse matrix of n rows, as the model takes them
        The training data, from which the means are taken. A component at its mean says no more
        than its share of the intercept. An iterator of batches is read once, one at a time, so
        the data need not fit in memory.
    groups : mapping, sequence, "source" or "one", optional
        Make groups of components the components: group name -> components (by name or position),
        or a sequence of groups; ``"source"`` gathers the encoded columns of a pipeline by the
        column they came from; ``"one"`` gathers everything. Probabilities stay as they are.
    sample_weight : array of shape (n,), optional
        Weights of the background rows in the means; not with an iterator of batches.
    names : sequence of strings, optional
        Names of the components, before grouping; by default those the model or the background
        knows.
    classes : array of shape (K,), optional
        Class labels; by default those the model knows.
    **options
        What the model's family offers besides: ``components="tree"`` or ``"feature"`` for
        scikit-learn's gradient boosting, ``components="vector"`` or ``"feature"`` for support
        vector machines, ``layer`` and ``batch_size`` for torch modules.

    Attributes
    ----------
    pool : LinearPool or AdditivePool
        The model as evidence: for linear models without groups, ``pool.beta`` and ``pool.alpha``
        are the paper's β*, α*.
    classes : array of shape (K,)
    component_names : tuple of strings

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> heart = shafer.datasets.load_heart()
    >>> X = heart.data[:, [heart.feature_names.index("age"), heart.feature_names.index("ldl")]]
    >>> model = LogisticRegression(C=1e6).fit(X, heart.target)
    >>> ev = shafer.Explainer(model, X)(X[:2])
    >>> ev.belief.round(3)
    array([[0.173, 0.105],
           [0.213, 0.426]])
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        groups: Groups | None = None,
        *,
        sample_weight: Any = None,
        names: Iterable[Any] | None = None,
        classes: Any = None,
        **options: Any,
    ) -> None:
        first, batches = as_batches(background)
        adapted = adapt(model, first, **options)
        columns = frame_columns(first)
        known = _names(adapted, columns) if names is None else names
        labels = adapted.head.classes if classes is None else classes
        if groups is not None:
            adapted = adapted.grouped(_read(groups, adapted, columns, known, first))
            known = adapted.head.names
        self._adapted = adapted
        running = RunningMean()
        for batch in batches:
            adapted.accumulate(running, batch, sample_weight)
        self.pool: Pool = adapted.identify(running.mean, labels, known)

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels, in the order of every array about classes."""
        return self.pool.classes

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, in the order of every array about components."""
        return self.pool.component_names

    def __call__(self, X: Any) -> Evidence:
        """Return the evidence of the rows of ``X``, as the model would take them."""
        terms = self._adapted.terms(X)
        if isinstance(self.pool, LinearPool):
            return self.pool(terms, checked=self._adapted.finite)
        return self.pool(terms)

    def stream(self, batches: Iterable[Any]) -> Iterator[Evidence]:
        """Give the evidence of one batch after the other, holding no more than one at a time.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
        >>> batches = (np.full((3, 2), i) for i in range(1000))
        >>> round(sum(float(ev.ignorance.sum()) for ev in explainer.stream(batches)), 3)
        2.253
        """
        for X in batches:
            yield self(X)

    def __repr__(self) -> str:
        return f"<Explainer: {len(self.component_names)} components, {len(self.classes)} classes>"


def _names(adapted: AdaptedModel, columns: tuple[str, ...] | None) -> Iterable[Any] | None:
    """Names of the components: the encoders', the model's own, or the background's."""
    if adapted.by_column and adapted.encoders:
        return encoded_names(adapted.encoders, columns)
    if adapted.head.names is not None or not adapted.by_column:
        own: Iterable[Any] | None = adapted.head.names
        return own
    return columns


def _read(
    groups: Groups,
    adapted: AdaptedModel,
    columns: tuple[str, ...] | None,
    names: Iterable[Any] | None,
    background: Any,
) -> dict[str, list[int]]:
    """Read the user's groups as a partition of the components."""
    # Features are (n, J), contributions (n, G, K): the second axis is the components.
    n_components = adapted.terms(take_rows(background, slice(0, 1))).shape[1]
    known = component_names(names, n_components)
    if isinstance(groups, str) and groups not in ("one", "source"):
        raise ValueError(
            f"groups must be 'source', 'one', a mapping or a sequence; got {groups!r}."
        )
    if isinstance(groups, str) and groups == "source":
        if not adapted.by_column:
            raise UnsupportedModelError(
                f"groups='source' needs components that are columns of the data; here they are "
                f"{known[0]!r} and the like. Give groups by name, or none."
            )
        if not adapted.encoders:
            return {name: [g] for g, name in enumerate(known)}
        return source_groups(adapted.encoders, columns, n_components)
    return read_groups(groups, known)
