"""``WeighedModel``: from rows to weights of evidence, before any calibration."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias, final

import numpy as np

from shafer._checks.arrays import deferred_checks
from shafer._typing import Array
from shafer.evidence.errors import WeightErrors
from shafer.evidence.evidence import Evidence, prepare_on_device
from shafer.evidence.groups import MOST_ROWS, Groups, automatic_groups, check_group_count
from shafer.evidence.least_commitment import Pool, RunningMean
from shafer.explain.calibration import ModerationFit
from shafer.explain.laplace import LaplaceFit
from shafer.explain.missing import FilledRows, MissingInputs
from shafer.models.read_model import ModelRows, ReadModel
from shafer.rows.access import n_rows, take_rows
from shafer.rows.background import BackgroundParts
from shafer.rows.blocks import InputBlocks
from shafer.rows.checks import check_rows
from shafer.rows.columns import in_order, missing_columns_named, mixing_transformers
from shafer.rows.inputs import ColumnTrace, RowInputs
from shafer.rows.partition import is_renaming, names_of_components, read_partition
from shafer.rows.schema import ColumnSchema, InputSchema
from shafer.rows.usual import ColumnSample
from shafer.texts.inputs import HashedWords, first_vectorizer, text_rows

FindErrors: TypeAlias = Callable[[Any, ModelRows], WeightErrors]


@final
@dataclass(frozen=True, eq=False)
class WeighedModel:
    """A model and its means over the background: call it on rows to get their weights.

    Make one with :meth:`fit`, or with :meth:`identified` from saved means.

    Attributes
    ----------
    model : ReadModel
    pool : Pool
    means : array of shape (J,) or (G, K)
        The means of the model's terms over the background.
    names : tuple of strings or None
        Names of the components before grouping.
    groups : dict from name to positions, or None
        The components in each group.
    missing : MissingInputs or None
        How NaN is handled; None if it is an error.
    columns : tuple of strings or None
        Column names, of the training data or the background; frames are brought to this order.
    schema : InputSchema or None
        What the columns of the background held; new rows are read alike.
    """

    model: ReadModel
    pool: Pool
    means: Array
    names: tuple[str, ...] | None
    groups: dict[str, list[int]] | None
    missing: MissingInputs | None
    columns: tuple[str, ...] | None = None
    schema: InputSchema | None = None

    @classmethod
    def identified(
        cls,
        model: ReadModel,
        means: Array,
        classes: Any,
        names: tuple[str, ...] | None,
        groups: dict[str, list[int]] | None,
        missing: MissingInputs | None,
        columns: tuple[str, ...] | None,
        prior: str = "shared",
        schema: InputSchema | None = None,
    ) -> WeighedModel:
        """Settle the weights by least commitment, given the means."""
        pool = model.identify(means, classes, names, groups, prior)
        return cls(model, pool, means, names, groups, missing, columns, schema)

    @classmethod
    def fit(
        cls,
        model: ReadModel,
        first: Any,
        batches: Iterator[Any],
        *,
        columns: tuple[str, ...] | None,
        sample_weight: Any,
        groups: Groups | None,
        n_groups: int,
        names: Iterable[Any] | None,
        classes: Any,
        missing: str,
        moderation: ModerationFit | None,
        prior: str,
        laplace: LaplaceFit | None,
        read_again: Callable[[], ReadModel],
    ) -> WeighedModel:
        """Pass each batch of the background through the model once.

        Parameters
        ----------
        model : ReadModel
        first : the first batch
        batches : iterator of all batches
        columns : tuple of strings or None
            The order that frames are brought to.
        sample_weight, groups, n_groups, names, classes, missing, prior : as in ``Explainer``
        moderation : ModerationFit, optional
            Takes in every batch.
        laplace : LaplaceFit, optional
            Takes in every batch, for error bars.
        read_again : callable
            Reads the model in another process, for batches that lie elsewhere.
        """
        words = HashedWords(model.encoders if names is None else ())
        sums = BackgroundSums(words, moderation, laplace)
        if isinstance(batches, BackgroundParts):
            empty = sums.centred(model, first)
            sums.merge(batches.summed(SumPart(read_again, columns, empty)))
        else:
            for given in batches:
                sums.take_in(model, given, columns, sample_weight)
        mean = sums.mean
        known = names_of_components(model, columns, words) if names is None else names
        own = None if known is None else tuple(known)
        n_components = int(mean.shape[0])
        labels = model.head.classes if classes is None else classes
        partition = None
        if isinstance(groups, str) and groups == "auto":
            plain = cls.identified(model, mean, labels, own, None, None, columns)
            groups = plain.automatic_groups(first, check_group_count(n_groups))
        if groups is not None:
            named = names is not None
            partition = read_partition(groups, model, own, n_components, first, named=named)
            if partition is not None and is_renaming(partition, n_components):
                own, partition = tuple(partition), None
            if isinstance(groups, str) and groups == "one":
                prior = "shared"  # one component has the whole base rate
        gaps = None
        if missing != "error":  # then there is one batch
            blocks = InputBlocks.traced(model, first)
            gaps = MissingInputs.fit(model, sums.features, missing, sample_weight, blocks)
        schema = sums.described
        return cls.identified(model, mean, labels, own, partition, gaps, columns, prior, schema)

    def knowing(self, find: Callable[[], dict[int, ColumnSchema]]) -> WeighedModel:
        """Complete the schema by what the trained model knows, such as an encoder's categories."""
        schema = self.schema
        if schema is None and self.columns is not None:  # from a file of an older version
            schema = InputSchema.unknown(len(self.columns))
        if schema is None:
            return self
        known = {j: found for j, found in find().items() if j < len(schema)}
        return replace(self, schema=schema.completed(known))

    @property
    def prior(self) -> str:
        """Whether the components share the base rate, or it is a component of its own."""
        return "shared" if self.pool.base_rate is None else "own"

    @property
    def mixing(self) -> list[str]:
        """The transformers whose outputs are components, though they depend on several columns."""
        by_column = self.model.by_column and self.model.term_columns is None
        if not by_column or (self.groups is not None and len(self.groups) == 1):
            return []
        return mixing_transformers(self.model.encoders, self.columns)

    def __call__(self, X: Any, errors: FindErrors | None = None) -> tuple[ModelRows, Evidence]:
        """Pass X through the model once, and return it with its weights, and their errors."""
        with deferred_checks():
            rows, ev = self._of_rows(self._checked(X), errors)
            prepare_on_device(ev)
        return rows, ev

    def _of_rows(self, X: Any, errors: FindErrors | None) -> tuple[ModelRows, Evidence]:
        rows, filled = self._passed(X)
        ev = self._weighed(rows)
        if errors is not None:
            ev = replace(ev, errors=errors(X, rows))
        if self.missing is not None and filled is not None:
            groups = None if self.groups is None else list(self.groups.values())
            ev = self.missing.adjusted(ev, filled, groups)
        return rows, self._with_inputs(ev, X)

    def unadjusted(self, X: Any) -> Evidence:
        """Return the weights, without any change for missing inputs."""
        return self._weighed(self._passed(self._checked(X))[0])

    def _checked(self, X: Any) -> Any:
        check_rows(X, "X")
        return text_rows(self.model.encoders, self.as_trained(X), "X")

    def as_trained(self, X: Any) -> Any:
        """Return a frame with the columns of training in their order, and of their types."""
        X = in_order(X, self.columns)
        return X if self.schema is None else self.schema.conformed(X)

    def _passed(self, X: Any) -> tuple[ModelRows, FilledRows | None]:
        """Pass X through the model once."""
        with missing_columns_named(X, self.columns, "X"):
            if self.missing is None:
                return self.model.rows(X), None
            filled = self.missing.complete(self.model, X)
            return filled.rows, filled

    @cached_property
    def _trace(self) -> ColumnTrace:
        columns = self.columns
        texts = first_vectorizer(self.model.encoders) is not None
        if columns is None and self.model.by_column and not texts:
            columns = tuple(f"x{j}" for j in range(len(self.means)))
        return ColumnTrace(self.model, columns)

    def columns_of(self, component: int) -> tuple[str, ...]:
        """Return the names of the columns behind a component; empty if they are not known."""
        return self._inputs(None).columns(component)

    def _with_inputs(self, ev: Evidence, X: Any) -> Evidence:
        return replace(ev, inputs=self._inputs(X))

    def _inputs(self, X: Any) -> RowInputs:
        usual = None if self.schema is None else self.schema.usual
        inputs = RowInputs(X, self._trace, usual_values=usual)
        if self.groups is None:
            return inputs
        return inputs.grouped([*self.groups.values(), [len(self.means)]])

    def automatic_groups(self, X: Any, n_groups: int) -> dict[str, list[int]]:
        """Return groups of components that contradict each other in the rows of X."""
        n = n_rows(X)
        some = np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int).tolist()
        ev = self(take_rows(X, some))[1]
        return automatic_groups(ev.source, ev.component_names, n_groups)

    def as_model(self, X: Any) -> tuple[ModelRows, Evidence]:
        """Return what a call returns, with the weights behind the model's own probabilities."""
        rows, plain = self(X)
        own = self.model.calibration
        return rows, plain if own is None else plain.tempered(own.factor(rows))

    def _weighed(self, rows: ModelRows) -> Evidence:
        return self.model.weighed(self.pool, rows.terms, self.groups)


