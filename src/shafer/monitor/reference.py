"""``ReferenceRows``: what a monitor keeps of the rows that new rows are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import label_array, label_positions
from shafer._files.codec import LABELS, LEFT_OUT, Limits
from shafer._text import listed
from shafer._typing import BoolArray, FloatArray
from shafer.decision.policy import AnswerRule, answers
from shafer.evidence.evidence import Evidence
from shafer.evidence.typicality import WeightProfile
from shafer.explain.explainer import Explainer
from shafer.explain.row_pass import ModelPass
from shafer.monitor.shift_tests import rounding_tolerance
from shafer.rows.access import n_rows, take_rows

LEAST_ROWS = 50
_OTHERS = 1e-4  # a component may be rounded like much larger ones
_BLOCK = 2**24  # weights from which the axes are found


@final
@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """Facts about the reference rows, and what they are measured with.

    One half of the rows, chosen at random, defines the axes of the components and the profile of
    typical weights. The typicality of the other half is that of fresh rows.

    Attributes
    ----------
    axes : ComponentAxes
    profile : WeightProfile
    held_out : boolean array of shape (n,)
        Rows that did not define the profile.
    facts : RowFacts
    labels : LabelFacts or None
        With known classes.
    tolerance : array of shape (G, R)
        How far equal scores may lie apart.
    """

    axes: ComponentAxes
    profile: WeightProfile
    held_out: Annotated[BoolArray, "N"]
    facts: RowFacts
    labels: LabelFacts | None
    tolerance: Annotated[FloatArray, "G R"]

    @classmethod
    def fit(cls, explainer: Explainer, X: Any, y: Any, max_rows: int, seed: int) -> ReferenceRows:
        """Pass at most ``max_rows`` rows, chosen at random, through the model."""
        random = np.random.default_rng(seed)
        X, y = _sampled(explainer, X, y, max_rows, random)
        n = n_rows(X)
        held_out = np.zeros(n, dtype=bool)
        held_out[random.permutation(n)[: n // 2]] = True
        defining = explainer.observe(take_rows(X, np.flatnonzero(~held_out).tolist()))
        kept = watched(explainer)
        size = max(64, _BLOCK // (len(kept) * len(explainer.classes)))
        axes = ComponentAxes.fit(weights_of(defining.even[:size], kept))
        profile = WeightProfile.fit(defining.plain)
        facts = row_facts(explainer, X, axes, profile)
        itemsize = to_numpy(defining.bet.logits).dtype.itemsize
        tolerance = _tolerance(facts.scores, axes, itemsize)
        labels = None if y is None else label_facts(explainer, X, y, facts)
        return cls(axes, profile, held_out, facts, labels, tolerance)

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def fresh_typicality(self) -> FloatArray:
        """Typicality of the rows that did not define the profile."""
        return self.facts.typicality[self.held_out]


def _tolerance(scores: FloatArray, axes: ComponentAxes, itemsize: int) -> FloatArray:
    """Return how far equal scores may lie apart, (G, R).

    A constant component has scores of 0, but its weights are rounded nevertheless.
    """
    own = rounding_tolerance(scores, itemsize)
    weights = rounding_tolerance(axes.centre.T, itemsize)[:, None]
    others = _OTHERS * max(float(own.max()), float(weights.max()))
    return np.asarray(np.maximum(np.maximum(own, weights), others))


def _sampled(
    explainer: Explainer, X: Any, y: Any, max_rows: int, random: np.random.Generator
) -> tuple[Any, Any]:
    n = n_rows(X)
    if n < LEAST_ROWS:
        raise ValueError(
            f"X_reference has {n} rows; a monitor needs at least {LEAST_ROWS} to know what is "
            "usual. Pass more rows."
        )
    if y is not None:
        truth = label_positions(y, explainer.classes, n)
        if len(np.unique(truth)) == 1:
            only = explainer.classes[truth[0]].item()
            raise ValueError(
                f"y holds the class {only!r} only, for all {n} reference rows. Pass the classes of "
                "a representative sample, or leave out y."
            )
    if n <= max_rows:
        return X, y
    rows = np.sort(random.choice(n, max_rows, replace=False)).tolist()
    return take_rows(X, rows), None if y is None else label_array(y, "y")[rows]


# What is watched about rows: scores of the components, batch quantities, and losses.

_SMALLEST = float(np.finfo(np.float64).tiny)
_FACTS_BLOCK = 2**22  # weights held at a time
_MOST_ROWS = 20_000  # rows of a block


@final
@dataclass(frozen=True, eq=False)
class RowFacts:
    """Arrays about n rows, each with the rows along its first axis.

    Attributes
    ----------
    logits : array of shape (n, K)
        The logits behind the probabilities, centred over the classes.
    row_factor : array of shape (n,)
        What moderation multiplies all weights of a row by; 1 without it. It depends on the whole
        row, so the scores are without it: otherwise one component would move all others.
    scores : array of shape (n, G, R)
        The components' scores on their axes.
    weight_sums : array of shape (blocks, G, K)
        Sums of the weights over blocks of rows, for exact means.
    log_ignorance : array of shape (n,)
        Its logarithm, which does not saturate.
    weight_of_disagreement : array of shape (n,)
        −ln(1 − disagreement), which does not saturate.
    unseen : boolean array of shape (n,)
        Rows with a category that the encoders were not trained on.
    gaps : array of shape (n,)
        Share of missing inputs.
    typicality : array of shape (n,)
        Typicality of the row's weights by the profile; small is unusual. Not yet a p-value.
    """

    logits: Annotated[FloatArray, "N K"]
    row_factor: Annotated[FloatArray, "N"]
    scores: Annotated[FloatArray, "N G R"]
    weight_sums: Annotated[FloatArray, "blocks G K"]
    log_ignorance: Annotated[FloatArray, "N"]
    weight_of_disagreement: Annotated[FloatArray, "N"]
    unseen: Annotated[BoolArray, "N"]
    gaps: Annotated[FloatArray, "N"]
    typicality: Annotated[FloatArray, "N"]

    def __len__(self) -> int:
        return len(self.logits)

    @property
    def mean_weights(self) -> FloatArray:
        """Mean weights of the components, (G, K)."""
        mean: FloatArray = self.weight_sums.sum(axis=0) / len(self)
        return mean

    def decisions(self, cutoff: AnswerRule | None) -> NDArray[np.intp]:
        """Return the position of the answer of each row, (n,)."""
        return answers(self.logits, cutoff)

    @property
    def probability(self) -> FloatArray:
        """Probabilities of the classes, (n, K)."""
        shifted = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        probability: FloatArray = shifted / shifted.sum(axis=1, keepdims=True)
        return probability

    def log_loss(self, truth: NDArray[np.intp]) -> FloatArray:
        """Return −ln p of each row's true class, (n,)."""
        own = np.take_along_axis(self.logits, truth[:, None], axis=1)[:, 0]
        largest = self.logits.max(axis=1)
        total = np.log(np.exp(self.logits - largest[:, None]).sum(axis=1)) + largest
        loss: FloatArray = total - own
        return loss


