"""``ReferenceRows``: what a monitor keeps of the rows that new rows are compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from shafer._typing import BoolArray, FloatArray
from shafer._validation import label_array, label_positions, to_numpy
from shafer.evidence.profiles.weight_profile import WeightProfile
from shafer.models import Explainer
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.observed_rows import observed_rows
from shafer.monitor.component_axes import ComponentAxes
from shafer.monitor.row_facts import (
    LabelFacts,
    RowFacts,
    label_facts,
    row_facts,
    watched,
    weights_of,
)
from shafer.monitor.tied_values import matched, merged, rounding_tolerance

LEAST_ROWS = 50
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
        Scores that differ by rounding are equal.
    labels : LabelFacts or None
        With known classes.
    tolerance : array of shape (G, R)
        How far equal scores may lie apart.
    """

    axes: ComponentAxes
    profile: WeightProfile
    held_out: BoolArray
    facts: RowFacts
    labels: LabelFacts | None
    tolerance: FloatArray

    @classmethod
    def fit(cls, explainer: Explainer, X: Any, y: Any, max_rows: int, seed: int) -> ReferenceRows:
        """Pass at most ``max_rows`` rows, chosen at random, through the model."""
        random = np.random.default_rng(seed)
        X, y = _sampled(explainer, X, y, max_rows, random)
        n = n_rows(X)
        held_out = np.zeros(n, dtype=bool)
        held_out[random.permutation(n)[: n // 2]] = True
        defining = observed_rows(explainer, take_rows(X, np.flatnonzero(~held_out).tolist()))
        kept = watched(explainer.component_names)
        size = max(64, _BLOCK // (len(kept) * len(explainer.classes)))
        axes = ComponentAxes.fit(weights_of(defining.bet[:size], kept))
        profile = WeightProfile.fit(defining.plain)
        facts = row_facts(explainer, X, axes, profile)
        itemsize = to_numpy(defining.bet.logits).dtype.itemsize
        tolerance = rounding_tolerance(facts.scores, itemsize)
        facts = replace(facts, scores=_with_ties(facts.scores, tolerance))
        labels = None if y is None else label_facts(explainer, X, y, facts)
        return cls(axes, profile, held_out, facts, labels, tolerance)

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def fresh_typicality(self) -> FloatArray:
        """Typicality of the rows that did not define the profile."""
        return self.facts.typicality[self.held_out]

    def alike(self, facts: RowFacts) -> RowFacts:
        """Return facts about other rows, with equal scores where they differ by rounding."""
        scores = np.empty_like(facts.scores)
        for g, r in np.ndindex(scores.shape[1:]):
            support = np.unique(self.facts.scores[:, g, r])
            scores[:, g, r] = matched(facts.scores[:, g, r], support, float(self.tolerance[g, r]))
        return replace(facts, scores=scores)


def _with_ties(scores: FloatArray, tolerance: FloatArray) -> FloatArray:
    tied = np.empty_like(scores)
    for g, r in np.ndindex(scores.shape[1:]):
        tied[:, g, r] = merged(scores[:, g, r], float(tolerance[g, r]))
    return tied


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
