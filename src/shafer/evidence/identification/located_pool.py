r"""Least commitment for a linear head on feature maps: each location is a component (Prop. 2).

The logits are a sum over locations, :math:`z_k = b_{0k} + \sum_g \sum_c \beta_{ck} a_{gc}`. The
factor of a mean is part of the features or of the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array
from shafer._validation import check_overflow, class_labels, frozen
from shafer.evidence.base_rate import has_own_base_rate
from shafer.evidence.component_layout import ComponentLayout
from shafer.evidence.evidence import Evidence
from shafer.evidence.identification.linear_pool import all_names, with_base_rate
from shafer.evidence.weight_sources import LocatedWeights

MEANS = ("place", "shared")
_MOST_KEPT = 4  # sizes of maps whose coefficients are kept


@final
@dataclass(frozen=True, eq=False)
class LocatedPool:
    """A linear head on feature maps with known weights: call it on maps to get their evidence.

    Attributes
    ----------
    beta : array of shape (C, K), or (G, C, K)
        Coefficients, centred over the classes; with one axis more if each location has its own.
    at_means : array of shape (G, K), or (1, K)
        What the background means add to the logits: at each location, or at all together if the
        means are shared.
    logits_at_means : array of shape (K,)
        The base rate b_k.
    own : bool
        Whether the base rate is a component of its own.
    classes : array of shape (K,)
        Class labels.
    layout : ComponentLayout
        The places of the components in the background.
    names : tuple of strings, optional
        The user's names of these components.
    """

    beta: Array
    at_means: Array
    logits_at_means: Array
    own: bool
    classes: NDArray[Any]
    layout: ComponentLayout
    names: tuple[str, ...] | None = None
    _scaled: dict[float, Array] = field(default_factory=dict, repr=False)

    def _beta(self, scale: float) -> Array:
        """Return the coefficients times a factor; they are kept for the next rows."""
        if scale not in self._scaled:
            if len(self._scaled) >= _MOST_KEPT:
                self._scaled.clear()
            self._scaled[scale] = frozen(self.beta * scale)
        return self._scaled[scale]

    @property
    def base_rate(self) -> Array | None:
        """The base rate (K,), if it is a component of its own; otherwise None."""
        return self.logits_at_means if self.own else None

    @property
    def component_names(self) -> tuple[str, ...]:
        """The names of the components in the background."""
        return self._names_in(self.layout)

    def _names_in(self, layout: ComponentLayout) -> tuple[str, ...]:
        if self.names is None:
            return all_names(layout.names, self.own)
        if len(self.names) != layout.n_components:
            raise ValueError(
                f"names= has {len(self.names)} names, for the locations of the background, but "
                f"these rows have {layout.n_components}. Make the Explainer without names=."
            )
        return all_names(self.names, self.own)

    def __call__(
        self,
        features: Array,
        layout: ComponentLayout,
        scale: float = 1.0,
        shares: Array | None = None,
        total: Array | None = None,
    ) -> Evidence:
        """Return the evidence of maps.

        Parameters
        ----------
        features : array of shape (n, G, C)
            Finite values, perhaps in half precision.
        layout : ComponentLayout
            The places of the G locations.
        scale : float
            A factor on the features, such as 1 / G for a mean.
        shares : array of shape (n, G), optional
            How each row shares among its locations what belongs to all of them; they add up to 1.
            Locations with 0, such as padding, must have features of 0. Equal by default.
        total : array of shape (n, C), optional
            The features summed over the locations, if they are known.
        """
        xp = array_api_compat.array_namespace(self.beta)
        n_locations = features.shape[1]
        at_all = xp.sum(self.at_means, axis=0)[None, :]
        base = self.logits_at_means[None, :]
        by_place = shares is None and self.at_means.shape[0] == n_locations
        each = 1.0 if shares is not None else 1.0 / n_locations
        source = LocatedWeights(
            features,
            self._beta(scale),
            -self.at_means if by_place else -at_all * each,
            xp.zeros_like(base) if self.own else base * each,
            None if shares is None else xp.astype(shares, self.beta.dtype, copy=False),
            total,
        )
        whole = with_base_rate(source, self.base_rate)
        names = self._names_in(layout)
        return Evidence.from_source(whole, self.classes, names, layout=layout)


def least_commitment_located(
    beta: Array,
    intercept: Array,
    means: Array,
    *,
    layout: ComponentLayout,
    shared: bool,
    classes: Any = None,
    names: tuple[str, ...] | None = None,
    prior: str = "shared",
) -> LocatedPool:
    r"""Find the weights of evidence of a linear head on feature maps (Denœux 2019, Prop. 2).

    .. math:: w_{gk} = \sum_c \beta^*_{ck} (a_{gc} - \mu_{gc}) + b_k / G, \qquad
              b_k = b^*_{0k} + \sum_g \sum_c \beta^*_{ck} \mu_{gc} .

    Parameters
    ----------
    beta : array of shape (C, K), or (G, C, K)
        Coefficients, centred over the classes.
    intercept : array of shape (K,)
        The same of the intercept.
    means : array of shape (G, C), or (1, C)
        Means of the features over the background: at each location, or of their sum over all.
    layout : ComponentLayout
        The places of the components.
    shared : bool
        Whether all locations have an equal share of the means, or each the means of its own place.
    classes, names, prior : as in ``least_commitment``
    """
    xp = array_api_compat.array_namespace(beta)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        if beta.ndim == 2:
            at_means = xp.astype(means, beta.dtype, copy=False) @ beta
        else:
            at_means = xp.sum(xp.astype(means, beta.dtype, copy=False)[..., None] * beta, axis=1)
        total = xp.sum(at_means, axis=0, keepdims=True)
        logits = intercept + total[0, :]
    for array in (at_means, logits):
        check_overflow(array, "weights")
    return LocatedPool(
        frozen(beta),
        frozen(total if shared else at_means),
        frozen(logits),
        has_own_base_rate(prior),
        class_labels(classes, beta.shape[-1]),
        layout,
        names,
    )
