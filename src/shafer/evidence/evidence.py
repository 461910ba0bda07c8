"""``Evidence``: the pooled weights of evidence behind a classifier's probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer import kernels
from shafer._errors import FrameTooLargeError
from shafer._typing import Array, Label
from shafer._validation import (
    check_overflow,
    class_labels,
    component_names,
    float_array,
    frozen,
    one_position,
    positions_of,
)
from shafer.evidence.component_conflict import own_conflict
from shafer.evidence.component_groups import Groups, component_positions, read_groups
from shafer.evidence.discounted_evidence import DiscountedEvidence, row_reliability
from shafer.evidence.expert_statements import (
    labels_given,
    read_statements,
    statement_names,
    statement_weights,
)
from shafer.evidence.focal_sets import FocalSet, pooled_focal_sets
from shafer.evidence.input_values import InputValues
from shafer.evidence.io import npz_file
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.reasons import ReasonOptions, reasons_frame
from shafer.evidence.weight_errors import WeightErrors
from shafer.evidence.weight_errors.error_intervals import (
    interval,
    known_errors,
    standard_deviations,
)
from shafer.evidence.weight_sources import (
    DenseWeights,
    WeightSource,
    read_factor,
    scaled_weights,
)
from shafer.evidence.weight_sources.weight_source import take
from shafer.kernels import Forms, LogTerms, Pooled
from shafer.opinion import PooledOpinion

_LARGEST_TABLE = 2**26  # masses: half a gigabyte in double precision


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evidence(MassEvidence):
    r"""The evidence for and against each of K classes, from G components, for n instances.

    Every component g gives each class k a weight of evidence :math:`w_{gk}`: for the class when
    positive, against it when negative. Dempster's rule pools them. Arrays about classes are
    (n, K) in the order of ``classes``, arrays about instances (n,), arrays about components
    (n, G, K). All are computed on first use, in the library (NumPy, PyTorch) of the input.

    Make one with :class:`shafer.Explainer`, :func:`shafer.least_commitment` or
    :meth:`from_weights`; take rows with ``ev[3]``, ``ev[10:20]`` or ``ev[mask]``. What it shares
    with other types of evidence is documented in :class:`shafer.MassEvidence`.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
    >>> ev.probability.round(3)
    array([[0.802, 0.198]])
    >>> ev.belief.round(3), ev.plausibility.round(3)
    (array([[0.772, 0.075]]), array([[0.925, 0.228]]))
    >>> ev.decide("interval_dominance")
    array([[ True, False]])
    """

    source: WeightSource
    pooled: Pooled
    component_names: tuple[str, ...]
    parts: tuple[str, ...] = ()
    """Names along the second axis, where the rows are the components of instances."""
    inputs: InputValues | None = None
    """Values of the inputs, for :meth:`reasons`; None if they are not known. Not saved."""
    errors: WeightErrors | None = None
    """How uncertain the weights are, if it is known; see :attr:`weights_std`."""

    @classmethod
    def from_source(
        cls,
        source: WeightSource,
        classes: NDArray[Any],
        component_names: tuple[str, ...],
        parts: tuple[str, ...] = (),
        index: Any = None,
        inputs: InputValues | None = None,
        errors: WeightErrors | None = None,
    ) -> Evidence:
        """Pool a checked source of weights; for use inside the library."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            pooled = source.pooled()
        for array in pooled:
            check_overflow(array, "weights of evidence")
        held = Pooled(*map(frozen, pooled))
        return cls(
            source, held, component_names, parts, inputs, errors, classes=classes, index=index
        )

    @classmethod
    def from_weights(
        cls, weights: Any, *, classes: Any = None, names: Iterable[Any] | None = None
    ) -> Evidence:
        """Take weights of evidence as they are, (n, G, K).

        Parameters
        ----------
        weights : array of shape (n, G, K)
            Positive for the class, negative against it.
        classes : array of shape (K,), optional
            Class labels; 0..K−1 by default.
        names : sequence of G strings, optional
            Names of the components; x0, x1, ... by default.
        """
        array = float_array(weights, "weights", ndim=(3,))
        n, n_components, n_classes = array.shape
        if n == 0 or n_components == 0:
            raise ValueError(f"weights must not be empty; got shape {tuple(array.shape)}.")
        xp = array_api_compat.array_namespace(array)
        source = DenseWeights(xp.astype(array, array.dtype, copy=True))
        return cls.from_source(
            source, class_labels(classes, n_classes), component_names(names, n_components)
        )

    @classmethod
    def from_statements(cls, statements: Any, *, classes: Any) -> Evidence:
        """Read an expert's statements as evidence for one instance, one component for each.

        Parameters
        ----------
        statements : sequence of statements, or one
            Words, ``"for A with weight 1.2"`` or ``"against {B, C} with support 0.7"``; or
            mappings, ``{"against": ["B", "C"], "support": 0.7, "name": "radiologist"}``. A support
            s below 1 is a weight of −ln(1 − s).
        classes : sequence of K labels

        Raises
        ------
        ValueError
            If a statement supports a set of several classes but not all but one:
            :meth:`shafer.fusion.FiniteEvidence.from_statements` takes those.

        Examples
        --------
        >>> import shafer
        >>> statements = ["for A with weight 1.2", "against {B, C} with support 0.7"]
        >>> ev = shafer.Evidence.from_statements(statements, classes=["A", "B", "C"])
        >>> ev.belief.round(3), ev.component_names
        (array([[0.91, 0.  , 0.  ]]), ('for A', 'against {B, C}'))
        """
        listed = labels_given(classes)
        labels = class_labels(classes, len(listed))
        read = read_statements(statements, labels)
        source = DenseWeights(statement_weights(read, labels)[None])
        return cls.from_source(source, labels, tuple(statement_names(read)))

    # -- the shape ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.pooled.logits.shape[0])

    @property
    def n_components(self) -> int:
        """The number G of components."""
        return len(self.component_names)

    def _rows(self, positions: NDArray[np.intp]) -> Evidence:
        pooled = Pooled(*(frozen(take(array, positions, axis=0)) for array in self.pooled))
        part = replace(
            self,
            source=self.source.rows(positions),
            pooled=pooled,
            index=None,
            inputs=None if self.inputs is None else self.inputs.rows(positions),
            errors=None if self.errors is None else self.errors.rows(positions),
        )
        part.unchanged_source()
        return part

    @property
    def _axis_names(self) -> tuple[str, ...]:
        return self.parts

    def _size_text(self) -> str:
        if self.parts:
            return f"{len(self)} instances × {len(self.parts)} components, each on its own"
        return f"{len(self)} instances, {self.n_components} components"

    # -- the weights ----------------------------------------------------------------------------

    def unchanged_source(self) -> WeightSource:
        """Return the source of the weights; for use inside the library.

        The source may share the user's array of features. If that array was written to since, the
        weights are lost, and this raises an error rather than give other weights.
        """
        if self.source.has_changed(self.pooled):
            raise ValueError(
                "The array of features behind this evidence was changed in place, so its weights "
                "are lost. Make the evidence again, from a copy of the array."
            )
        return self.source

    def __getstate__(self) -> dict[str, Any]:
        self.unchanged_source()  # a copy must not mix old and new data
        return self.__dict__

    @cached_property
    def weights(self) -> Array:
        """Weights of evidence w_gk, (n, G, K): positive for the class, negative against it."""
        return frozen(self.unchanged_source().dense())

    @property
    def weights_for(self) -> Array:
        """Total weight of the evidence for each class, w⁺, (n, K)."""
        return self.pooled.weights_for

    @property
    def weights_against(self) -> Array:
        """Total weight of the evidence against each class, w⁻, (n, K)."""
        return self.pooled.weights_against

    @property
    def logits(self) -> Array:
        """Weight for − weight against, (n, K): a model's logits, centred over the classes."""
        return self.pooled.logits

    @property
    def base_rate(self) -> Array:
        """Logits of a row whose terms have their background means, (n, K); 0 if not known.

        The components share it, or it is the component ``"base rate"``: see ``prior`` in
        :class:`shafer.Explainer`.
        """
        xp = array_api_compat.array_namespace(self.logits)
        shares = self.unchanged_source().base_shares()
        shape = (*shares.shape[:-2], self.n_components, self.n_classes)
        total = xp.sum(xp.broadcast_to(shares, shape), axis=-2)
        return xp.broadcast_to(total, self.logits.shape)

    def contrast(self, a: Label, b: Label) -> Array:
        """Weights of the components for class ``a`` over class ``b``, (n, G).

        The weight for a minus the weight for b: what each component adds to the log-odds
        ln(p_a / p_b), which is the sum over the components. A weight of +1 multiplies the odds by
        2.7. For two classes these are the units of SHAP values, twice the weights for the class.

        Parameters
        ----------
        a, b : class labels

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
        >>> ev.contrast("no", "yes")
        array([[ 1.8, -0.4]])
        """
        first = one_position(a, self.classes, "a")
        second = one_position(b, self.classes, "b")
        weights = self.unchanged_source().of_classes([first, second]).dense()
        return weights[..., 0] - weights[..., 1]

    def reasons(
        self,
        for_: Label | None = None,
        top: int = 4,
        codes: Mapping[str, Any] | None = None,
        distinct: bool = True,
        *,
        over: Label | None = None,
        keep: str = "all",
        backend: str | None = "pandas",
    ) -> Any:
        """Return the components with the largest weights for a class, as a data frame.

        Parameters
        ----------
        for_ : class label, optional
            By default the class with the largest probability in each row.
        top : int
            Number of reasons for each row, if there are so many components.
        codes : mapping, optional
            The user's reason codes: component, or column of the data -> code, or (code, text).
        distinct : bool
            Count components with the same code once; without a code, those of the same column of
            the data. The one with the largest weight is named.
        over : class label, optional
            Rank by the weight for ``for_`` over this class, as in :meth:`contrast`.
        keep : {"all", "positive", "clear"}
            A row may have fewer than ``top`` components with a positive weight. ``"all"`` lists
            the next ones too; a component whose weight is not positive is not a reason for the
            class. ``"positive"`` leaves these out, ``"clear"`` also those whose 90 % interval
            holds 0, for evidence with error bars.
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default pandas; None takes the library in use.

        Returns
        -------
        data frame with one row for each instance and rank
            ``row`` (position of the instance), ``rank`` (from 1), ``component``, ``value`` (of the
            input; missing if not known), ``weight``, ``share`` (of all positive weights for the
            class), ``class``; with error bars ``lower`` and ``upper``, the 90 % interval; with
            codes ``code`` and ``text``; ``index`` if the evidence has one. The base rate is not a
            reason, and is left out.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.linear_model import LogisticRegression
        >>> heart = shafer.datasets.load_heart()
        >>> X = heart.data[:, [heart.feature_names.index(name) for name in ("age", "ldl")]]
        >>> model = LogisticRegression(C=1e6).fit(X, heart.target)
        >>> explainer = shafer.Explainer(model, X, names=["age", "ldl"], prior="own")
        >>> table = explainer(X[:1]).reasons(for_=1, top=2)
        >>> table[["rank", "component", "value", "weight"]].round(2)
           rank component  value  weight
        0     1       age  52.00    0.27
        1     2       ldl   5.73    0.09
        """
        asked = ReasonOptions(top, codes, distinct, keep)
        return reasons_frame(self, for_, over, asked, backend)

    # -- error bars -----------------------------------------------------------------------------

    def _known_errors(self) -> WeightErrors:
        self.unchanged_source()  # no errors for weights that are lost
        return known_errors(self.errors)

    @cached_property
    def weights_std(self) -> Array:
        """Standard errors of the weights, (n, G, K); see ``errors`` in :class:`shafer.Explainer`.

        They measure how well the training data determine the weights.
        """
        errors = self._known_errors()
        return frozen(standard_deviations(errors, np.eye(self.n_classes), self.logits))

    def weight_interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Return the lower and the upper end of an interval for each weight, two (n, G, K).

        Parameters
        ----------
        level : float
            The share of such intervals that hold the true weight, if the model has the right form.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.linear_model import LogisticRegression
        >>> heart = shafer.datasets.load_heart()
        >>> X = heart.data[:, [heart.feature_names.index("age"), heart.feature_names.index("ldl")]]
        >>> model = LogisticRegression().fit(X, heart.target)
        >>> ev = shafer.Explainer(model, X, errors="laplace", prior="own")(X[:1])
        >>> lower, upper = ev.weight_interval(level=0.9)
        >>> lower[0, :, 1].round(2), ev.weights[0, :, 1].round(2), upper[0, :, 1].round(2)
        (array([ 0.2 ,  0.05, -0.5 ]), array([ 0.27,  0.09, -0.4 ]), array([ 0.34,  0.14, -0.31]))
        """
        errors = self._known_errors()
        return interval(self.weights, self.weights_std, errors, level)

    def contrast_std(self, a: Label, b: Label) -> Array:
        """Return the standard errors of the contrast of two classes, (n, G).

        The weights for the two classes are correlated, which is taken into account.
        """
        errors = self._known_errors()
        combination = np.zeros((1, self.n_classes))
        combination[0, one_position(a, self.classes, "a")] += 1.0
        combination[0, one_position(b, self.classes, "b")] -= 1.0
        return standard_deviations(errors, combination, self.logits)[..., 0]

    def contrast_interval(self, a: Label, b: Label, level: float = 0.9) -> tuple[Array, Array]:
        """Return the lower and the upper end of an interval for each contrast, two (n, G).

        Parameters
        ----------
        a, b : class labels
        level : float
            As in :meth:`weight_interval`.
        """
        errors = self._known_errors()
        return interval(self.contrast(a, b), self.contrast_std(a, b), errors, level)

    @cached_property
    def components(self) -> Evidence:
        """Each component's own mass function m_g: evidence with arrays of (n, G, K) and (n, G)."""
        source = DenseWeights(self.weights[..., None, :])
        return Evidence.from_source(
            source, self.classes, ("itself",), self.component_names, self.index
        )

    # -- the pooled mass function ---------------------------------------------------------------

    @cached_property
    def _opinion(self) -> PooledOpinion:
        return PooledOpinion(self.pooled)

    @property
    def _terms(self) -> LogTerms:
        return self._opinion.terms

    @property
    def _forms(self) -> Forms:
        return self._opinion.forms

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame m(Θ), (n,): what the evidence leaves open."""
        return self._forms.ignorance

    @property
    def conflict(self) -> Array:
        """Total conflict κ, (n,): the mass of the empty set before normalising."""
        return self._forms.conflict

    @cached_property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict −ln(1 − κ), (n,): it does not saturate."""
        return frozen(kernels.weight_of_conflict(self._terms))

    @cached_property
    def conflict_for_against(self) -> Array:
        """Conflict between all evidence for and all evidence against, (n,): the paper's κ."""
        return frozen(kernels.conflict_for_against(self._terms))

    @cached_property
    def weight_of_disagreement(self) -> Array:
        """Weight of the conflict between components, −ln(1 − disagreement), (n,)."""
        if self.n_components == 1:
            return self._constant(0.0)
        own = own_conflict(self.unchanged_source())
        xp = array_api_compat.array_namespace(own)
        return frozen(xp.clip(self.weight_of_conflict - own, min=0.0))

    @cached_property
    def disagreement(self) -> Array:
        r"""How much the components contradict each other, (n,) from 0 to 1.

        With three or more classes, one component may have conflict by itself: it supports two
        classes. The disagreement is the conflict κ without that, the conflict of combining the
        normalised mass functions of the components:
        :math:`1 - \kappa = \prod_g (1 - \kappa_g) \cdot (1 - disagreement)`. It is 0 for a single
        component, and equals κ for the two classes of a model.
        """
        xp = array_api_compat.array_namespace(self.weight_of_disagreement)
        return frozen(-xp.expm1(-self.weight_of_disagreement))

    # -- sets of classes ------------------------------------------------------------------------

    def _split(self, subset: Label | Iterable[Label]) -> tuple[list[int], list[int]]:
        inside = positions_of(subset, self.classes)
        outside = set(range(self.n_classes)).difference(inside)
        return inside, sorted(outside)

    def _constant(self, value: float) -> Array:
        xp = array_api_compat.array_namespace(self.pooled.logits)
        return xp.full_like(self.pooled.logits[..., 0], value)

    def mass_of(self, subset: Label | Iterable[Label]) -> Array:
        """Mass of one set of class labels, (n,)."""
        inside, outside = self._split(subset)
        if not inside:
            return self._constant(0.0)
        if len(inside) == 1:
            return self.belief[..., inside[0]]
        return kernels.mass_of(self._terms, inside, outside)

    def belief_of(self, subset: Label | Iterable[Label]) -> Array:
        """Belief that the class is in a set of labels, (n,)."""
        inside, outside = self._split(subset)
        if not inside:
            return self._constant(0.0)
        return kernels.belief_of(self._terms, inside, outside)

    def plausibility_of(self, subset: Label | Iterable[Label]) -> Array:
        """Plausibility that the class is in a set of labels, (n,)."""
        inside, _ = self._split(subset)
        if not inside:
            return self._constant(0.0)
        return kernels.plausibility_of(self._terms, inside)

    def commonality_of(self, subset: Label | Iterable[Label]) -> Array:
        """Commonality of a set of labels, (n,): the mass of all sets that contain it."""
        inside, _ = self._split(subset)
        if not inside:
            return self._constant(1.0)
        if len(inside) == 1:
            return self.plausibility[..., inside[0]]
        return kernels.commonality_of(self._terms, inside)

    def masses(self) -> Array:
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set."""
        rows = math.prod(self.pooled.logits.shape[:-1])
        if max(rows, 1) * 2**self.n_classes > _LARGEST_TABLE:
            raise FrameTooLargeError(
                f"masses() would hold {rows} × 2^{self.n_classes} values; at most 2^26 are "
                "accepted. Take fewer rows, or use focal_sets(top) or mass_of(set)."
            )
        return kernels.all_masses(self._terms)

    def focal_sets(self, top: int = 10) -> list[list[FocalSet]]:
        """Find the largest focal sets of each row, largest first, without enumerating 2^K."""
        return pooled_focal_sets(self._terms, self.classes, top)

    # -- other evidence -------------------------------------------------------------------------

    def grouped(self, groups: Groups) -> Evidence:
        """Make coarser components: each is the signed sum of the weights in a group.

        Probabilities stay as they are; disagreement inside a group no longer counts as conflict.

        Parameters
        ----------
        groups : mapping, sequence or "one"
            Group name -> components (by name or position); or a sequence of groups; or ``"one"``
            for a single component. Components in no group stay on their own.
        """
        read = read_groups(groups, self.component_names)
        members = list(read.values())
        source = self.unchanged_source().grouped(members)
        inputs = None if self.inputs is None else self.inputs.grouped(members)
        errors = None if self.errors is None else self.errors.grouped(members)
        return Evidence.from_source(
            source, self.classes, tuple(read), self.parts, self.index, inputs, errors
        )

    def without(self, names: Any) -> Evidence:
        """Leave components out, by name or position, as if they had no evidence."""
        out = set(component_positions(names, self.component_names))
        stay = [g for g in range(self.n_components) if g not in out]
        kept = tuple(self.component_names[g] for g in stay)
        source = self.unchanged_source().keep(stay)
        inputs = None if self.inputs is None else self.inputs.grouped([[g] for g in stay])
        errors = None if self.errors is None else self.errors.keep(stay)
        return Evidence.from_source(
            source, self.classes, kept, self.parts, self.index, inputs, errors
        )

    def tempered(self, factor: Any) -> Evidence:
        """Multiply all weights by a factor ≥ 0: temperature scaling, 1/factor the temperature.

        Parameters
        ----------
        factor : float or array of shape (n,)
            One for all instances, or one for each.
        """
        read = read_factor(factor, self.pooled.logits)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            source = scaled_weights(self.source, read)
            by_class = read if isinstance(read, float) else read[..., None]
            pooled = Pooled(*(frozen(array * by_class) for array in self.pooled))
            errors = None if self.errors is None else self.errors.scaled(read)
        for array in pooled:
            check_overflow(array, "weights of evidence")
        return replace(self, source=source, pooled=pooled, errors=errors)

    def discounted(self, reliability: Any) -> DiscountedEvidence:
        """Discount the evidence: a share 1 − reliability of all mass moves to the whole frame.

        Parameters
        ----------
        reliability : float or array of shape (n,)
            From 0 (only ignorance is left) to 1 (nothing changes).
        """
        read = row_reliability(reliability, self.pooled.logits)
        return DiscountedEvidence(self, read, classes=self.classes, index=self.index)

    # -- out of here ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the evidence to one file (NumPy's ``.npz``, no pickle)."""
        npz_file.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Evidence:
        """Read evidence written by :meth:`save`; arrays come back as NumPy."""
        return cls.from_source(*npz_file.load(path))