# All that is added up over the background, batch by batch; mergeable.


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
        self.schema: InputSchema | None = None
        self._sample = ColumnSample()
        self._batches = 0
        self._words = words
        self._moderation = moderation
        self._laplace = laplace

    @property
    def mean(self) -> Array:
        """The means of the terms."""
        return self.running.mean

    def take_in(
        self,
        model: ReadModel,
        given: Any,
        columns: tuple[str, ...] | None,
        sample_weight: Any = None,
    ) -> None:
        """Pass a batch of the background through the model once, and add it."""
        ordered = in_order(given, columns)
        batch = text_rows(model.encoders, ordered, "background")
        if batch is ordered:
            self._describe(InputSchema.of(batch))
            self._sample.take_in(batch, sample_weight)
        with model.clear_errors(batch):
            encoded = model.encoded(batch)
            self.features = model.accumulate(self.running, encoded, sample_weight)
        self._words.take_in(batch)
        if self._moderation is not None:
            self._moderation.take_in(ModelRows(encoded, self.features), sample_weight)
        if self._laplace is not None:
            self._laplace.take_in(self.features, sample_weight)

    @property
    def described(self) -> InputSchema | None:
        """What the columns held, and what is usual in them."""
        if self.schema is None:
            return None
        usual = self._sample.usual()
        fits = usual is not None and len(usual.most) == len(self.schema)
        return replace(self.schema, usual=usual if fits else None)

    def _describe(self, schema: InputSchema | None, batches: int = 1) -> None:
        if self._batches and self.schema is not None:
            schema = self.schema.joined(schema)
        elif self._batches:
            schema = None
        self.schema, self._batches = schema, self._batches + batches

    def centred(self, model: ReadModel, first: Any) -> Self:
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
        if other._batches:
            self._describe(other.schema, other._batches)
        self._sample.merge(other._sample)
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

    read: Callable[[], ReadModel]
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
