"""``typicality``: how usual the weights of an instance are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Annotated, Any, TypeAlias, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._files.codec import LABELS, LEFT_OUT
from shafer._typing import Array, FloatArray
from shafer.evidence.base_rate import base_rate_position
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.sources import SparseWeights, WeightSource


def typicality(ev: Evidence | DiscountedEvidence, background: Evidence | WeightProfile) -> Array:
    """Return how usual each instance's weights of evidence are for its most plausible class.

    A novelty score (plain ignorance is not one). A small value means that the weights are unusual
    for this class. Read it like a p-value; below the rank of the least usual background row it
    only orders. The typicality of the background rows themselves is optimistic, because they
    define what is usual.

    Parameters
    ----------
    ev : Evidence or DiscountedEvidence
        Of the instances; a discount makes no difference. Best the plain one: a factor on all
        weights of an instance, as moderation has it, hides how unusual they are.
    background : Evidence or WeightProfile
        Evidence of the training rows, from the same model; or what
        :meth:`shafer.evidence.WeightProfile.fit` has learnt from it, if asked more than once.

    Returns
    -------
    array of shape (n,), in (0, 1]

    See Also
    --------
    shafer.Explainer.typicality : The same for rows of data.
    shafer.evidence.WeightProfile : What is usual, learnt once.
    shafer.Monitor : Compares whole batches of rows.

    Examples
    --------
    >>> import shafer
    >>> from shafer.evidence import typicality
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> explainer = shafer.Explainer(LogisticRegression(max_iter=1000).fit(X, y), X)
    >>> ev = explainer([[5.0, 3.4, 1.5, 0.2], [9.0, 1.0, 2.0, 4.0]])
    >>> typicality(ev, explainer(X)).round(3)
    array([1.   , 0.001])
    """
    profile = background
    if not isinstance(profile, WeightProfile):
        profile = WeightProfile.fit(_weights(background, "background"))
    return profile.typicality(_weights(ev, "ev"))


def _weights(given: Any, name: str) -> Evidence:
    if not isinstance(given, MassEvidence):
        raise ValueError(
            f"{name} must be evidence, explainer(X); got {type(given).__name__}. For rows use "
            "explainer.typicality(X)."
        )
    return given.weighed


# Typicality: how usual an instance's weights of evidence are for the class they point to.

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

    linear between the :math:`d_i` (of many rows, about two thousand are kept, all in the tail among
    them), and :math:`t = \frac{2}{n_c + 1} \frac{1 + d_{max}}{1 + d}`
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

    classes: Annotated[NDArray[np.generic], "K", LABELS]
    component_names: Annotated[tuple[str, ...], "G"]
    profiles: Annotated[tuple[ClassProfile, ...], "K"]

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
            overall = _moments(ClassWeights(source, everything, k)).variance
            profiles.append(class_profile(ClassWeights(source, reference, k), overall, eps))
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

    def _scored(self, ev: Evidence, score: Callable[[ClassProfile, Profiles], FloatArray]) -> Array:
        source = self._same_components(ev)
        assigned = _assigned(ev)
        result = np.empty(len(ev))
        for k in np.unique(assigned):
            rows, profile = np.flatnonzero(assigned == k), self.profiles[k]
            parts = ClassWeights(source, rows, int(k))
            result[rows] = np.concatenate([score(profile, part) for part in parts])
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
    position = base_rate_position(ev)
    if position is None:
        return source, names
    kept = [g for g in range(len(names)) if g != position]
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


# The weights for one class, a block of rows at a time; those of sparse rows are never in full.


@final
@dataclass(frozen=True, eq=False)
class SparseProfiles:
    """Weights of one class that are the same in most rows: ``base`` plus ``cells``.

    Attributes
    ----------
    base : array of shape (G,)
        The weights of a row of zeros.
    cells : sparse array of shape (m, G)
        What the other values add.
    """

    base: FloatArray
    cells: sparse.csr_array

    def __len__(self) -> int:
        return int(self.cells.shape[0])

    def summed(self, values: FloatArray) -> FloatArray:
        """Add up a value of each cell, for each row."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.cells.indptr))
        return _summed(rows, values, len(self))


def _summed(places: NDArray[np.integer[Any]], values: FloatArray, size: int) -> FloatArray:
    return np.asarray(np.bincount(places, values, minlength=size), dtype=np.float64)


Profiles: TypeAlias = FloatArray | SparseProfiles


