"""``ErrorBars``: from rows to the standard errors of their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from scipy import sparse

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.labels import component_names, is_one_label
from shafer._files.codec import LEFT_OUT, OneOf, Says
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.evidence.errors import (
    ComponentSums,
    LinearErrors,
    SampledErrors,
    TableErrors,
    WeightErrors,
)
from shafer.evidence.sources import take
from shafer.explain.laplace import LARGEST_CURVATURE, ClassWeighting, LaplaceFit
from shafer.explain.weighing import WeighedModel
from shafer.models.read_model import AdditiveModel, LinearModel, ModelRows, ReadModel, TermBags
from shafer.rows.access import values_of

KINDS = ("laplace", "bags", "bootstrap", "sandwich")
OF_COEFFICIENTS = ("laplace", "sandwich")
"""Those that are a covariance of a linear head's coefficients: of the posterior, over samples."""


@dataclass(frozen=True, eq=False)
class ErrorBars(ABC):
    """How an explainer finds the errors of the weights of new rows."""

    @abstractmethod
    def __call__(self, X: Any, rows: ModelRows) -> WeightErrors:
        """Return the errors of the weights of rows, before any factor on the weights.

        Parameters
        ----------
        X : as the model takes it
        rows : ModelRows
            X after one pass through the model.
        """

    @abstractmethod
    def plain(self) -> StoredBars:
        """Return what a saved explainer holds."""


@final
@dataclass(frozen=True, eq=False)
class StoredBars:
    """Error bars in a saved explainer: their kind, and what the model and its refits lack.

    Attributes
    ----------
    kind : {"laplace", "sandwich", "bags", "bootstrap"}
    covariance : array of shape (K − 1, J + 1, K − 1, J + 1), optional
        For ``"laplace"`` and ``"sandwich"``.
    """

    kind: Annotated[str, OneOf(*KINDS), Says(f"errors must be one of {KINDS}; got {{got}}.")]
    covariance: Annotated[
        FloatArray | None,
        "K-1 J+1 K-1 J+1",
        LEFT_OUT,
        Says("errors must fit {J} components of the model."),
    ] = None


def sums_of(weighed: WeighedModel, n_terms: int, *, with_shares: bool) -> ComponentSums:
    """Return the components of a model as sums of its terms.

    Parameters
    ----------
    weighed : WeighedModel
    n_terms : int
        The number of terms, without the base rate.
    with_shares : bool
        The parts of the base rate in the components are uncertain too.
    """
    groups: Sequence[Sequence[int]] = [[j] for j in range(n_terms)]
    if weighed.groups is not None:
        groups = list(weighed.groups.values())
    own = weighed.prior == "own"
    share = 1.0 / len(groups) if with_shares and not own else 0.0
    return ComponentSums.of_groups(groups, n_terms, share, own=own)


# The user's choice of error bars, checked before the background is read.


@final
class ErrorBarsFit:
    """Collects what error bars need from the background.

    Parameters
    ----------
    adapted : ReadModel
    model : the same as the user gave it
    errors, refits, background : as in ``Explainer``

    Attributes
    ----------
    laplace : LaplaceFit or None
        Takes in every batch of the background.
    refits : tuple of models
    """

    def __init__(
        self, adapted: ReadModel, model: Any, errors: Any, refits: Any, background: Any
    ) -> None:
        if errors is not None and (not isinstance(errors, str) or errors not in KINDS):
            raise ValueError(
                f"errors must be None or one of {', '.join(map(repr, KINDS))}; got {errors!r}."
            )
        if refits is not None and errors != "bootstrap":
            raise ValueError(
                f"refits were given, but errors={errors!r} does not use them. Pass "
                "errors='bootstrap', or leave refits out."
            )
        self._kind: str | None = errors
        self.laplace: LaplaceFit | None = None
        self.refits: tuple[Any, ...] = ()
        name = type(model).__name__
        if errors in OF_COEFFICIENTS:
            if errors == "sandwich" and isinstance(background, Iterator):
                raise ValueError(
                    "errors='sandwich' reads the background twice; got an iterator of batches, "
                    "which can be read once. Pass the background as one array or data frame, or "
                    "use errors='laplace'."
                )
            self.laplace = laplace_fit(adapted, name, errors)
        elif errors == "bags":
            read_bags(adapted, name)
        elif errors == "bootstrap":
            self.refits = checked_refits(refits, background)

    def bars(self, weighed: WeighedModel, refits: Sequence[WeighedModel]) -> ErrorBars | None:
        """Return the error bars, given all batches, and the refits read like the model."""
        if self.laplace is not None and self._kind is not None:
            return LaplaceBars.fit(weighed, self.laplace, self._kind)
        if self._kind == "bags":
            return BagBars.fit(weighed)
        if self._kind == "bootstrap":
            return RefitBars.fit(weighed, refits)
        return None


