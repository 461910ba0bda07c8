"""``Evidence``: the pooled weights of evidence behind a classifier's probabilities."""

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
    check_overflows,
    class_labels,
    component_names,
    float_array,
    frozen,
    positions_of,
)
from shafer.evidence.automatic_groups import N_GROUPS, automatic_groups, check_group_count
from shafer.evidence.component_groups import Groups, component_positions, read_groups
from shafer.evidence.component_layout import ComponentLayout, GridLayout, RegionLayout
from shafer.evidence.discounted_evidence import DiscountedEvidence, row_reliability
from shafer.evidence.focal_sets import FocalSet, pooled_focal_sets
from shafer.evidence.input_values import InputValues
from shafer.evidence.io import npz_file
from shafer.evidence.region_weights import grid_regions, region_weights
from shafer.evidence.statements.expert_statements import labels_given
from shafer.evidence.statements.stated_weights import stated_weights
from shafer.evidence.weighed_evidence import WeighedEvidence
from shafer.evidence.weight_errors import WeightErrors
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
class Evidence(WeighedEvidence):
    r"""The evidence for and against each of K classes, from G components, for n instances.

    Every component g gives each class k a weight of evidence :math:`w_{gk}`: for the class when
    positive, against it when negative. Dempster's rule pools them. Arrays about classes are
    (n, K) in the order of ``classes``, arrays about instances (n,), arrays about components
    (n, G, K). All are computed on first use, in the library (NumPy, PyTorch) of the input.

    Make one with :class:`shafer.Explainer`, :func:`shafer.least_commitment` or
    :meth:`from_weights`; take rows with ``ev[3]``, ``ev[10:20]`` or ``ev[mask]``. What it shares
    with other types of evidence is documented in :class:`shafer.MassEvidence`.

    Attributes
    ----------
    source : WeightSource
        Where the weights come from; for use inside the library.
    pooled : Pooled
        The logits, and the weights for and against each class.
    component_names : tuple of G strings
        Names of the components.
    parts : tuple of strings
        Names along the second axis, where the rows are components of instances.
    inputs : InputValues or None
        Values of the inputs, for :meth:`reasons`.
    errors : WeightErrors or None
        How uncertain the weights are; see :attr:`weights_std`.
    layout : ComponentLayout or None
        Where the components lie in an image or a text, if they do.
    calibrated : bool
        Whether the weights were tempered or moderated.
    classes : array of shape (K,)
        Class labels.
    index : pandas index or array of shape (n,), optional
        Row labels.

    See Also
    --------
    shafer.Explainer : Makes evidence from a trained model.
    shafer.combine : Combines the evidence of several sources.
    shafer.plots.WaterfallDisplay : Draws the evidence about one row.

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
        layout: ComponentLayout | None = None,
        calibrated: bool = False,
    ) -> Evidence:
        """Pool a checked source of weights; for use inside the library.

        Parameters
        ----------
        source : WeightSource
            Where the weights come from.
        classes : array of shape (K,)
            Class labels.
        component_names : tuple of G strings
            Names of the components.
        parts, index, inputs, errors, layout, calibrated
            As the attributes of these names.

        Returns
        -------
        Evidence
        """
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            pooled = source.pooled()
        check_overflows(pooled[1:], "weights of evidence")  # a logit is their difference
        held = Pooled(*map(frozen, pooled))
        return cls(
            source,
            held,
            component_names,
            parts,
            inputs,
            errors,
            layout,
            calibrated,
            classes=classes,
            index=index,
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

        Returns
        -------
        Evidence

        Examples
        --------
        >>> import shafer
        >>> weights = [[[0.9, -0.9], [-0.2, 0.2]]]
        >>> ev = shafer.Evidence.from_weights(weights, classes=["no", "yes"], names=["age", "ldl"])
        >>> ev.probability.round(3)
        array([[0.802, 0.198]])
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
    def from_statements(
        cls, statements: Any, *, classes: Any, columns: Any = None, prior: Any = None
    ) -> Evidence:
        """Read experts' statements as evidence: about one case, or about each row of a data frame.

        Parameters
        ----------
        statements : sequence of statements, or one; or a data frame
            About one case: words, ``"for A with weight 1.2"``, ``"against {B, C} with support
            0.7"`` or ``"for A with probability 0.7"``; or mappings, ``{"against": ["B", "C"],
            "support": 0.7, "name": "radiologist"}``. Each statement is one component.
            A data frame has a row for each case.
        classes : sequence of K labels
        columns : mapping from the name of an expert to a mapping, for a data frame
            ``{"doctor": {"for": "diagnosis", "probability": "sure"}}``: the column that names the
            class (or one class for all rows), and the column of the certainty (or one number for
            all rows). A percentage may be a text, ``"70 %"``. Each expert is one component. An
            empty cell (None, NaN) is no opinion: no evidence in that row.
        prior : array of shape (K,), or mapping or pandas Series by class, optional
            What the experts thought before they looked at the case, for statements with a
            probability; all classes alike by default.

        Returns
        -------
        Evidence

        Raises
        ------
        ValueError
            If a statement supports a set of several classes but not all but one:
            :meth:`shafer.fusion.FiniteEvidence.from_statements` takes those. If a cell cannot be
            read; the error names its row and column.

        Notes
        -----
        A support s below 1 is a weight of −ln(1 − s). A probability q is the weight
        logit(q) − logit(prior): alone, it gives the class the probability q. "50 % sure" of one of
        two classes is no evidence; less is evidence against the class. ``docs/guide/fusion.md``
        compares the two.

        Examples
        --------
        >>> import shafer
        >>> statements = ["for A with weight 1.2", "against {B, C} with support 0.7"]
        >>> ev = shafer.Evidence.from_statements(statements, classes=["A", "B", "C"])
        >>> ev.belief.round(3), ev.component_names
        (array([[0.91, 0.  , 0.  ]]), ('for A', 'against {B, C}'))
        >>> import pandas as pd
        >>> seen = pd.DataFrame({"diagnosis": ["A", None, "B"], "sure": [0.7, None, "90 %"]})
        >>> columns = {"doctor": {"for": "diagnosis", "probability": "sure"}}
        >>> ev = shafer.Evidence.from_statements(seen, classes=["A", "B", "C"], columns=columns)
        >>> ev.probability.round(3), ev.component_names
        (array([[0.7  , 0.15 , 0.15 ],
               [0.333, 0.333, 0.333],
               [0.05 , 0.9  , 0.05 ]]), ('doctor',))
        """
        labels = class_labels(classes, len(labels_given(classes)))
        weights, names, index = stated_weights(statements, labels, columns, prior)
        return cls.from_source(DenseWeights(weights), labels, names, index=index)

    def _rows(self, positions: NDArray[np.intp]) -> Evidence:
        pooled = Pooled(*(frozen(take(array, positions, axis=0)) for array in self.pooled))
        part = replace(
            self,
            source=self.source.rows(positions),
            pooled=pooled,
            index=None,
            inputs=None if self.inputs is None else self.inputs.rows(positions),
            errors=None if self.errors is None else self.errors.rows(positions),
            layout=None if self.layout is None else self.layout.rows(positions),
        )
        part.unchanged_source()
        return part

    @cached_property
    def components(self) -> Evidence:
        """Each component's own mass function m_g: evidence with arrays of (n, G, K) and (n, G)."""
        source = DenseWeights(self.weights[..., None, :])
        return Evidence.from_source(
            source,
            self.classes,
            ("itself",),
            self.component_names,
            self.index,
            calibrated=self.calibrated,
        )

    # -- the pooled mass function ---------------------------------------------------------------

    @cached_property
    def _opinion(self) -> PooledOpinion:
        return PooledOpinion(self.pooled)

    @property
    def _bets_on_costs(self) -> bool:
        return self.calibrated

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
        return frozen(self._opinion.weight_of_conflict)

    @cached_property
    def conflict_for_against(self) -> Array:
        """Conflict between all evidence for and all evidence against, (n,): the paper's κ."""
        if self.n_classes == 2:  # evidence against one class is evidence for the other
            return self.conflict
        return frozen(kernels.conflict_for_against(self._terms))

    # -- sets of classes ------------------------------------------------------------------------

    def _split(self, subset: Label | Iterable[Label]) -> tuple[list[int], list[int]]:
        inside = positions_of(subset, self.classes)
        outside = set(range(self.n_classes)).difference(inside)
        return inside, sorted(outside)

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

    def grouped(self, groups: Groups, *, n_groups: int = N_GROUPS) -> Evidence:
        """Make coarser components: each is the signed sum of the weights in a group.

        Probabilities stay as they are; disagreement inside a group no longer counts as conflict.

        Parameters
        ----------
        groups : mapping, sequence, "one" or "auto"
            Group name -> components (by name or position); or a sequence of groups; or ``"one"``
            for a single component. Components in no group stay on their own. ``"auto"`` joins
            components that contradict each other, over these instances, until ``n_groups`` are
            left; the groups are named after their strongest members. For locations of images also
            a segmentation: whole numbers (H, W), or (n, H, W) for each image, or a pair of them
            and a mapping from label to name. A cell of the grid is shared among the regions by
            area.
        n_groups : int
            The number of groups of ``"auto"``.

        Returns
        -------
        Evidence

        Examples
        --------
        >>> import shafer
        >>> weights = [[[0.9, -0.9], [-0.2, 0.2], [0.1, -0.1]]]
        >>> ev = shafer.Evidence.from_weights(weights, names=["age", "ldl", "sbp"])
        >>> blood = ev.grouped({"blood": ["ldl", "sbp"]})
        >>> blood.component_names, blood.conflict < ev.conflict
        (('age', 'blood'), array([ True]))
        """
        regions = grid_regions(groups, self.layout, len(self))
        if regions is not None:
            return self._by_region(regions)
        source = self.unchanged_source()
        if isinstance(groups, str) and groups == "auto":
            most = check_group_count(n_groups)
            read = automatic_groups(source, self.component_names, most)
        else:
            read = read_groups(groups, self.component_names)
        members = list(read.values())
        source = source.grouped(members)
        inputs = None if self.inputs is None else self.inputs.grouped(members)
        errors = None if self.errors is None else self.errors.grouped(members)
        return self._of(source, tuple(read), inputs, errors)

    def _of(
        self,
        source: WeightSource,
        names: tuple[str, ...],
        inputs: InputValues | None,
        errors: WeightErrors | None,
        layout: ComponentLayout | None = None,
    ) -> Evidence:
        """Return evidence of other components about the same instances."""
        return Evidence.from_source(
            source,
            self.classes,
            names,
            self.parts,
            self.index,
            inputs,
            errors,
            layout,
            self.calibrated,
        )

    def _by_region(self, regions: RegionLayout) -> Evidence:
        assert isinstance(self.layout, GridLayout)
        source = region_weights(self.unchanged_source(), self.layout, regions)
        names = (*regions.names, *self.component_names[self.layout.n_components :])
        return self._of(source, names, None, None, regions)

    def without(self, names: Any) -> Evidence:
        """Leave components out, by name or position, as if they had no evidence.

        Parameters
        ----------
        names : component name, position, or a sequence of them
            The components to leave out.

        Returns
        -------
        Evidence

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], names=["age", "ldl"])
        >>> ev.without("age").probability.round(3)
        array([[0.401, 0.599]])
        """
        out = set(component_positions(names, self.component_names))
        stay = [g for g in range(self.n_components) if g not in out]
        kept = tuple(self.component_names[g] for g in stay)
        source = self.unchanged_source().keep(stay)
        inputs = None if self.inputs is None else self.inputs.grouped([[g] for g in stay])
        errors = None if self.errors is None else self.errors.keep(stay)
        placed = 0 if self.layout is None else self.layout.n_components
        layout = self.layout if stay[:placed] == list(range(placed)) else None
        return self._of(source, kept, inputs, errors, layout)

    def tempered(self, factor: Any) -> Evidence:
        """Multiply all weights by a factor ≥ 0: temperature scaling, 1/factor the temperature.

        Parameters
        ----------
        factor : float or array of shape (n,)
            One for all instances, or one for each.

        Returns
        -------
        Evidence

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]])
        >>> ev.probability.round(3), ev.tempered(0.5).probability.round(3)
        (array([[0.858, 0.142]]), array([[0.711, 0.289]]))
        """
        read = read_factor(factor, self.pooled.logits)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            source = scaled_weights(self.source, read)
            by_class = read if isinstance(read, float) else read[..., None]
            pooled = Pooled(*(frozen(array * by_class) for array in self.pooled))
            errors = None if self.errors is None else self.errors.scaled(read)
        check_overflows(pooled[1:], "weights of evidence")  # a logit is their difference
        calibrated = self.calibrated or not (isinstance(read, float) and read == 1.0)
        return replace(self, source=source, pooled=pooled, errors=errors, calibrated=calibrated)

    def discounted(self, reliability: Any) -> DiscountedEvidence:
        """Discount the evidence: a share 1 − reliability of all mass moves to the whole frame.

        Parameters
        ----------
        reliability : float or array of shape (n,)
            From 0 (only ignorance is left) to 1 (nothing changes).

        Returns
        -------
        DiscountedEvidence

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=["no", "yes"])
        >>> ev.belief.round(3), ev.discounted(0.5).belief.round(3)
        (array([[0.835, 0.   ]]), array([[0.417, 0.   ]]))
        """
        read = row_reliability(reliability, self.pooled.logits)
        return DiscountedEvidence(self, read, classes=self.classes, index=self.index)

    # -- out of here ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the evidence to one file (NumPy's ``.npz``, no pickle).

        Parameters
        ----------
        path : str or Path
            Such as ``"evidence.npz"``. An existing file is replaced.

        See Also
        --------
        load : Reads the file.

        Examples
        --------
        >>> import shafer, tempfile
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=["no", "yes"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ev.save(f"{folder}/evidence.npz")
        ...     back = shafer.Evidence.load(f"{folder}/evidence.npz")
        >>> bool((back.belief == ev.belief).all())
        True
        """
        npz_file.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Evidence:
        """Read evidence written by :meth:`save`; arrays come back as NumPy.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Evidence

        See Also
        --------
        save : Writes the file, with an example.
        """
        return cls.from_source(*npz_file.load(path))