@final
@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The weights that the components give class k in some rows, in blocks that fit in memory."""

    source: WeightSource
    rows: NDArray[np.intp]
    k: int

    def __iter__(self) -> Iterator[Profiles]:
        chosen = self.source.of_classes([self.k])
        if isinstance(chosen, SparseWeights) and chosen.shape[-2] > _MOST_CORRELATED:
            beta = chosen.beta[:, 0].astype(np.float64)
            cells = sparse.csr_array(chosen.features[self.rows], dtype=np.float64)
            cells.sum_duplicates()
            cells.data *= beta[cells.indices]
            yield SparseProfiles(chosen.offset[0] - chosen.centre * beta, cells)
            return
        n_components, n_classes = self.source.shape[-2:]
        size = max(1, _BLOCK // (n_components * n_classes))
        for start in range(0, len(self.rows), size):
            some = chosen.rows(self.rows[start : start + size])
            yield to_numpy(some.dense()[:, :, 0]).astype(np.float64)


@final
@dataclass(frozen=True, eq=False)
class _Moments:
    """The number of rows, and of each component its mean and squared deviations, (G,)."""

    count: int
    mean: FloatArray
    squares: FloatArray
    largest: float  # of all weights, without their signs

    @property
    def variance(self) -> FloatArray:
        return self.squares / self.count

    def joined(self, other: _Moments) -> _Moments:
        n, shift = other.count, other.mean - self.mean
        count = self.count + n
        squares = self.squares + other.squares
        squares += shift**2 * (self.count * n / count)
        mean = self.mean + shift * (n / count)
        return _Moments(count, mean, squares, max(self.largest, other.largest))


def _moments(blocks: Iterable[Profiles]) -> _Moments:
    return reduce(_Moments.joined, map(_moments_of, blocks))


def _moments_of(block: Profiles) -> _Moments:
    if not isinstance(block, SparseProfiles):
        mean = block.mean(axis=0)
        squares = ((block - mean) ** 2).sum(axis=0)
        return _Moments(len(block), mean, squares, float(np.abs(block).max()))
    n, size, cells = len(block), len(block.base), block.cells
    mean = _summed(cells.indices, cells.data, size) / n
    deviations = (cells.data - mean[cells.indices]) ** 2
    squares = _summed(cells.indices, deviations, size)
    squares += (n - np.bincount(cells.indices, minlength=size)) * mean**2
    reached = np.abs(block.base[cells.indices] + cells.data)
    largest = max(float(np.abs(block.base).max()), float(reached.max(initial=0.0)))
    return _Moments(n, block.base + mean, squares, largest)


# The usual weights of the components for one class, and the distance of a row from them.

# With more components than this their correlations are left out: (G, G) per class is too much.
_MOST_CORRELATED = 2048
# Spreads of a class are estimated as if it had this many rows more, spread as all classes are.
_BORROWED_ROWS = 1.0
# A constant component has moved if it differs by this much more than rounding would explain.
_MOVED = 100.0


@final
@dataclass(frozen=True, eq=False)
class ClassProfile:
    """The weights that the components give one class, over the rows assigned to it.

    Attributes
    ----------
    mean, spread : arrays of shape (G,)
        A spread of 0 marks a component that is constant over the whole background.
    noise : float
        What rounding does to a component that is constant.
    axes, precision : arrays of shapes (G, r) and (r,)
        Principal directions of the standardised weights, and the reciprocals of their variances.
    rest : float
        Reciprocal of the variance in all other directions.
    distances : array of shape (n,)
        Of the rows themselves, each measured by the others, ascending: of all rows, or of some.
    ranks : array of shape (n,) or None
        The typicality at each distance; None if the distances are those of all rows.
    """

    mean: Annotated[FloatArray, "G"]
    spread: Annotated[FloatArray, "G"]
    noise: float
    axes: Annotated[FloatArray, "G r"]
    precision: Annotated[FloatArray, "r"]
    rest: float
    distances: Annotated[FloatArray, "n"]
    ranks: Annotated[FloatArray | None, "n", LEFT_OUT] = None

    def __post_init__(self) -> None:
        """Refuse ranks that do not go down where distances go up."""
        if self.ranks is None:
            return
        up = (np.diff(self.distances) > 0.0).all()
        if not (up and (np.diff(self.ranks) < 0.0).all() and 0.0 < self.ranks[-1] <= 1.0):
            raise ValueError("ranks must go down from at most 1 where distances go up.")

    def distance(self, profiles: Profiles) -> FloatArray:
        """Return squared Mahalanobis distances of profiles (m, G); infinite if a constant moved."""
        if isinstance(profiles, SparseProfiles):
            return self._sparse_distance(profiles)
        deviation = profiles - self.mean
        constant = self.spread == 0.0
        moved = (np.abs(deviation[:, constant]) > _MOVED * self.noise).any(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):  # then it is infinite
            x = _standardised(deviation, self.spread)
            along = (x @ self.axes) ** 2
            others = np.maximum((x**2).sum(axis=1) - along.sum(axis=1), 0.0)
            squared = along @ self.precision + self.rest * others
        return np.where(moved | ~np.isfinite(squared), np.inf, squared)

    def _sparse_distance(self, profiles: SparseProfiles) -> FloatArray:
        """Return the same for so many components that their correlations are left out.

        The distance of a row of zeros is known; each other cell changes its own part of it.
        """
        places, base = profiles.cells.indices, profiles.base - self.mean
        there = base[places] + profiles.cells.data
        limit = np.where(self.spread == 0.0, _MOVED * self.noise, np.inf)
        moved = np.abs(base) > limit
        changed = (np.abs(there) > limit[places]).astype(np.float64) - moved[places]
        n_moved = moved.sum() + profiles.summed(changed)
        with np.errstate(over="ignore", invalid="ignore"):  # then it is infinite
            x = _standardised(base, self.spread) ** 2
            of_cells = _standardised(there, self.spread[places]) ** 2
            squared = self.rest * np.maximum(x.sum() + profiles.summed(of_cells - x[places]), 0.0)
        return np.where((n_moved > 0.5) | ~np.isfinite(squared), np.inf, squared)

    def typicality(self, profiles: Profiles) -> FloatArray:
        """Rank the distances of profiles (m, G) among those of the rows, (m,) in (0, 1]."""
        distance = self.distance(profiles)
        values, ranks = self.distances, self.ranks
        if ranks is None:
            values, ranks = _ranked(values)
        largest = values[-1]
        tail = ranks[-1] * ((1.0 + largest) / (1.0 + distance))
        inside = np.interp(np.minimum(distance, largest), values, ranks)
        rank = np.where(distance > largest, tail, inside)
        smallest = np.finfo(np.float64).tiny
        result: FloatArray = np.maximum(rank, smallest)
        return result


def class_profile(blocks: Iterable[Profiles], overall: FloatArray, eps: float) -> ClassProfile:
    """Describe the weights for one class, given in blocks of rows that are read several times.

    ``overall`` are the variances over all rows.
    """
    found = _moments(blocks)
    n, n_components = found.count, len(found.mean)
    borrowed = _BORROWED_ROWS * overall
    spread = np.sqrt((found.squares + borrowed) / (n + _BORROWED_ROWS))
    noise = 16.0 * eps * found.largest
    spread = np.where(spread > noise, spread, 0.0)
    axes, variances, shrinkage = _no_axes(n_components)
    if n > 1 and n_components <= _MOST_CORRELATED:
        standard = _Standardised(blocks, found.mean, spread)
        axes, variances, shrinkage = _correlations(standard, n, n_components)
    precision = 1.0 / ((1.0 - shrinkage) * variances + shrinkage)
    rest = 1.0 / shrinkage if axes.shape[1] < n_components else 0.0
    profile = ClassProfile(found.mean, spread, noise, axes, precision, rest, np.zeros(1))
    squared = np.concatenate([profile.distance(block) for block in blocks])
    distances = np.sort(_without_itself(squared, n, shrinkage))
    if n <= _ALL_ROWS:
        return replace(profile, distances=distances)
    values, ranks = _thinned(*_ranked(distances))
    return replace(profile, distances=values, ranks=ranks)


# A model of more rows keeps some of their distances, so that it does not grow with them.
_ALL_ROWS = 2048
_TAIL = 256  # of the least usual rows, each
_LEVELS = 1024  # evenly over all ranks, and as many by equal ratios down to the tail


def _ranked(distances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the different distances, ascending, and the typicality at each."""
    n = len(distances)
    values, first = np.unique(distances, return_index=True)
    return values, (1.0 + n - first) / (n + 1.0)