def restored_bars(
    stored: StoredBars | None, weighed: WeighedModel, refits: Sequence[WeighedModel]
) -> ErrorBars | None:
    """Make error bars from what ``ErrorBars.plain`` gave, and the refits."""
    if stored is None:
        return None
    if stored.covariance is not None:
        return LaplaceBars.of_covariance(weighed, stored.covariance, stored.kind)
    if stored.kind == "bags":
        return BagBars.fit(weighed)
    return RefitBars.fit(weighed, refits)


# Error bars from a covariance of a linear head's coefficients: posterior, or over samples.


@final
@dataclass(frozen=True, eq=False)
class LaplaceBars(ErrorBars):
    """Error bars of a linear head that was trained by log loss with an L2 penalty, or none.

    Attributes
    ----------
    covariance : array of shape (K − 1, J + 1, K − 1, J + 1)
        Of the coefficients and the base rate, as in ``LinearErrors``.
    means : array of shape (J,)
    sums : ComponentSums
    kind : {"laplace", "sandwich"}
        Whether the covariance is that of the posterior, or that over samples.
    """

    covariance: FloatArray
    means: FloatArray
    sums: ComponentSums
    kind: str

    @classmethod
    def fit(cls, weighed: WeighedModel, laplace: LaplaceFit, kind: str) -> LaplaceBars:
        """Take the covariance from the curvature over all background rows."""
        means = to_numpy(weighed.means).astype(np.float64)
        names = component_names(weighed.names, len(means))
        over_samples = kind == "sandwich"
        found = (laplace.sampling_covariance if over_samples else laplace.coefficient_posterior)(
            names
        )
        return cls.of_covariance(weighed, found.at_means(means), kind)

    @classmethod
    def of_covariance(cls, weighed: WeighedModel, covariance: FloatArray, kind: str) -> LaplaceBars:
        """Make the bars from a covariance that is known."""
        means = to_numpy(weighed.means).astype(np.float64)
        return cls(covariance, means, sums_of(weighed, len(means), with_shares=True), kind)

    def __call__(self, X: Any, rows: ModelRows) -> LinearErrors:  # noqa: ARG002 - for refits
        # A copy: the features may be the caller's own array, and the weights need not notice that
        # it was changed, if they have it in another precision.
        if sparse.issparse(rows.terms):
            features = sparse.csr_array(rows.terms, dtype=np.float64, copy=True)
        else:
            given = float_array(values_of(rows.terms), "features", ndim=(2,), finite=True)
            features = take(given, range(given.shape[0]), 0)
        ones = np.ones(features.shape[0])
        return LinearErrors(features, self.means, self.covariance, self.sums, ones)

    def plain(self) -> StoredBars:
        return StoredBars(self.kind, self.covariance)


def laplace_fit(adapted: ReadModel, model: str, kind: str = "laplace") -> LaplaceFit:
    """Start to collect the curvature of a model's log loss.

    Parameters
    ----------
    adapted : ReadModel
    model : str
        The name of the model's class, for an error.
    kind : {"laplace", "sandwich"}
        The error bars that were asked for, for an error.

    Raises
    ------
    UnsupportedModelError
        If the model was not trained by log loss with an L2 penalty or none, or is too large.
    """
    loss = adapted.loss if isinstance(adapted, LinearModel) else None
    if not isinstance(adapted, LinearModel) or loss is None or loss.has_corner:
        raise UnsupportedModelError(
            f"errors={kind!r} needs a linear head that was trained by log loss with an L2 penalty "
            "or none: LogisticRegression, MLPClassifier or a torch module, alone or at the end of "
            f"a pipeline. {model} is not one, or has an L1 penalty. Use errors='bootstrap' with "
            "refits=, or errors='bags' for an ExplainableBoostingClassifier."
        )
    shape = np.shape(adapted.head.coef)
    n_contrasts = max(1, (shape[0] if len(shape) == 2 else 1) - 1)
    if n_contrasts * (shape[-1] + 1) > LARGEST_CURVATURE:
        raise UnsupportedModelError(
            f"errors={kind!r} accepts at most {LARGEST_CURVATURE} coefficients, because it needs "
            f"a matrix of all pairs of them; {model} has {n_contrasts} × {shape[-1] + 1} "
            "(contrasts of classes × features and intercept). Select features, or use "
            "errors='bootstrap' with refits=."
        )
    weighting = ClassWeighting.read(loss.class_weight, adapted.head.classes, kind)
    return LaplaceFit.of_loss(adapted.head, loss, weighting, keep_rows=kind == "sandwich")


