r"""Typicality: how usual an instance's weights of evidence are for the class they point to.

Plain ignorance does not detect novelty: an instance far from all training data has large weights,
so its ignorance is small. Its *profile*, the weight of each component for the class, can be
compared with the profiles of the background rows assigned to the same class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, FloatArray
from shafer._validation import to_numpy
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.evidence import Evidence
from shafer.evidence.profiles.class_profile import ClassProfile, class_profile
from shafer.evidence.weight_sources import WeightSource

# Elements of (rows, G, K) held at a time.
_BLOCK = 2**22


@final
@dataclass(frozen=True, eq=False)
class WeightProfile:
    r"""What the weights of evidence usually look like, class by class.

    An instance's profile is the weight :math:`w_{gc}` that each component gives to the class c it
    is assigned to (the largest logit). Among the :math:`n_c` background rows assigned to c, the
    weights have a mean and a covariance, whose correlations are shrunk by Ledoit and Wolf's
    intensity; d is the squared Mahalanobis distance from it. Each background row is measured by
    the others, without itself, so that a fresh row of the class is not at a disadvantage. Then

    .. math:: t(x) = \frac{1 + \#\{i : d_i \ge d(x)\}}{n_c + 1},

    linear between the :math:`d_i`, and :math:`t = \frac{2}{n_c + 1} \frac{1 + d_{max}}{1 + d}`
    beyond the largest (if one row has it), so that instances out there remain ordered. A class
    with fewer than two rows is compared with the whole background.

    Make one with :meth:`fit`.

    Attributes
    ----------
    classes : array of shape (K,)
    component_names : tuple of G strings
        Without the base rate, which is the same in all rows.
    profiles : tuple of K ClassProfile

    See Also
    --------
    shafer.typicality : Reads a profile.
    shafer.Explainer.typicality : The same for rows of data.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> from shafer.evidence import WeightProfile
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> pool = shafer.least_commitment([1.0, -2.0], 0.5, rows.mean(axis=0))
    >>> profile = WeightProfile.fit(pool(rows))
    >>> profile.typicality(pool([[0.0, 0.0], [4.0, 5.0]])).round(3)
    array([0.638, 0.008])
    """

    classes: NDArray[np.generic]
    component_names: tuple[str, ...]
    profiles: tuple[ClassProfile, ...]

    @classmethod
    def fit(cls, background: Evidence) -> WeightProfile:
        """Learn the profiles from the evidence of the background (training) rows.

        Parameters
        ----------
        background : Evidence
            Of the background rows.

        Returns
        -------
        WeightProfile
        """
        _check_rows(background)
        assigned = _assigned(background)
        source, names = _varying(background)
        eps = float(np.finfo(to_numpy(background.logits).dtype).eps)
        everything = np.arange(len(background))
        profiles = []
        for k in range(background.n_classes):
            rows = np.flatnonzero(assigned == k)
            reference = rows if len(rows) > 1 else everything
            overall = _variances(source, everything, k)
            profiles.append(class_profile(_profiles(source, reference, k), overall, eps))
        return cls(background.classes, names, tuple(profiles))

    def distances(self, ev: Evidence) -> Array:
        """Squared distance of each instance from the background rows of its class, (n,).

        Parameters
        ----------
        ev : Evidence
            Of the same components and classes.

        Returns
        -------
        array of shape (n,)
            At least 0.
        """
        return self._scored(ev, ClassProfile.distance)

    def typicality(self, ev: Evidence) -> Array:
        """Typicality of each instance, (n,) in (0, 1]: small is unusual.

        Parameters
        ----------
        ev : Evidence
            Of the same components and classes.

        Returns
        -------
        array of shape (n,)
        """
        return self._scored(ev, ClassProfile.typicality)

    def _scored(
        self, ev: Evidence, score: Callable[[ClassProfile, FloatArray], FloatArray]
    ) -> Array:
        source = self._same_components(ev)
        assigned = _assigned(ev)
        result = np.empty(len(ev))
        for k in np.unique(assigned):
            for rows in _blocks(np.flatnonzero(assigned == k), source):
                result[rows] = score(self.profiles[k], _class_weights(source, rows, int(k)))
        xp = array_api_compat.array_namespace(ev.logits)
        return xp.asarray(result, device=ev.logits.device)

    def _same_components(self, ev: Evidence) -> WeightSource:
        _check_rows(ev)
        source, names = _varying(ev)
        if names != self.component_names or ev.classes.tolist() != self.classes.tolist():
            raise ValueError(
                f"ev must have the {len(self.component_names)} components and "
                f"{len(self.classes)} classes of the background, in their order; got "
                f"{ev.n_components} components and {ev.n_classes} classes. Make both with the same "
                "explainer."
            )
        return source


def _varying(ev: Evidence) -> tuple[WeightSource, tuple[str, ...]]:
    """Return the weights and the names of all components but the base rate, which is constant."""
    source, names = ev.unchanged_source(), ev.component_names
    if BASE_RATE not in names:
        return source, names
    kept = [g for g, name in enumerate(names) if name != BASE_RATE]
    return source.keep(kept), tuple(names[g] for g in kept)


def _check_rows(ev: Evidence) -> None:
    if ev.logits.ndim != 2:
        raise ValueError(
            "typicality needs the evidence of whole rows; got the evidence of single components "
            f"(ev.components), of shape {tuple(ev.logits.shape)}. Pass ev itself."
        )


def _assigned(ev: Evidence) -> NDArray[np.intp]:
    assigned: NDArray[np.intp] = to_numpy(ev.logits).argmax(axis=1)
    return assigned


def _blocks(rows: NDArray[np.intp], source: WeightSource) -> Iterator[NDArray[np.intp]]:
    """Split rows so that all their weights fit in a block."""
    n_components, n_classes = source.shape[-2:]
    size = max(1, _BLOCK // (n_components * n_classes))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _class_weights(source: WeightSource, rows: NDArray[np.intp], k: int) -> FloatArray:
    """Return the weights that the components give class k in some rows, (m, G)."""
    chosen = source.rows(rows).of_classes([k])
    weights: FloatArray = to_numpy(chosen.dense()[:, :, 0]).astype(np.float64)
    return weights


def _profiles(source: WeightSource, rows: NDArray[np.intp], k: int) -> FloatArray:
    return np.concatenate([_class_weights(source, part, k) for part in _blocks(rows, source)])


def _variances(source: WeightSource, rows: NDArray[np.intp], k: int) -> FloatArray:
    """Return the variance of each component's weight for class k over all rows, (G,)."""
    count, mean, squares = 0, np.zeros(source.shape[-2]), np.zeros(source.shape[-2])
    for part in _blocks(rows, source):
        block = _class_weights(source, part, k)
        n, shift = len(block), block.mean(axis=0) - mean
        squares += ((block - block.mean(axis=0)) ** 2).sum(axis=0)
        squares += shift**2 * (count * n / (count + n))
        mean += shift * (n / (count + n))
        count += n
    return squares / count
