"""``MassEvidence``: a mass function for each instance, over named classes."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Never, Self

import numpy as np
from array_api_compat import is_array_api_obj
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import positions_of
from shafer._masses.masses import Masses
from shafer._typing import Array, Label
from shafer.decision.acts import read_acts, read_loss
from shafer.decision.policy import Policy, first_largest
from shafer.decision.rules import choose, chosen_names
from shafer.evidence.notebook import html, paragraph, text
from shafer.evidence.table import evidence_columns, native_frame

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence


_COSTS = ("loss", "utility", "reject")
_OPTIONS = (*_COSTS, "alpha", "tolerance", "expectation")  # of a decision, besides its rule


class FocalSet(NamedTuple):
    """A set of classes that holds mass, and how much.

    Attributes
    ----------
    classes : frozenset of labels
        The set of classes.
    mass : float
        Its mass.

    See Also
    --------
    shafer.MassEvidence.focal_sets : Finds the largest of them.

    Examples
    --------
    >>> from shafer.evidence import FocalSet
    >>> FocalSet(frozenset(["yes"]), 0.25).mass
    0.25
    """

    classes: frozenset[Label]
    mass: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MassEvidence(ABC):
    r"""Belief, plausibility, ignorance and decisions for each of n instances, over K classes.

    This is what all types of evidence share: a mass function for each instance, which distributes
    belief over sets of classes. :class:`shafer.Evidence` has weights of evidence and
    components; :class:`shafer.DiscountedEvidence` comes from a source that may be wrong;
    :class:`shafer.fusion.MixedEvidence` and :class:`shafer.fusion.FiniteEvidence` are results of
    :func:`shafer.combine`. All are frozen. Arrays about classes are (n, K) in the order of
    ``classes``, arrays about instances (n,).

    A new type implements the abstract names below.

    Attributes
    ----------
    classes : array of shape (K,)
        Class labels.
    index : pandas index or array of shape (n,), optional
        Row labels, which :meth:`to_frame` gives to a pandas frame; see :meth:`with_index`.

    See Also
    --------
    shafer.Evidence : Evidence with weights and components.
    shafer.DiscountedEvidence : Evidence from a source that may be wrong.
    shafer.combine : Combines the evidence of several sources.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]], [[0.1, -0.1]]], classes=["no", "yes"])
    >>> isinstance(ev, shafer.MassEvidence), len(ev), ev.n_classes
    (True, 2, 2)
    >>> ev.ignorance.round(3)
    array([0.165, 0.819])
    """

    classes: NDArray[Any]
    index: Any = None

    # Names of the arrays (n,) and (n, K) that tables show; a type may have more.
    _scalar_columns: ClassVar[tuple[str, ...]] = (
        "lack",
        "contradiction",
        "ignorance",
        "conflict",
        "weight_of_conflict",
    )
    _class_columns: ClassVar[tuple[str, ...]] = ("belief", "plausibility", "pignistic")

    # -- rows -----------------------------------------------------------------------------------

    @abstractmethod
    def __len__(self) -> int:
        """Return the number n of instances."""

    @abstractmethod
    def _rows(self, positions: NDArray[np.intp]) -> Self:
        """Take instances by position; the index is taken by the caller."""

    def __getitem__(self, rows: Any) -> Self:
        """Take instances by position, slice, list of positions or boolean mask.

        The result is evidence of the same type, also for one row.
        """
        if is_array_api_obj(rows):
            rows = to_numpy(rows)
        if isinstance(rows, str):
            raise IndexError(
                f"Evidence is indexed by position; got the label {rows!r}. For the row with this "
                f"label: ev.of({rows!r})."
            )
        positions = np.atleast_1d(np.arange(len(self))[rows]).copy()
        if positions.ndim != 1:
            raise IndexError(
                f"Evidence is indexed by rows only; got {rows!r}. For a class or component, index "
                "an array: ev.belief[row, k]."
            )
        part = self._rows(positions)
        return part if self.index is None else replace(part, index=self.index[positions])

    @property
    def n_classes(self) -> int:
        """The number K of classes."""
        return len(self.classes)

    def with_index(self, index: Any) -> Self:
        """Return a copy with row labels, which :meth:`to_frame` gives to a pandas frame.

        Parameters
        ----------
        index : pandas index or sequence of n labels, or None
            None removes the row labels.

        Returns
        -------
        evidence of the same type
        """
        return replace(self, index=_row_labels(index, len(self)))

    # -- the mass function ----------------------------------------------------------------------

    @property
    @abstractmethod
    def _masses(self) -> Masses:
        """The mass function, which knows the classes by their positions."""

    @property
    def belief(self) -> Array:
        """Belief in each class, (n, K): the mass of the class itself."""
        return self._masses.belief

    @property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): 1 − belief in all other classes."""
        return self._masses.plausibility

    @property
    def probability(self) -> Array:
        """Normalised plausibilities of this mass function, (n, K)."""
        return self._masses.probability

    @property
    def betting_probability(self) -> Array:
        """The probabilities to bet with, (n, K): what ``predict_proba`` returns.

        They are ``probability``, except for discounted evidence: there they are the probabilities
        before discounting.
        """
        return self._masses.base.probability

    @property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): each set's mass shared equally among its classes."""
        return self._masses.pignistic

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame m(Θ), (n,): what the evidence leaves open."""
        return self._masses.ignorance

    @property
    def conflict(self) -> Array:
        """Conflict κ, (n,): the mass of the empty set before normalising.

        For discounted evidence, the conflict before discounting.
        """
        return self._masses.conflict

    @property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict −ln(1 − κ), (n,): it does not saturate."""
        return self._masses.weight_of_conflict

    @property
    def surprise(self) -> Array:
        """How far the most probable class is from certain, (n,) in nats: −ln of its probability.

        It is the sum of ``lack`` and ``contradiction``. It does not depend on the base rate, the
        groups and the background, because ``probability`` does not. For discounted evidence, all
        three are those of the discounted mass function.
        """
        return self.lack + self.contradiction

    @property
    def lack(self) -> Array:
        r"""What the evidence leaves open, (n,) in nats: :math:`\ln \sum_k pl_k`, from 0 to ln K.

        It is 0 where all mass is on single classes, and ln K without any evidence (Denœux 2025:
        imprecision).
        """
        return self._masses.lack

    @property
    def contradiction(self) -> Array:
        r"""How much evidence denies every class, (n,) in nats: :math:`-\ln \max_k pl_k`, to ln K.

        It is 0 where nothing speaks against the most probable class (Denœux 2025: conflict).
        """
        return self._masses.contradiction

    def of(self, row_label: Any) -> Self:
        """Take the rows with a label of the index, as :meth:`with_index` or a data frame gave it.

        Parameters
        ----------
        row_label : label
            Such as ``"pat160"``.

        Returns
        -------
        MassEvidence
            Of the same type; several rows if they have the same label.

        Raises
        ------
        ValueError
            If no row has the label, or the rows have none.

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]], [[-0.2, 0.2]]])
        >>> ev.with_index(["pat1", "pat2"]).of("pat2").probability.round(2)
        array([[0.4, 0.6]])
        """
        if self.index is None:
            raise ValueError(
                f"The rows of this evidence have no labels, so there is no {row_label!r}. Take "
                "rows by position, such as ev[3], or name them: ev.with_index(labels)."
            )
        rows = [i for i, own in enumerate(self.index) if _is_same(own, row_label)]
        if not rows:
            some = ", ".join(repr(own) for own in list(self.index[:5]))
            raise ValueError(f"No row has the label {row_label!r}; the first labels are {some}.")
        return self[rows]

    # -- sets of classes ------------------------------------------------------------------------

    def mass_of(self, subset: Label | Iterable[Label]) -> Array:
        """Mass of one set of class labels, (n,).

        Parameters
        ----------
        subset : label or iterable of labels
            The set of classes.

        Returns
        -------
        array of shape (n,)
            From 0 to 1.
        """
        return self._masses.mass_of(positions_of(subset, self.classes))

    def belief_of(self, subset: Label | Iterable[Label]) -> Array:
        """Belief that the class is in a set of labels, (n,).

        Parameters
        ----------
        subset : label or iterable of labels
            The set of classes.

        Returns
        -------
        array of shape (n,)
            From 0 to 1.
        """
        return self._masses.belief_of(positions_of(subset, self.classes))

    def plausibility_of(self, subset: Label | Iterable[Label]) -> Array:
        """Plausibility that the class is in a set of labels, (n,).

        Parameters
        ----------
        subset : label or iterable of labels
            The set of classes.

        Returns
        -------
        array of shape (n,)
            From 0 to 1; at least the belief.
        """
        return self._masses.plausibility_of(positions_of(subset, self.classes))

    def commonality_of(self, subset: Label | Iterable[Label]) -> Array:
        """Commonality of a set of labels, (n,): the mass of all sets that contain it.

        Parameters
        ----------
        subset : label or iterable of labels
            The set of classes.

        Returns
        -------
        array of shape (n,)
            From 0 to 1.
        """
        return self._masses.commonality_of(positions_of(subset, self.classes))

    def masses(self) -> Array:
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set.

        Returns
        -------
        array of shape (n, 2**K)
            Each row sums to 1.

        Raises
        ------
        FrameTooLargeError
            Past 2^26 values. ``mass_of`` has no such limit.
        """
        return self._masses.of_all_sets()

    def focal_sets(self, top: int = 10) -> list[list[FocalSet]]:
        """Find the largest focal sets of each row, largest first.

        Sets without mass are not focal and are left out, so a row may have fewer than ``top``.

        Parameters
        ----------
        top : int
            The largest number of sets for each row.

        Returns
        -------
        list of n lists of FocalSet

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=["no", "yes"])
        >>> [(sorted(found.classes), round(found.mass, 3)) for found in ev.focal_sets()[0]]
        [(['no'], 0.835), (['no', 'yes'], 0.165)]
        """
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be a positive integer; got {top!r}.")
        labels = self.classes.tolist()
        return [
            [FocalSet(frozenset(labels[k] for k in inside), mass) for mass, inside in row]
            for row in self._masses.focal_sets(int(top))
        ]

    # -- deciding -------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        """The rules to decide by, if none is named."""
        return Policy()

    @property
    def _answers(self) -> NDArray[np.intp]:
        """The position of each row's answer, (n,): the class with the largest probability."""
        return first_largest(to_numpy(self.betting_probability).astype(np.float64))

    def lower_risk(self, loss: Any) -> Array:
        """Lower expected loss of each act, (n, acts), for a loss as in :meth:`decide`.

        Parameters
        ----------
        loss : array of shape (acts, K), mapping or data frame
            As in :meth:`decide`.

        Returns
        -------
        array of shape (n, acts)
        """
        return self._masses.lower_risk(read_loss(loss, self.belief, self.classes).loss)

    def upper_risk(self, loss: Any) -> Array:
        """Upper expected loss of each act, (n, acts), for a loss as in :meth:`decide`.

        Parameters
        ----------
        loss : array of shape (acts, K), mapping or data frame
            As in :meth:`decide`.

        Returns
        -------
        array of shape (n, acts)
        """
        return self._masses.upper_risk(read_loss(loss, self.belief, self.classes).loss)

    def decide(
        self,
        rule: str | None = None,
        *,
        loss: Any = None,
        utility: Any = None,
        reject: float | None = None,
        alpha: float | None = None,
        tolerance: float | str | None = None,
        expectation: str | None = None,
    ) -> Array:
        r"""Choose classes, or acts, for each row; docs/guide/deciding.md shows which rule to use.

        Parameters
        ----------
        rule : str, optional
            Rules that choose one: ``"plausibility"`` (least lower risk), ``"belief"`` (least upper
            risk), ``"pignistic"``, ``"expected_loss"`` (under ``betting_probability``),
            ``"hurwicz"``, ``"minimax_regret"``. Rules that keep all that may be right:
            ``"interval_dominance"``, ``"maximality"``, ``"e_admissible"``, ``"weak_dominance"``.
            Or ``"utility_set"``, the set that is the best answer as a set. ``"expected_loss"`` and
            ``"utility_set"`` bet, so they ignore a discount. By default ``"interval_dominance"``;
            but ``"expected_loss"`` if costs are given and the weights were tempered or moderated.
        loss, utility : array of shape (acts, K), mapping or data frame, optional
            The loss, or utility, of each act if the class is k. An array, and a mapping of act
            names to K numbers, are in the order of ``classes``. ``{act: {class: number}}`` and a
            data frame are read by class label. A data frame has one column for each class; its
            acts are named by a column "act", else by the index of a pandas frame, else by row
            number. By default the acts are to name one class, and a wrong name costs 1.
        reject : float, optional
            The cost of not deciding: a last act "reject" of that loss. Without a loss, from 0 to
            1, and a row whose risk exceeds it gets the full set.
        alpha : float, default=0.5
            Pessimism of ``"hurwicz"``: α · upper + (1 − α) · lower risk.
        tolerance : float or {"u65", "u80"}, default=0.65
            Utility of a right answer of two classes in ``"utility_set"``: γ from 0.5 (as a random
            guess) to 1 (as a single class), or a discounted utility.
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
        >>> loss = {"treat": {"ill": 0, "no": 1}, "send home": {"ill": 5, "no": 0}}
        >>> ev.decide("belief", loss=loss, reject=0.4)
        array([[False, False,  True],
               [False, False,  True]])
        """
        given = (loss, utility, reject, alpha, tolerance, expectation)
        return self._decided(rule, dict(zip(_OPTIONS, given, strict=True)))[0]

    def acts(self, rule: str | None = None, **options: Any) -> list[Any]:
        """Decide, and return the names of the acts chosen for each instance, or of the classes.

        Takes the options of :meth:`decide`. Acts given by an array are named by their positions.

        Parameters
        ----------
        rule : str, optional
            As in :meth:`decide`.
        **options
            The other options of :meth:`decide`, such as ``loss`` and ``reject``.

        Returns
        -------
        list of n tuples
            The names that each row keeps.

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]], [[0.1, -0.1]]], classes=["no", "ill"])
        >>> ev.acts()
        [('no',), ('no', 'ill')]
        >>> ev.acts("pignistic", loss={"treat": [1, 0], "send home": [0, 1]}, reject=0.4)
        [('send home',), ('reject',)]
        """
        for name in options:
            if name not in _OPTIONS:
                raise TypeError(f"Unknown option {name!r}; the options are {', '.join(_OPTIONS)}.")
        return chosen_names(*self._decided(rule, options))

    def _decided(
        self, rule: str | None, options: Mapping[str, Any]
    ) -> tuple[Array, tuple[Any, ...]]:
        """Return what is chosen, (n, K) or (n, acts), and the names of the classes or acts."""
        if rule is None:
            rule = self._policy.rule_of_sets(options)
        loss, utility, reject = (options.get(name) for name in _COSTS)
        # Single precision cannot tell risks apart where weights are large.
        masses = self._masses.in_double()
        acts = read_acts(loss, utility, reject, masses.belief, self.classes)
        of_rule = {name: options.get(name) for name in _OPTIONS if name not in _COSTS}
        chosen = choose(masses, rule, acts, reject if acts is None else None, of_rule)
        return chosen, tuple(self.classes.tolist()) if acts is None else acts.names

    # -- the evidence that has weights ----------------------------------------------------------

    _without_weights: ClassVar[str] = (
        "Ask the sources for theirs, or combine them with combination='dempster' or 'cautious' and "
        "without reliability=, which gives Evidence."
    )
    """What to do instead, for those who ask evidence without weights for them."""

    @property
    def undiscounted(self) -> MassEvidence:
        """The evidence before discounting; other evidence as it is."""
        return self

    @property
    def weighed(self) -> Evidence:
        """The :class:`shafer.Evidence` with the weights: of a discounted one, before discounting.

        Raises
        ------
        ValueError
            If the evidence was combined in a way that leaves no weights.

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]])
        >>> ev.discounted(0.5).weighed is ev, ev.weighed is ev
        (True, True)
        """
        raise ValueError(
            f"Weights of evidence are needed here, and {type(self).__name__} has no weights. Pass "
            "the evidence of each source by itself, as it was before combine. IntervalDisplay, "
            "MassDisplay and UncertaintyDisplay work without weights."
        )

    if not TYPE_CHECKING:  # a type checker must not accept every name

        def __getattr__(self, name: str) -> Never:
            """Say where the weights are, if evidence without weights is asked for them."""
            evidence = sys.modules["shafer.evidence.evidence"].Evidence  # loaded after this class
            if isinstance(self, evidence) or name.startswith("_") or not _has(evidence, name):
                return object.__getattribute__(self, name)  # raises the usual error
            kind, advice = type(self).__name__, self._without_weights.format(name=name)
            if name in ("weights", "components"):
                raise AttributeError(f"{kind} has no {name}. {advice}")
            raise AttributeError(f"{kind} has no weights, so it has no {name!r}. {advice}")

    # -- tables and text ------------------------------------------------------------------------

    @property
    def _axis_names(self) -> tuple[str, ...]:
        """Names along the second axis, where the rows are the components of instances."""
        return ()

    def _size_text(self) -> str:
        """Describe the size in a few words."""
        return f"{len(self)} instances"

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per instance as a data frame (pandas, polars or pyarrow).

        Columns: ``answer`` (the class label), ``probability_c`` for each class c, then
        ``belief_c``, ``plausibility_c``, ``pignistic_c``, ``lack``, ``contradiction``,
        ``ignorance``, ``conflict`` and ``weight_of_conflict``. Discounted evidence also has
        ``epistemic_ignorance``, and its ``probability_c`` is ``betting_probability``, that of
        ``predict_proba``. The evidence of components has no answer. A pandas frame has ``index`` as
        its index, if there is one.

        Evidence does not know of ``conformalize``: for calibrated sets call ``predict_set`` of the
        explainer.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame; by default one that is in use, else one that is
            installed.

        Returns
        -------
        data frame of n rows

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=["no", "yes"])
        >>> ev.to_frame("pandas")[["answer", "belief_no", "plausibility_no"]].round(3)
          answer  belief_no  plausibility_no
        0     no      0.835              1.0
        """
        columns = evidence_columns(self)
        repeated = max(1, len(self._axis_names))
        index = None if self.index is None else self.index[np.arange(len(self)).repeat(repeated)]
        return native_frame(columns, index, backend)

    def __repr__(self) -> str:
        return text(self, self._size_text())

    def _repr_html_(self) -> str:
        if self._axis_names:
            return paragraph(repr(self))
        return html(self, self._scalar_columns[:-1])


def _row_labels(index: Any, n: int) -> Any:
    """Return n row labels that can be taken by position: a pandas index stays one."""
    if index is None:
        return None
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(index, pandas.Index):
        labels = list(index)
        index = np.empty(len(labels), dtype=object)
        index[:] = labels
        index.flags.writeable = False
    if len(index) != n:
        raise ValueError(
            f"index must have one label for each of the {n} rows of evidence; got {len(index)}."
        )
    return index


def _is_same(own: Any, label: Any) -> bool:
    same = own == label
    return isinstance(same, bool | np.bool_) and bool(same)


def _has(kind: type[Evidence], name: str) -> bool:
    return hasattr(kind, name) or name in kind.__dataclass_fields__
