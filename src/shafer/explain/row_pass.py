"""``RowPass``: rows after one pass through a model, and what follows from it.

Everything is computed when it is asked for, and once: the plain evidence, the bet (tempered and
moderated), the evidence (discounted as well), typicality, unseen categories and gaps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy import sparse

from shafer._checks.frames import frame_of
from shafer._typing import Array, BoolArray, FloatArray
from shafer.decision.rules import BETTING_RULES
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.typicality import WeightProfile
from shafer.explain.calibration import Calibration
from shafer.explain.row_warnings import row_warnings
from shafer.explain.unseen import UnseenCategories
from shafer.models.read_model import ModelRows
from shafer.rows.access import with_row_labels
from shafer.rows.checks import gaps_in
from shafer.rows.schema import InputSchema


class RowPass(ABC):
    """Rows after one pass through a model."""

    @property
    @abstractmethod
    def evidence(self) -> MassEvidence:
        """The evidence that is shown: tempered, moderated and discounted."""

    @property
    @abstractmethod
    def bet(self) -> MassEvidence:
        """The evidence behind the probabilities: without the discount."""

    @property
    @abstractmethod
    def plain(self) -> MassEvidence:
        """The evidence before tempering and moderation, which reasons are taken from."""

    @property
    @abstractmethod
    def weighed(self) -> Evidence | None:
        """The evidence with the weights that the reasons of an answer come from; None without."""

    @abstractmethod
    def typicality(self, rows: Sequence[int] | None = None) -> Array | None:
        """Return how typical some rows are; None if the background is not at hand."""

    @abstractmethod
    def warnings(self) -> list[list[str]]:
        """Return what to know about each row before its answer is used; mostly nothing."""

    def decided_by(self, rule: str) -> MassEvidence:
        """Return the evidence that a rule decides with: a bet needs no discount."""
        return self.bet if rule in BETTING_RULES else self.evidence


@final
class ModelPass(RowPass):
    """Rows after one pass through the model of an explainer.

    Parameters
    ----------
    X : as the model takes it
    rows : ModelRows
        The encoded rows, and the terms of the model.
    plain : Evidence
        Their weights.
    calibration : Calibration
        The factors on the weights, and the discount.
    encoders : sequence of transformers
        Those before the model.
    profile : callable or None
        Returns the weights of the background rows; None if these are not at hand.
    columns : sequence of strings, optional
        The columns of the model, if it knows them.
    schema : InputSchema, optional
        What they held in training.
    """

    def __init__(
        self,
        X: Any,
        rows: ModelRows,
        plain: Evidence,
        calibration: Calibration,
        encoders: Sequence[Any],
        profile: Callable[[], WeightProfile] | None,
        columns: Sequence[str] | None = None,
        schema: InputSchema | None = None,
    ) -> None:
        self._X = X
        self.rows = rows
        self._plain = plain
        self._calibration = calibration
        self._encoders = encoders
        self._profile = profile
        self._columns = columns
        self._schema = schema

    @property
    def plain(self) -> Evidence:
        """The evidence before tempering and moderation."""
        return self._plain

    @cached_property
    def factor(self) -> float | FloatArray:
        """The factor on all weights, or one for each row."""
        return self._calibration.factor(self.rows)

    @cached_property
    def bet(self) -> Evidence:
        """The evidence behind the probabilities: tempered and moderated, not discounted."""
        return with_row_labels(_tempered(self._plain, self.factor), self._X, self.rows.steps)

    @cached_property
    def evidence(self) -> MassEvidence:
        """The same, discounted where the explainer does so."""
        if not self._calibration.discounts:  # then probabilities are not needed yet
            return self.bet
        reliability = self._calibration.reliability(self.rows, self.bet.probability)
        return self.bet if reliability is None else self.bet.discounted(reliability)

    @property
    def weighed(self) -> Evidence:
        """The evidence that is shown, before discounting."""
        return self.evidence.weighed

    @cached_property
    def even(self) -> Evidence:
        """Tempered, without the factors of single rows that moderation has.

        A weight then depends on its own component only, for models in which it does so without
        moderation.
        """
        return _tempered(self._plain, self._common_factor)

    @property
    def row_factor(self) -> FloatArray:
        """The factor of each row, (n,): the weights of ``bet`` are those of ``even`` times it."""
        factor = np.asarray(self.factor, dtype=np.float64) / self._common_factor
        return np.broadcast_to(factor, (len(self._plain),))

    @property
    def _common_factor(self) -> float:
        factor = self.factor
        return factor if isinstance(factor, float) else self._calibration.tempering

    def typicality(self, rows: Sequence[int] | None = None) -> Array | None:
        """Return how typical the weights of some rows are, by default of all of them."""
        if self._profile is None:
            return None
        if rows is None or "_typical" in vars(self):  # nothing is computed twice
            typical = self._typical if rows is None else self._typical[rows]
        else:
            typical = self._profile().typicality(self._plain[rows])
        categories = UnseenCategories.behind(self._encoders)
        if categories.blocks or categories.hidden:
            unseen = categories.rows(self.rows.encoded)
            typical = typical + 0.0  # a copy, of an array or a tensor
            typical[unseen if rows is None else unseen[rows]] = np.finfo(np.float64).tiny
        return typical

    @cached_property
    def _typical(self) -> Array:
        """How typical the weights of all rows are, whatever their categories."""
        assert self._profile is not None
        return self._profile().typicality(self._plain)

    def warnings(self) -> list[list[str]]:
        """Return gaps, unknown categories and rows unlike the training data, in words."""
        typical = None if self._profile is None else self._typical
        return row_warnings(self._X, self._columns, self._schema, self.unseen, typical)

    @cached_property
    def unseen(self) -> BoolArray:
        """Rows with a category that an encoder has not been trained on, (n,)."""
        found = UnseenCategories.behind(self._encoders)
        if not found.blocks:
            return np.zeros(len(self._plain), dtype=bool)
        # Without ``hidden``, which would warn: what can be found is counted.
        return UnseenCategories(found.blocks, False).rows(self.rows.encoded)

    @cached_property
    def gaps(self) -> FloatArray:
        """The share of each row's inputs that is missing, (n,); 0 for inputs that are no table."""
        X, n = self._X, len(self._plain)
        if sparse.issparse(X):
            held = sparse.coo_array(X)
            bad = np.isnan(held.data) if held.dtype.kind == "f" else np.zeros(held.nnz, dtype=bool)
            counts = np.bincount(held.row[bad], minlength=n)
            return np.asarray(counts / max(1, held.shape[1]), dtype=np.float64)
        if frame_of(X) is None and len(getattr(X, "shape", ())) != 2:
            return np.zeros(n)
        gaps = gaps_in(X)
        return np.asarray(gaps.mean(axis=1) if gaps.shape[1] else np.zeros(n), dtype=np.float64)


