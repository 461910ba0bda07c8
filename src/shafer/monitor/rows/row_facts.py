"""What is watched about rows: scores of the components, batch quantities, and losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer._validation import frame_columns, label_positions, to_numpy
from shafer.evidence import Evidence
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.profiles.weight_profile import WeightProfile
from shafer.models import Explainer
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.observed_rows import ObservedRows, observed_rows
from shafer.monitor.rows.component_axes import ComponentAxes

_SMALLEST = float(np.finfo(np.float64).tiny)
_BLOCK = 2**22  # weights held at a time
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

    logits: FloatArray
    row_factor: FloatArray
    scores: FloatArray
    weight_sums: FloatArray
    log_ignorance: FloatArray
    weight_of_disagreement: FloatArray
    unseen: BoolArray
    gaps: FloatArray
    typicality: FloatArray

    def __len__(self) -> int:
        return len(self.logits)

    @property
    def mean_weights(self) -> FloatArray:
        """Mean weights of the components, (G, K)."""
        mean: FloatArray = self.weight_sums.sum(axis=0) / len(self)
        return mean

    @property
    def decisions(self) -> NDArray[np.intp]:
        """Position of the most probable class of each row, (n,)."""
        decisions: NDArray[np.intp] = self.logits.argmax(axis=1)
        return decisions

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


def watched(names: tuple[str, ...]) -> list[int]:
    """Return the positions of the components that vary: all but the base rate."""
    return [g for g, name in enumerate(names) if name != BASE_RATE]


def weights_of(ev: Evidence, kept: list[int]) -> FloatArray:
    """Return the weights of some components, (n, G, K), in double precision."""
    source = ev.unchanged_source()
    chosen = source if len(kept) == len(ev.component_names) else source.keep(kept)
    return to_numpy(chosen.dense()).astype(np.float64)


def blocks(explainer: Explainer, X: Any) -> Iterator[ObservedRows]:
    """Give the rows of X in blocks whose weights fit in memory."""
    n = n_rows(X)
    width = len(explainer.component_names) * len(explainer.classes)
    size = max(1, min(_MOST_ROWS, _BLOCK // width))
    if n <= size:
        yield observed_rows(explainer, X)
        return
    for start in range(0, n, size):
        yield observed_rows(explainer, take_rows(X, slice(start, start + size)))


def row_facts(
    explainer: Explainer, X: Any, axes: ComponentAxes, profile: WeightProfile
) -> RowFacts:
    """Pass rows through the model, block by block."""
    kept = watched(explainer.component_names)
    parts = [_facts(rows, kept, axes, profile) for rows in blocks(explainer, X)]
    if len(parts) == 1:
        return parts[0]
    joined = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(RowFacts)
    }
    return RowFacts(**joined)


def _facts(
    rows: ObservedRows, kept: list[int], axes: ComponentAxes, profile: WeightProfile
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
    return sets is not None and (sets.groups is None or sets.column in (frame_columns(X) or ()))


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

    log_loss: FloatArray
    brier: FloatArray
    correct: BoolArray
    covered: BoolArray | None


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
        correct=rows.decisions == truth,
        covered=covered,
    )