def watched(explainer: Explainer) -> list[int]:
    """Return the positions of the components that vary: all but a base rate, the last."""
    own = explainer.pool.base_rate is not None
    return list(range(len(explainer.component_names) - own))


def weights_of(ev: Evidence, kept: list[int]) -> FloatArray:
    """Return the weights of some components, (n, G, K), in double precision."""
    source = ev.unchanged_source()
    chosen = source if len(kept) == len(ev.component_names) else source.keep(kept)
    return to_numpy(chosen.dense()).astype(np.float64)


def blocks(explainer: Explainer, X: Any) -> Iterator[ModelPass]:
    """Give the rows of X in blocks whose weights fit in memory."""
    n = n_rows(X)
    width = len(explainer.component_names) * len(explainer.classes)
    size = max(1, min(_MOST_ROWS, _FACTS_BLOCK // width))
    if n <= size:
        yield explainer.observe(X)
        return
    for start in range(0, n, size):
        yield explainer.observe(take_rows(X, slice(start, start + size)))


def row_facts(
    explainer: Explainer, X: Any, axes: ComponentAxes, profile: WeightProfile
) -> RowFacts:
    """Pass rows through the model, block by block."""
    kept = watched(explainer)
    parts = [_facts(rows, kept, axes, profile) for rows in blocks(explainer, X)]
    if len(parts) == 1:
        return parts[0]
    joined = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(RowFacts)
    }
    return RowFacts(**joined)


def _facts(
    rows: ModelPass, kept: list[int], axes: ComponentAxes, profile: WeightProfile
) -> RowFacts:
    weights = weights_of(rows.even, kept)
    typicality = to_numpy(profile.typicality(rows.plain)).astype(np.float64)
    typicality[rows.unseen] = _SMALLEST
    ignorance = to_numpy(rows.evidence.ignorance).astype(np.float64)
    return RowFacts(
        logits=to_numpy(rows.bet.logits).astype(np.float64),
        row_factor=rows.row_factor,
        scores=axes.scores(weights),
        weight_sums=weights.sum(axis=0, keepdims=True),
        log_ignorance=np.log(np.maximum(ignorance, _SMALLEST)),
        weight_of_disagreement=to_numpy(rows.bet.weight_of_disagreement).astype(np.float64),
        unseen=rows.unseen,
        gaps=rows.gaps,
        typicality=typicality,
    )


def _has_sets(explainer: Explainer, X: Any) -> bool:
    """Return whether calibrated sets can be made of X: their groups must be a column of it."""
    sets = explainer.conformal
    return sets is not None and (sets.by is None or sets.column in (frame_columns(X) or ()))


@final
@dataclass(frozen=True, eq=False)
class LabelFacts:
    """How well rows with known classes were predicted.

    Attributes
    ----------
    log_loss : array of shape (n,)
    brier : array of shape (n,)
        Sum over the classes of the squared differences to the truth.
    correct : boolean array of shape (n,)
    covered : boolean array of shape (n,), or None
        Whether the calibrated set holds the class; None without ``conformalize``, and if its
        groups are not a column of the rows.
    """

    log_loss: Annotated[FloatArray, "N"]
    brier: Annotated[FloatArray, "N"]
    correct: Annotated[BoolArray, "N"]
    covered: Annotated[BoolArray | None, "N", LEFT_OUT] = None


def label_facts(explainer: Explainer, X: Any, y: Any, rows: RowFacts) -> LabelFacts:
    """Compare rows with their true classes."""
    truth = label_positions(y, explainer.classes, len(rows))
    wanted = np.eye(len(explainer.classes))[truth]
    covered = None
    if _has_sets(explainer, X):
        sets = to_numpy(explainer.predict_set(X)).astype(bool)
        covered = sets[np.arange(len(rows)), truth]
    return LabelFacts(
        log_loss=rows.log_loss(truth),
        brier=((rows.probability - wanted) ** 2).sum(axis=1),
        correct=rows.decisions(explainer.policy.cutoff) == truth,
        covered=covered,
    )


# The directions in which the weights of a component vary: one score, or a few, for each row.

MOST_AXES = 3
_LEAST_SHARE = 1e-8  # of the variance of the first axis: less is rounding


@final
@dataclass(frozen=True, eq=False)
class ComponentAxes:
    """Centres and directions of the weights of G components.

    Attributes
    ----------
    centre : array of shape (G, K)
        Mean weights over reference rows.
    axes : array of shape (G, K, R)
        Unit vectors; zeros where a component needs fewer than R. For two classes (−1, 1), so that
        the score is the log-odds of the second class over the first.
    """

    centre: Annotated[FloatArray, "G K"]
    axes: Annotated[FloatArray, "G K R"]

    @classmethod
    def fit(cls, weights: FloatArray) -> ComponentAxes:
        """Find the axes from the weights of some reference rows, (n, G, K)."""
        centre = weights.mean(axis=0)
        n_components, n_classes = centre.shape
        if n_classes == 2:
            axes = np.broadcast_to([[-1.0], [1.0]], (n_components, 2, 1)).copy()
            return cls(centre, axes)
        deviations = np.moveaxis(weights - centre, 1, 0)  # (G, n, K)
        found = [_principal(block) for block in deviations]
        width = max(axes.shape[1] for axes in found)
        axes = np.zeros((n_components, n_classes, width))
        for g, own in enumerate(found):
            axes[g, :, : own.shape[1]] = own
        return cls(centre, axes)

    @property
    def n_axes(self) -> int:
        """The most axes R of a component."""
        return int(self.axes.shape[2])

    @property
    def used(self) -> BoolArray:
        """Which axes a component has, boolean (G, R)."""
        used: BoolArray = (self.axes != 0.0).any(axis=1)
        return used

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return the scores (n, G, R) of weights (n, G, K)."""
        scores: FloatArray = np.einsum("ngk,gkr->ngr", weights - self.centre, self.axes)
        return scores

    def weights(self, g: int, scores: FloatArray) -> FloatArray:
        """Return the weights (n, K) of component g, relative to its centre, from scores (n, R)."""
        axes = self.axes[g]
        scale = 0.5 if len(axes) == 2 else 1.0  # the log-odds is twice the weight
        return np.asarray(scale * (scores @ axes.T))


def _principal(deviations: FloatArray) -> FloatArray:
    """Return up to three directions (K, r) of rows (n, K), those with a variance."""
    n_classes = deviations.shape[1]
    _, sizes, directions = np.linalg.svd(deviations, full_matrices=False)
    if sizes[0] == 0.0:  # constant so far: any direction will do, but not a symmetric one
        direction = np.sqrt(np.arange(1.0, n_classes + 1.0))
        direction -= direction.mean()
        return np.asarray(direction / np.linalg.norm(direction))[:, None]
    kept = min(int((sizes**2 > _LEAST_SHARE * sizes[0] ** 2).sum()), MOST_AXES, n_classes - 1)
    axes = directions[:kept]
    strongest = axes[np.arange(kept), np.abs(axes).argmax(axis=1)]
    signed: FloatArray = (axes * np.sign(strongest)[:, None]).T
    return signed


# Whether an explainer is the one that a monitor was fitted with.

_SLACK = 1e-6  # relative: another machine may round otherwise


@final
@dataclass(frozen=True, eq=False)
class ExplainerPrint:
    """What an explainer makes weights with: names, classes, means, coefficients, tempering.

    Attributes
    ----------
    component_names : tuple of strings
    classes : array of shape (K,)
    means, offset : arrays
        What the background means give, as the pool of the explainer holds it.
    beta : array
        Coefficients; empty if the model is not linear.
    factor : float
    """

    component_names: tuple[str, ...]
    classes: Annotated[NDArray[Any], "K", LABELS]
    means: FloatArray
    offset: Annotated[FloatArray, "K"]
    beta: FloatArray
    factor: Annotated[float, Limits(least=_SMALLEST)]

    @classmethod
    def of(cls, explainer: Explainer) -> ExplainerPrint:
        """Take the print of an explainer."""
        means, offset, beta = explainer.pool.constants
        return cls(
            explainer.component_names,
            explainer.classes,
            to_numpy(means).astype(np.float64),
            to_numpy(offset).astype(np.float64),
            np.zeros(0) if beta is None else to_numpy(beta).astype(np.float64),
            explainer.factor,
        )

    def check(self, explainer: Explainer) -> None:
        """Refuse an explainer with other weights."""
        other = ExplainerPrint.of(explainer)
        if other.component_names != self.component_names:
            self._refuse("components", self.component_names, other.component_names)
        if other.classes.tolist() != self.classes.tolist():
            self._refuse("classes", self.classes.tolist(), other.classes.tolist())
        if not np.isclose(other.factor, self.factor, rtol=_SLACK, atol=0.0):
            self._refuse("tempering factors", [self.factor], [other.factor])
        for name in ("means", "offset", "beta"):
            ours, theirs = getattr(self, name), getattr(other, name)
            slack = _SLACK * float(np.abs(ours).max(initial=0.0))
            if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=0.0, atol=slack):
                raise ValueError(
                    "The explainer is not the one that the monitor was fitted with: its weights "
                    "are relative to other means, or come from another model. Fit a new monitor."
                )

    def _refuse(self, what: str, ours: Any, theirs: Any) -> None:
        raise ValueError(
            f"The explainer is not the one that the monitor was fitted with: its {what} are "
            f"{listed(theirs)}, those of the monitor are {listed(ours)}. Fit a new monitor."
        )
