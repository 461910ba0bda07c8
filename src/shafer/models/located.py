"""``LocatedModel``: a linear head on a feature map, whose locations or tokens are components."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import array_api_compat
from array_api_compat import array_namespace

from shafer._checks.arrays import row_weights
from shafer._kernels.pooling import located_weights
from shafer._typing import Array
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import ComponentLayout, TokenLayout
from shafer.evidence.least_commitment import (
    LocatedPool,
    Pool,
    RunningMean,
    least_commitment,
    least_commitment_additive,
    least_commitment_located,
)
from shafer.evidence.sources import take
from shafer.models.heads import LinearHead
from shafer.models.read_model import ModelRows, ReadModel
from shafer.rows.access import n_rows


@final
@dataclass(frozen=True, eq=False)
class LocatedModel(ReadModel):
    """A linear head, and the function from X to the feature maps that it sums up.

    Attributes
    ----------
    head : LinearHead
        Coefficients (K, C), or (K, G · C), location after location, if each has its own.
    batches : callable
        From X to the feature maps of its rows, a batch at a time.
    layout : ComponentLayout
        The places of the components in the background.
    shared : bool
        Whether the locations share the background means equally; otherwise each has its own.
    by_place : bool
        Whether each location has coefficients of its own, as behind a flattened map.
    """

    head: LinearHead
    batches: Callable[[Any], Iterator[LocatedTerms]] = field(kw_only=True)
    layout: ComponentLayout = field(kw_only=True)
    shared: bool = False
    by_place: bool = False

    def terms(self, encoded: Any) -> LocatedTerms:
        return joined_terms(list(self.batches(encoded)))

    def rows(self, X: Any) -> ModelRows:
        with self.clear_errors(X):
            encoded = self.encoded(X)
            terms = self.terms(encoded)
            self.check_current()  # after the forward pass was sent to a device
            return ModelRows(encoded, terms)

    def accumulate(self, running: RunningMean, encoded: Any, sample_weight: Any) -> Array | None:
        weight = row_weights(sample_weight, n_rows(encoded), allow_all_zero=True)
        start = 0
        for part in self.batches(encoded):
            stop = start + int(part.features.shape[0])
            self._check_size(part)
            self._add(running, part, None if weight is None else weight[start:stop])
            start = stop
        return None

    def _check_size(self, part: LocatedTerms) -> None:
        if not self.shared and part.layout.plain() != self.layout.plain():
            raise ValueError(
                f"The background has maps of several sizes, {_size(self.layout)} and "
                f"{_size(part.layout)}, so its places have no means. Pass location_means='shared', "
                "or images of one size."
            )

    def _add(self, running: RunningMean, part: LocatedTerms, weight: Any) -> None:
        xp = array_api_compat.array_namespace(part.features)
        if self.shared and not self.by_place:
            dtype = xp.float64 if part.dtype == xp.float64 else xp.float32
            total = xp.sum(part.features, axis=1, dtype=dtype) * part.scale
            running.partial_fit(total[:, None, None, :], weight)
        else:
            running.partial_fit(part.scaled_features()[:, :, None, :], weight)

    def identify(
        self,
        means: Array,
        classes: Any,
        names: Iterable[Any] | None,
        groups: Mapping[str, Sequence[int]] | None = None,
        prior: str = "shared",
    ) -> Pool:
        means = means[:, 0, :]  # (G or 1, C); the axis between marks means of features in a file
        beta, intercept = self.centred()
        if groups is not None:
            xp = array_api_compat.array_namespace(beta)
            wide = xp.astype(means, beta.dtype, copy=False)[None, ...]
            terms = LocatedTerms(wide, self.layout)
            contributions = self.grouped_terms(terms, list(groups.values()))[0, ...]
            return least_commitment_additive(
                contributions, intercept, classes=classes, names=list(groups), prior=prior
            )
        return least_commitment_located(
            beta,
            intercept,
            means,
            layout=self.layout,
            shared=self.shared,
            classes=classes,
            names=self._given(names),
            prior=prior,
        )

    def weighed(
        self, pool: Any, terms: LocatedTerms, groups: Mapping[str, Sequence[int]] | None
    ) -> Evidence:
        return super().weighed(pool, terms, groups) if groups is not None else terms.weighed(pool)

    def _given(self, names: Iterable[Any] | None) -> tuple[str, ...] | None:
        """Return names that the user gave; those of the layout follow the size of the rows."""
        given = None if names is None else tuple(str(name) for name in names)
        return None if given == self.layout.names else given

    def check_groupable(self) -> None:
        if self.shared:
            raise UnsupportedModelError(
                "groups= needs components with means of their own; here the locations or tokens "
                "share the means. Pass location_means='place', or group the evidence: "
                "explainer(X).grouped(groups)."
            )

    def centred(self) -> tuple[Array, Array]:
        """Return the coefficients (C, K) or (G, C, K) and the intercept, centred over classes."""
        both = least_commitment(self.head.coef, self.head.intercept)
        beta, n_features = both.beta, both.beta.shape[0]
        if self.by_place:
            n_locations = self.layout.n_components
            xp = array_api_compat.array_namespace(beta)
            beta = xp.reshape(beta, (n_locations, n_features // n_locations, beta.shape[1]))
        return beta, both.offset * n_features

    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        contributions = self.contributions(terms)
        xp = array_api_compat.array_namespace(contributions)
        sums = [xp.sum(take(contributions, group, 1), axis=1) for group in groups]
        return xp.stack(sums, axis=1)

    def contributions(self, terms: LocatedTerms) -> Array:
        """Return what each location adds to the logits, (n, G, K)."""
        beta, _ = self.centred()
        xp = array_api_compat.array_namespace(beta)
        nothing = xp.zeros((1, beta.shape[-1]), dtype=beta.dtype, device=beta.device)
        return located_weights(terms.features, beta * terms.scale, nothing, None)

    def rescaled(self, slope: float, shift: float = 0.0) -> LocatedModel:
        coef, intercept = self.head.coef * slope, self.head.intercept * slope + shift
        return replace(self, head=replace(self.head, coef=coef, intercept=intercept))


def _size(layout: ComponentLayout) -> str:
    plain = layout.plain()
    return " × ".join(str(plain[name]) for name in ("height", "width", "length") if name in plain)


# The feature maps of rows, as a linear head sums over their locations.


@final
@dataclass(frozen=True, eq=False)
class LocatedTerms:
    """Feature maps of n rows.

    Attributes
    ----------
    features : array of shape (n, G, C)
        The features of each location, perhaps in half precision.
    layout : ComponentLayout
        The places of the G locations.
    scale : float
        A factor on the features: 1 / G for a mean.
    shares : array of shape (n, G), optional
        How each row shares among its locations what belongs to all; 0 for padding.
    total : array of shape (n, C), optional
        The features summed over the locations, if they are known.
    """

    features: Array
    layout: ComponentLayout
    scale: float = 1.0
    shares: Array | None = None
    total: Array | None = None

    @property
    def dtype(self) -> Any:
        """The precision of the features."""
        return self.features.dtype

    @property
    def ndim(self) -> int:
        """Features of rows, not contributions: 2, as for other linear models."""
        return 2

    def weighed(self, pool: LocatedPool) -> Evidence:
        """Return the evidence of these maps."""
        return pool(self.features, self.layout, self.scale, self.shares, self.total)

    def scaled_features(self) -> Array:
        """Return the features times their factor, in single or double precision."""
        xp = array_namespace(self.features)
        wide = self.features
        if xp.finfo(wide.dtype).bits < 32:
            wide = xp.astype(wide, xp.float32)
        return wide if self.scale == 1.0 else wide * self.scale


def joined_terms(parts: Sequence[LocatedTerms]) -> LocatedTerms:
    """Put the rows of batches together; shorter texts are padded."""
    first = parts[0]
    if len(parts) == 1:
        return first
    xp = array_namespace(first.features)
    longest = max(part.features.shape[1] for part in parts)
    if first.shares is None:
        return LocatedTerms(
            xp.concat([part.features for part in parts], axis=0), first.layout, first.scale
        )
    features = xp.concat([_padded(part.features, longest) for part in parts], axis=0)
    shares = xp.concat([_padded(part.shares, longest) for part in parts], axis=0)
    same = all(part.features.shape[1] == longest for part in parts)
    layout = first.layout if same else TokenLayout(longest)
    return LocatedTerms(features, layout, first.scale, shares)


def _padded(x: Array, length: int) -> Array:
    xp = array_namespace(x)
    missing = (x.shape[0], length - x.shape[1], *x.shape[2:])
    return xp.concat([x, xp.zeros(missing, dtype=x.dtype, device=x.device)], axis=1)
