"""``BackgroundSums``: all that is added up over the background, batch by batch; mergeable."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self, final

from shafer._typing import Array
from shafer.evidence import RunningMean
from shafer.models.inputs.frame_order import in_order
from shafer.models.inputs.table_checks import check_rows
from shafer.models.inputs.texts.hashed_words import HashedWords
from shafer.models.inputs.texts.text_inputs import text_rows
from shafer.models.readers.adapted_model import AdaptedModel
from shafer.models.readers.model_rows import ModelRows
from shafer.models.uncertainty.laplace import LaplaceFit
from shafer.models.uncertainty.moderation import ModerationFit


@final
class BackgroundSums:
    """Means of the model's terms, and the curvature if it is asked for.

    Parameters
    ----------
    words : HashedWords
    moderation : ModerationFit, optional
        Takes in every batch.
    laplace : LaplaceFit, optional
        Takes in every batch, for error bars.

    Attributes
    ----------
    running : RunningMean
    features : array or None
        The features of the last batch of a linear model.
    """

    def __init__(
        self, words: HashedWords, moderation: ModerationFit | None, laplace: LaplaceFit | None
    ) -> None:
        self.running = RunningMean()
        self.features: Any = None
        self._words = words
        self._moderation = moderation
        self._laplace = laplace

    @property
    def mean(self) -> Array:
        """The means of the terms."""
        return self.running.mean

    def take_in(
        self,
        model: AdaptedModel,
        given: Any,
        columns: tuple[str, ...] | None,
        sample_weight: Any = None,
    ) -> None:
        """Pass a batch of the background through the model once, and add it."""
        batch = text_rows(model.encoders, in_order(given, columns), "background")
        with model.clear_errors(batch):
            encoded = model.encoded(batch)
            self.features = model.accumulate(self.running, encoded, sample_weight)
        self._words.take_in(batch)
        if self._moderation is not None:
            self._moderation.take_in(ModelRows(encoded, self.features), sample_weight)
        if self._laplace is not None:
            self._laplace.take_in(self.features, sample_weight)

    def centred(self, model: AdaptedModel, first: Any) -> Self:
        """Fix the centre of the curvature, so that the curvatures of parts can be added."""
        if self._moderation is None and self._laplace is None:
            return self
        with model.clear_errors(first):
            features = model.terms(model.encoded(first))
        if self._moderation is not None:
            self._moderation.centre_at(features)
        if self._laplace is not None:
            self._laplace.centre_at(features)
        return self

    def merge(self, other: BackgroundSums) -> Self:
        """Add the rows of another part, with the same centre."""
        self.running.merge(other.running)
        self._words.merge(other._words)
        if self._moderation is not None and other._moderation is not None:
            self._moderation.merge(other._moderation)
        if self._laplace is not None and other._laplace is not None:
            self._laplace.merge(other._laplace)
        return self


@final
@dataclass(frozen=True, eq=False)
class SumPart:
    """Sums one part of the background; sent to the processes where the parts are.

    Attributes
    ----------
    read : callable
        Reads the model again: what a reader returns cannot always be sent.
    columns : tuple of strings or None
        The order that frames are brought to.
    empty : BackgroundSums
        To start with.
    """

    read: Callable[[], AdaptedModel]
    columns: tuple[str, ...] | None
    empty: BackgroundSums

    def __call__(self, batches: Iterable[Any]) -> BackgroundSums:
        """Return the sums over some batches."""
        model, sums = self.read(), copy.deepcopy(self.empty)
        for batch in batches:
            check_rows(batch, "a batch of the background")
            sums.take_in(model, batch, self.columns)
        sums.features = None  # only the sums are sent back
        return sums
