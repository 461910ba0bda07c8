"""Rows as an explainer sees them: their evidence, unseen categories and gaps, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy import sparse

from shafer._checks.frames import frame_of
from shafer._typing import BoolArray, FloatArray
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.unseen import UnseenCategories
from shafer.rows.checks import gaps_in

if TYPE_CHECKING:
    from shafer.explain.explainer import Explainer


@final
@dataclass(frozen=True, eq=False)
class ObservedRows:
    """What one pass through the model tells about rows.

    Attributes
    ----------
    evidence : MassEvidence
        As the explainer returns it, without error bars.
    bet : Evidence
        The same without a discount: the evidence behind the probabilities.
    plain : Evidence
        Before tempering and moderation.
    even : Evidence
        Tempered, without the factors of single rows that moderation has. A weight then depends on
        its own component only, for models in which it does so without moderation.
    row_factor : array of shape (n,)
        The factor of each row: the weights of ``bet`` are those of ``even`` times it.
    unseen : boolean array of shape (n,)
        Rows with a category that an encoder has not been trained on.
    gaps : array of shape (n,)
        The share of each row's inputs that is missing.
    """

    evidence: MassEvidence
    bet: Evidence
    plain: Evidence
    even: Evidence
    row_factor: FloatArray
    unseen: BoolArray
    gaps: FloatArray


def observed_rows(explainer: Explainer, X: Any) -> ObservedRows:
    """Pass rows through the model of an explainer once."""
    rows, plain = explainer._weighed(X)
    calibration = explainer.calibration
    factor = calibration.factor(rows)
    common = factor if isinstance(factor, float) else explainer.factor
    even = plain if common == 1.0 else plain.tempered(common)
    row_factor = np.broadcast_to(np.asarray(factor, dtype=np.float64) / common, (len(plain),))
    bet = even if isinstance(factor, float) else plain.tempered(factor)
    reliability = calibration.reliability(rows, bet.probability)
    return ObservedRows(
        bet if reliability is None else bet.discounted(reliability),
        bet,
        plain,
        even,
        row_factor,
        _unseen(explainer, rows.encoded, len(plain)),
        _gap_shares(X, len(plain)),
    )


def _unseen(explainer: Explainer, encoded: Any, n: int) -> BoolArray:
    found = UnseenCategories.behind(explainer._weighed.model.encoders)
    # Without ``hidden``, which would warn: what can be found is counted.
    return UnseenCategories(found.blocks, False).rows(encoded) if found.blocks else _none(n)


def _none(n: int) -> BoolArray:
    return np.zeros(n, dtype=bool)


def _gap_shares(X: Any, n: int) -> FloatArray:
    """Return the share of missing cells in each row of a table; 0 for other inputs."""
    if sparse.issparse(X):
        held = sparse.coo_array(X)
        bad = np.isnan(held.data) if held.dtype.kind == "f" else np.zeros(held.nnz, dtype=bool)
        counts = np.bincount(held.row[bad], minlength=n)
        return np.asarray(counts / max(1, held.shape[1]), dtype=np.float64)
    if frame_of(X) is None and len(getattr(X, "shape", ())) != 2:
        return np.zeros(n)
    gaps = gaps_in(X)
    return np.asarray(gaps.mean(axis=1) if gaps.shape[1] else np.zeros(n), dtype=np.float64)