# Error bars from the outer bags of an additive model.


@final
@dataclass(frozen=True, eq=False)
class BagBars(ErrorBars):
    """Error bars of a model that was trained on several bags: the spread of its terms over them.

    The means of the terms over the background, and the components' shares of the base rate, are
    taken as known. So the bars of a term are those that interpret shows. The base rate as a
    component of its own has the spread of the intercepts.

    Attributes
    ----------
    bags : TermBags
    sums : ComponentSums
    """

    bags: TermBags
    sums: ComponentSums

    @classmethod
    def fit(cls, weighed: WeighedModel) -> BagBars:
        """Read the bags of the model."""
        bags = read_bags(weighed.model, "the model")
        return cls(bags, sums_of(weighed, len(weighed.means), with_shares=False))

    def __call__(self, X: Any, rows: ModelRows) -> TableErrors:  # noqa: ARG002 - for refits
        lines = self.bags.lines(rows.encoded)
        n_lines = self.bags.scores.shape[1]
        base = np.full((len(lines), 1), n_lines)  # the line after all terms
        tables = np.concatenate([self.bags.scores, self.bags.intercepts[:, None, :]], axis=1)
        return TableErrors(
            np.concatenate([lines, base], axis=1),
            tables - tables.mean(axis=-1, keepdims=True),
            self.bags.shares,
            self.sums,
            np.ones(len(lines)),
        )

    def plain(self) -> StoredBars:
        return StoredBars("bags")


def read_bags(adapted: ReadModel, model: str) -> TermBags:
    """Return the bags of a model; ``model`` names it in an error.

    Raises
    ------
    UnsupportedModelError
        If the model has none.
    """
    if not isinstance(adapted, AdditiveModel) or adapted.bags is None:
        raise UnsupportedModelError(
            "errors='bags' needs a model that was trained on several bags, an "
            f"ExplainableBoostingClassifier; {model} is not one. Use errors='sandwich' for a "
            "linear model, or errors='bootstrap' with refits=."
        )
    return adapted.bags()


# Error bars from models that were trained again on other samples.

_HOW = "shafer.models.bootstrap_refits(model, X, y)"


@final
@dataclass(frozen=True, eq=False)
class RefitBars(ErrorBars):
    """Error bars as the spread of the weights of refits, all read on the same background.

    Attributes
    ----------
    refits : tuple of WeighedModel
    """

    refits: tuple[WeighedModel, ...]

    @classmethod
    def fit(cls, weighed: WeighedModel, refits: Sequence[WeighedModel]) -> RefitBars:
        """Check that the refits have the classes and components of the model."""
        for r, refit in enumerate(refits):
            _check_alike(weighed, refit, r)
        return cls(tuple(refits))

    def __call__(self, X: Any, rows: ModelRows) -> SampledErrors:  # noqa: ARG002 - for others
        return SampledErrors(tuple(refit.unadjusted(X).source for refit in self.refits))

    def plain(self) -> StoredBars:
        return StoredBars("bootstrap")


def checked_refits(refits: Any, background: Any) -> tuple[Any, ...]:
    """Return the user's refits as a tuple of models."""
    if refits is None:
        raise ValueError(
            "errors='bootstrap' needs refits: models trained like the model, each on rows drawn "
            f"again from the training data. Pass refits={_HOW}."
        )
    if isinstance(background, Iterator):
        raise ValueError(
            "errors='bootstrap' reads the background once for each refit; got an iterator of "
            "batches, which can be read once. Pass the background as one array or data frame."
        )
    single = is_one_label(refits) or isinstance(refits, Mapping) or hasattr(refits, "predict")
    models = () if single else tuple(refits)
    if len(models) < 2:
        given = type(refits).__name__ if single else f"{len(models)} model(s)"
        raise ValueError(
            f"refits must be a list of at least 2 trained models, better 50; got {given}. Pass "
            f"refits={_HOW}."
        )
    return models


def _check_alike(weighed: WeighedModel, refit: WeighedModel, r: int) -> None:
    classes, others = weighed.pool.classes.tolist(), refit.pool.classes.tolist()
    if classes != others:
        raise ValueError(
            f"Refit {r} has the classes [{listed(others)}], the model [{listed(classes)}]. Draw "
            f"samples that hold every class, as {_HOW} does."
        )
    names, other_names = weighed.pool.component_names, refit.pool.component_names
    if names != other_names:
        wrong = sorted(set(names).symmetric_difference(other_names)) or list(other_names)
        raise ValueError(
            f"Refit {r} has other components than the model; they differ in [{listed(wrong)}]. "
            "Use groups='source' if an encoder found other categories, or fix the categories or "
            "the interactions of the model before training."
        )
