"""``Evidence``: what a classifier's probabilities are made of, under the user's words."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
    positions_of,
    to_numpy,
)
from shafer.decision import Opinion
from shafer.evidence import deciding
from shafer.evidence.component_groups import Groups, component_positions, read_groups
from shafer.evidence.discounted_evidence import DiscountedEvidence, read_reliability
from shafer.evidence.expert_statements import (
    labels_given,
    read_statements,
    statement_names,
    statement_weights,
)
from shafer.evidence.focal_set import FocalSet
from shafer.evidence.io import frame_table, notebook_display, npz_file
from shafer.evidence.weight_sources import DenseWeights, WeightSource, read_factor, scaled_weights
from shafer.kernels import Forms, LogTerms, Pooled

_LARGEST_TABLE = 2**26  # masses: half a gigabyte in double precision


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    r"""The pooled evidence for n instances, G components and K classes (Denœux 2019).

    Every component g gives each class k a weight of evidence :math:`w_{gk}`: for the class when
    positive, against it when negative. Dempster's rule pools them. Arrays about classes are
    (n, K) in the order of ``classes``, arrays about instances (n,), arrays about components
    (n, G, K). All are computed on first use, in the library (NumPy, PyTorch) of the input.

    Make one with :class:`shafer.Explainer`, :func:`shafer.least_commitment` or
    :meth:`from_weights`; take rows with ``ev[3]``, ``ev[10:20]`` or ``ev[mask]`` (always an
    ``Evidence``, also for one row).

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
    classes: NDArray[Any]
    component_names: tuple[str, ...]
    parts: tuple[str, ...] = ()
    """Names along the second axis, where the instances are the components of others."""

    @classmethod
    def from_source(
        cls,
        source: WeightSource,
        classes: NDArray[Any],
        component_names: tuple[str, ...],
        parts: tuple[str, ...] = (),
    ) -> Evidence:
        """Pool a checked source of weights; for use inside the library."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            pooled = source.pooled()
        for array in pooled:
            check_overflow(array, "weights of evidence")
        return cls(source, Pooled(*map(frozen, pooled)), classes, component_names, parts)

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
        """Take what an expert says, as evidence for one instance; one component a statement.

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
        >>> said = ["for A with weight 1.2", "against {B, C} with support 0.7"]
        >>> ev = shafer.Evidence.from_statements(said, classes=["A", "B", "C"])
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
    def n_classes(self) -> int:
        """The number K of classes."""
        return len(self.classes)

    @property
    def n_components(self) -> int:
        """The number G of components."""
        return len(self.component_names)

    def __getitem__(self, rows: Any) -> Evidence:
        """Take instances by position, slice, list of positions or boolean mask."""
        if array_api_compat.is_array_api_obj(rows):
            rows = to_numpy(rows)
        positions = np.atleast_1d(np.arange(len(self))[rows]).copy()
        if positions.ndim != 1:
            raise IndexError(f"Evidence is indexed by rows only; got {rows!r}.")
        xp = array_api_compat.array_namespace(self.pooled.logits)
        where = xp.asarray(positions, dtype=xp.int64, device=self.pooled.logits.device)
        pooled = Pooled(*(frozen(xp.take(array, where, axis=0)) for array in self.pooled))
        part = replace(self, source=self.source.rows(positions), pooled=pooled)
        part.unchanged_source()
        return part

    # -- the weights ----------------------------------------------------------------------------

    def unchanged_source(self) -> WeightSource:
        """Return where the weights come from; for use inside the library.

        The source may share the array of features that the evidence was made from. If that has
        been written to since, the weights are gone, and this says so rather than give others.
        """
        if self.source.has_changed(self.pooled):
            raise ValueError(
                "The features this evidence was made from have been changed in place, so its "
                "components can no longer be told apart. Make it again, from a copy."
            )
        return self.source

    def __getstate__(self) -> dict[str, Any]:
        self.unchanged_source()  # rather no copy than one whose parts belong to different data
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
        """Weight for less weight against, (n, K): a model's logits, centred over the classes."""
        return self.pooled.logits

    @cached_property
    def components(self) -> Evidence:
        """Each component's own mass function m_g: evidence with arrays of (n, G, K) and (n, G)."""
        source = DenseWeights(self.weights[..., None, :])
        return Evidence.from_source(source, self.classes, ("itself",), self.component_names)

    # -- the pooled mass function ---------------------------------------------------------------

    @cached_property
    def _opinion(self) -> Opinion:
        return Opinion(self.pooled)

    @property
    def _terms(self) -> LogTerms:
        return self._opinion.terms

    @property
    def _forms(self) -> Forms:
        return self._opinion.forms

    @property
    def probability(self) -> Array:
        """Normalised plausibilities, (n, K): the model's own ``predict_proba``."""
        return self._forms.probability

    @property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): one less the belief that it is another."""
        return self._forms.plausibility

    @property
    def belief(self) -> Array:
        """Belief in each class, (n, K): the mass of the class itself."""
        return self._forms.belief

    @property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): each set's mass shared equally among its classes."""
        return self._opinion.pignistic

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
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set.

        Raises
        ------
        FrameTooLargeError
            Past 2^26 values; ``focal_sets`` and ``mass_of`` have no such limit.
        """
        rows = math.prod(self.pooled.logits.shape[:-1])
        if max(rows, 1) * 2**self.n_classes > _LARGEST_TABLE:
            raise FrameTooLargeError(
                f"masses() would hold {rows} × 2^{self.n_classes} values; at most 2^26 are "
                "accepted. Take fewer rows, or use focal_sets(top) or mass_of(set)."
            )
        return kernels.all_masses(self._terms)

    def focal_sets(self, top: int = 10) -> list[list[FocalSet]]:
        """Find the largest focal sets of each row, largest first, without enumerating 2^K.

        Sets without mass are not focal and are left out, so a row may have fewer than ``top``.
        """
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be a positive integer; got {top!r}.")
        flat = [
            to_numpy(array).astype(np.float64).reshape(-1, array.shape[-1])
            for array in kernels.focal_logarithms(self._terms)
        ]
        labels = self.classes.tolist()
        return [
            [
                FocalSet(frozenset(labels[k] for k in inside), float(np.exp(log_mass)))
                for log_mass, inside in kernels.largest_focal_sets(
                    log_u, log_v, log_belief, float(log_scale[0]), int(top)
                )
            ]
            for log_u, log_v, log_belief, log_scale in zip(*flat, strict=True)
        ]

    # -- deciding -------------------------------------------------------------------------------

    def decide(
        self,
        rule: str = "interval_dominance",
        *,
        loss: Any = None,
        utility: Any = None,
        reject: float | None = None,
        alpha: float | None = None,
        tolerance: float | str | None = None,
        expectation: str | None = None,
    ) -> Array:
        r"""Choose classes, or acts, for each instance; docs/deciding.md says which rule when.

        Parameters
        ----------
        rule : str
            One that chooses one: ``"plausibility"`` (least lower risk), ``"belief"`` (least upper
            risk), ``"pignistic"``, ``"hurwicz"``, ``"minimax_regret"``. One that keeps all that
            may be right: ``"interval_dominance"``, ``"maximality"``, ``"e_admissible"``,
            ``"weak_dominance"``. Or ``"utility_set"``, the set that is the best answer as a set.
        loss, utility : array of shape (acts, K) or mapping of act name to K numbers, optional
            What each act costs, or is worth, if the class is k. By default the acts are to name
            one class, and a wrong name costs 1.
        reject : float, optional
            The cost of not deciding: a last act "reject" of that loss. Without a loss, from 0 to
            1, and a row whose risk exceeds it gets the full set.
        alpha : float, default=0.5
            Pessimism of ``"hurwicz"``: α · upper + (1 − α) · lower risk.
        tolerance : float or {"u65", "u80"}, default=0.65
            What a right answer of several classes is worth to ``"utility_set"``: γ from 0.5 (no
            more than a random guess) to 1 (as much as a single one), or a discounted utility.
        expectation : {"probability", "pignistic", "lower", "upper", "hurwicz"}
            Of the utility in ``"utility_set"``; probability by default.

        Returns
        -------
        array of bool, (n, K), or (n, acts) if a loss or a utility is given

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]], [[0.1, -0.1]]], classes=["no", "ill"])
        >>> ev.decide("e_admissible")
        array([[ True, False],
               [ True,  True]])
        >>> loss = {"treat": [1, 0], "send home": [0, 5], "ask a doctor": [0.4, 0.4]}
        >>> ev.decide("belief", loss=loss)
        array([[False, False,  True],
               [False, False,  True]])
        """
        asked = deciding.Question(rule, loss, utility, reject, alpha, tolerance, expectation)
        return deciding.decide(self._opinion, asked)

    def acts(self, rule: str = "interval_dominance", **options: Any) -> list[Any]:
        """Decide, in words: the names of the acts chosen for each instance, or of the classes.

        Takes what :meth:`decide` takes. Acts given by an array are named by their positions.

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]], [[0.1, -0.1]]], classes=["no", "ill"])
        >>> ev.acts()
        [('no',), ('no', 'ill')]
        >>> ev.acts("pignistic", loss={"treat": [1, 0], "send home": [0, 1]}, reject=0.4)
        [('send home',), ('reject',)]
        """
        return deciding.named_acts(self._opinion, self.classes, deciding.question(rule, options))

    def lower_risk(self, loss: Any) -> Array:
        """Lower expected loss of each act, (n, acts), for a loss of (acts, K) or by act name."""
        return deciding.lower_risk(self._opinion, loss)

    def upper_risk(self, loss: Any) -> Array:
        """Upper expected loss of each act, (n, acts), for a loss of (acts, K) or by act name."""
        return deciding.upper_risk(self._opinion, loss)

    # -- other evidence -------------------------------------------------------------------------

    def grouped(self, groups: Groups) -> Evidence:
        """Make coarser components: the signed sum of the weights inside each group.

        Probabilities stay as they are; disagreement inside a group no longer counts as conflict.

        Parameters
        ----------
        groups : mapping, sequence or "one"
            Group name -> components (by name or position); or a sequence of groups; or ``"one"``
            for a single component. Components in no group stay on their own.
        """
        read = read_groups(groups, self.component_names)
        source = self.unchanged_source().grouped(list(read.values()))
        return Evidence.from_source(source, self.classes, tuple(read), self.parts)

    def without(self, names: Any) -> Evidence:
        """Leave components out, by name or position: a missing component gives no evidence."""
        out = set(component_positions(names, self.component_names))
        stay = [g for g in range(self.n_components) if g not in out]
        kept = tuple(self.component_names[g] for g in stay)
        return Evidence.from_source(
            self.unchanged_source().keep(stay), self.classes, kept, self.parts
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
        for array in pooled:
            check_overflow(array, "weights of evidence")
        return replace(self, source=source, pooled=pooled)

    def discounted(self, reliability: Any) -> DiscountedEvidence:
        """Move a share 1 − reliability of all mass to the whole frame: the source may be wrong.

        Parameters
        ----------
        reliability : float or array of shape (n,)
            From 0, which leaves nothing but ignorance, to 1, which changes nothing.
        """
        return DiscountedEvidence(self, read_reliability(reliability, self.pooled.logits))

    # -- out of here ----------------------------------------------------------------------------

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per instance as a data frame (pandas, polars or pyarrow).

        Columns: ``probability_c``, ``belief_c``, ``plausibility_c``, ``pignistic_c`` for each
        class c, then ``ignorance``, ``conflict``, ``weight_of_conflict`` and ``decision`` (the set
        kept by interval dominance).
        """
        return frame_table.to_frame(self, backend)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the evidence to one file (NumPy's ``.npz``, no pickle), all of it or nothing."""
        npz_file.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Evidence:
        """Read evidence written by :meth:`save`; arrays come back as NumPy."""
        return cls.from_source(*npz_file.load(path))

    def __repr__(self) -> str:
        return notebook_display.text(self)

    def _repr_html_(self) -> str:
        return notebook_display.html(self)