def _thinned(values: FloatArray, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep some distances: ranks between two of them are 0.1 % or 1 % of their size apart."""
    up = ranks[::-1]
    least = up[min(_TAIL, len(up) - 1)]
    wanted = np.concatenate([np.linspace(least, 1.0, _LEVELS), np.geomspace(least, 1.0, _LEVELS)])
    places = len(up) - 1 - np.minimum(np.searchsorted(up, wanted), len(up) - 1)
    tail = np.arange(max(0, len(up) - _TAIL), len(up))
    kept = np.unique(np.concatenate([[0], places, tail]))
    return values[kept], ranks[kept]


@final
@dataclass(frozen=True, eq=False)
class _Standardised:
    """Blocks of weights in units of their spreads."""

    blocks: Iterable[Any]  # of arrays: few components are not held as sparse profiles
    mean: FloatArray
    spread: FloatArray

    def __iter__(self) -> Iterator[FloatArray]:
        return (_standardised(block - self.mean, self.spread) for block in self.blocks)


def _standardised(deviation: FloatArray, spread: FloatArray) -> FloatArray:
    return np.divide(deviation, spread, out=np.zeros_like(deviation), where=spread > 0.0)


def _correlations(
    standard: _Standardised, n: int, n_components: int
) -> tuple[FloatArray, FloatArray, float]:
    """Return principal axes (G, r), the variances along them, and the shrinkage."""
    if n <= n_components or n * n_components <= _BLOCK:
        x = np.concatenate(list(standard))
        return *_principal_axes(x), shrinkage_intensity(x)
    gram = reduce(np.add, (x.T @ x for x in standard))
    variances, axes = np.linalg.eigh(gram / (n - 1))
    small, share = gram / n, np.full(n, 1.0 / n)
    images = np.concatenate([np.einsum("ij,ij->i", x @ small, x) for x in standard])
    norms = np.concatenate([(x**2).sum(axis=1) for x in standard])
    intensity = _intensity(small, float(np.trace(small)), share, share * images, norms)
    return axes, np.maximum(variances, 0.0), intensity


def _principal_axes(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions (G, r) in which centred rows vary, and their unbiased variances."""
    n, n_components = x.shape
    if n > n_components:
        variances, axes = np.linalg.eigh(x.T @ x / (n - 1))
        return axes, np.maximum(variances, 0.0)
    variances, rows = np.linalg.eigh(x @ x.T / (n - 1))
    held = variances > 1e-10 * max(1.0, float(variances[-1]))
    axes = x.T @ (rows[:, held] / np.sqrt(variances[held] * (n - 1)))
    return axes, variances[held]


def _no_axes(n_components: int) -> tuple[FloatArray, FloatArray, float]:
    return np.zeros((n_components, 0)), np.zeros(0), 1.0


def _without_itself(squared: FloatArray, n: int, shrinkage: float) -> FloatArray:
    r"""Turn distances of rows from their own mean into those from the mean of the others.

    Taking row a out of the scatter matrix is a rank-one change: with h its distance and
    :math:`c = (1 - \delta) n / (n - 1)^2`, the others measure :math:`(n / (n-1))^2 h / (1 - c h)`.
    Spreads and δ stay as they are.
    """
    if n < 2:
        return squared
    left = 1.0 - (1.0 - shrinkage) * n / (n - 1.0) ** 2 * squared
    # Rounding must not make the most isolated row the most usual one.
    distances: FloatArray = (n / (n - 1.0)) ** 2 * squared / np.maximum(left, 1e-12)
    return distances


# How far to pull an estimated covariance towards a multiple of the identity.

# Less would leave directions without any variance, which cannot be divided by.
LEAST_SHRINKAGE = 1e-6


def shrinkage_intensity(centred: FloatArray, share: FloatArray | None = None) -> float:
    r"""Return the intensity δ in (0, 1] of Ledoit and Wolf (2004) for centred rows x, (n, p).

    With shares q of the rows (1/n by default), S = Σ q x xᵀ and its mean variance m = tr S / p,

    .. math:: \delta = \min\Bigl(1, \frac{\sum_i q_i^2 \lVert x_i x_i^T - S\rVert^2}
              {\lVert S - m I\rVert^2}\Bigr),

    and (1 − δ) S + δ m I is expected to be closer to the true covariance than S. It is never less
    than 1e-6, so that the result can be inverted. Norms are Frobenius'; nothing larger than the
    smaller of (n, n) and (p, p) is formed.
    """
    n, p = centred.shape
    share = np.full(n, 1.0 / n) if share is None else share
    scaled = centred * np.sqrt(share)[:, None]
    small = scaled @ scaled.T if n < p else scaled.T @ scaled
    trace = float((scaled**2).sum())
    if n < p:
        images = np.einsum("ij,ij->i", small, small)  # q x'Sx = the row's squared norm in Gram form
    else:
        images = share * np.einsum("ij,ij->i", centred @ small, centred)
    return _intensity(small, trace, share, images, (centred**2).sum(axis=1), p)


def _intensity(
    small: FloatArray,
    trace: float,
    share: FloatArray,
    images: FloatArray,
    norms: FloatArray,
    p: int | None = None,
) -> float:
    """Return the intensity from S or its Gram form, and q x'Sx and ‖x‖² of each row."""
    p = len(small) if p is None else p
    squared = float((small**2).sum())  # ‖S‖², the same for either product
    # Σ q² (‖x‖⁴ − 2 x'Sx + ‖S‖²)
    scatter = (share * norms) @ (share * norms) - 2.0 * share @ images
    scatter += squared * float(share @ share)
    distance = squared - trace**2 / p
    if scatter <= 0.0 or distance <= 0.0:
        return LEAST_SHRINKAGE
    return float(np.clip(scatter / distance, LEAST_SHRINKAGE, 1.0))