@final
class GuardedPass(RowPass):
    """Rows whose predictions are guarded against wrong inputs.

    Parameters
    ----------
    seen : RowPass
        The rows as they were given.
    guarded : Evidence
        The guarded prediction.
    """

    def __init__(self, seen: RowPass, guarded: Evidence) -> None:
        self._seen = seen
        self._guarded = guarded

    @property
    def evidence(self) -> Evidence:
        """The guarded prediction: it has no discount."""
        return self._guarded

    @property
    def bet(self) -> Evidence:
        """The guarded prediction."""
        return self._guarded

    @property
    def plain(self) -> MassEvidence:
        """The evidence of the rows as they were given."""
        return self._seen.plain

    @property
    def weighed(self) -> Evidence | None:
        """The evidence of the rows as they were given, before discounting."""
        return self._seen.weighed

    def typicality(self, rows: Sequence[int] | None = None) -> Array | None:
        """Return how typical the rows are as they were given."""
        return self._seen.typicality(rows)

    def warnings(self) -> list[list[str]]:
        """Return the warnings about the rows as they were given."""
        return self._seen.warnings()


@final
class CombinedPass(RowPass):
    """Rows whose evidence several sources gave; reliability and tempering are part of it.

    Parameters
    ----------
    combined : MassEvidence
        The combination.
    """

    def __init__(self, combined: MassEvidence) -> None:
        self._combined = combined

    @property
    def evidence(self) -> MassEvidence:
        """The combination."""
        return self._combined

    @property
    def bet(self) -> MassEvidence:
        """The combination."""
        return self._combined

    @property
    def plain(self) -> MassEvidence:
        """The combination."""
        return self._combined

    @property
    def weighed(self) -> Evidence | None:
        """The combination, if it has weights."""
        return self._combined if isinstance(self._combined, Evidence) else None

    def typicality(self, rows: Sequence[int] | None = None) -> Array | None:
        """Return None: the background of a combination is not kept."""
        del rows
        unknown: Array | None = None
        return unknown

    def warnings(self) -> list[list[str]]:
        """Return none: what the sources were trained on is not kept."""
        return [[] for _ in range(len(self._combined))]


def _tempered(ev: Evidence, factor: float | FloatArray) -> Evidence:
    return ev if isinstance(factor, float) and factor == 1.0 else ev.tempered(factor)
