"""``Evidence``: the pooled weights of evidence behind a classifier's probabilities."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, cast, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import check_overflows, float_array, frozen, to_numpy
from shafer._checks.labels import (
    class_labels,
    component_names,
    is_one_label,
    one_position,
)
from shafer._kernels.pooling import Pooled
from shafer._masses.pooled import PooledMasses
from shafer._typing import Array, Label
from shafer.decision.policy import AnswerRule, Policy, answers, first_largest
from shafer.evidence import file as npz_file
from shafer.evidence.base_rate import base_rate_position
from shafer.evidence.contrast import TOP, most_probable, odds_of_sides
from shafer.evidence.discounted_evidence import DiscountedEvidence, row_reliability
from shafer.evidence.errors import WeightErrors, interval, known_errors, standard_deviations
from shafer.evidence.groups import (
    N_GROUPS,
    Groups,
    automatic_groups,
    check_group_count,
    component_positions,
    read_groups,
)
from shafer.evidence.layout import ComponentLayout, GridLayout, RegionLayout
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.notebook import answers_html, answers_text, paragraph
from shafer.evidence.points import PointScale, scored_weights
from shafer.evidence.reasons import (
    InputValues,
    ReasonOptions,
    input_cells,
    input_numbers,
    reasons_frame,
)
from shafer.evidence.robustness import check_chance, own_conflict, source_fragility
from shafer.evidence.sources import (
    DenseWeights,
    WeightSource,
    grid_regions,
    read_factor,
    region_weights,
    scaled_weights,
    take,
)
from shafer.evidence.statements import labels_given, stated_weights

if TYPE_CHECKING:
    from shafer.plots import ImportanceDisplay, SummaryDisplay, WaterfallDisplay


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
        Values of the inputs, for :meth:`reasons`; None if they are not known.
    errors : WeightErrors or None
        How uncertain the weights are, if it is known; see :attr:`weights_std`.
    layout : ComponentLayout or None
        Where the components lie in an image or a text, if they do.
    calibrated : bool
        Whether the weights were tempered or moderated: then costs are decided by expected loss.
    cutoff : Cutoff, LeastLoss or None
        The threshold, or the losses, by which the model that made the evidence answers; None if
        the most probable class answers.
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

    source: WeightSource
    pooled: Pooled
    component_names: tuple[str, ...]
    parts: tuple[str, ...] = ()
    inputs: InputValues | None = None
    errors: WeightErrors | None = None
    layout: ComponentLayout | None = None
    calibrated: bool = False
    cutoff: AnswerRule | None = None

    # -- making it ------------------------------------------------------------------------------

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
        cutoff: AnswerRule | None = None,
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
        parts, index, inputs, errors, layout, calibrated, cutoff
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
            cutoff,
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

    # -- rows and components --------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.pooled.logits.shape[0])

    @property
    def n_components(self) -> int:
        """The number G of components."""
        return len(self.component_names)

    @property
    def _axis_names(self) -> tuple[str, ...]:
        return self.parts

    def _size_text(self) -> str:
        if self.parts:
            return f"{len(self)} instances × {len(self.parts)} components, each on its own"
        return f"{len(self)} instances, {self.n_components} components"

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
    def _masses(self) -> PooledMasses:
        return PooledMasses(self.pooled)

    @property
    def _policy(self) -> Policy:
        return Policy(calibrated=self.calibrated, cutoff=self.cutoff)

    @property
    def _answers(self) -> NDArray[np.intp]:
        logits = to_numpy(self.logits).astype(np.float64)
        return first_largest(logits) if self.cutoff is None else answers(logits, self.cutoff)

    @property
    def weighed(self) -> Evidence:
        """The evidence itself: it has weights."""
        return self

    # -- the weights ----------------------------------------------------------------------------

    def unchanged_source(self) -> WeightSource:
        """Return the source of the weights; for use inside the library.

        The source may share the user's array of features. If that array was written to since, the
        weights are lost, and this raises an error rather than give other weights.

        Returns
        -------
        WeightSource
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

    def contrast(self, class_: Label, over: Label) -> Array:
        """Weights of the components for ``class_`` over ``over``, (n, G).

        The weight for ``class_`` minus the weight for ``over``: what each component adds to the
        log-odds ln(p_class / p_over), which is the sum over the components. +1 multiplies the odds
        by 2.7. For two classes these are the units of SHAP values, twice the weights for the class.

        Parameters
        ----------
        class_, over : class labels

        Returns
        -------
        array of shape (n, G)

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
        >>> ev.contrast("no", "yes")
        array([[ 1.8, -0.4]])
        """
        first = one_position(class_, self.classes, "class_")
        second = one_position(over, self.classes, "over")
        weights = self.unchanged_source().of_classes([first, second]).dense()
        return weights[..., 0] - weights[..., 1]

    def weights_of(self, classes: Label | Iterable[Label]) -> Array:
        """Weights of evidence for some classes, (n, G, M): the others are not computed.

        Parameters
        ----------
        classes : class label, or M of them

        Returns
        -------
        array of shape (n, G, M)

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
        >>> ev.weights_of("yes")
        array([[[-0.9],
                [ 0.2]]])
        """
        chosen: list[Any] = [classes] if is_one_label(classes) else [*cast(Any, classes)]
        positions = [one_position(label, self.classes, "classes") for label in chosen]
        return self.unchanged_source().of_classes(positions).dense()

    def top_weights(self, top: int = TOP) -> tuple[Array, Array]:
        """Weights of evidence for the most probable classes of each row.

        Parameters
        ----------
        top : int
            The number M of classes; all if there are fewer.

        Returns
        -------
        classes : array of shape (n, M)
            Class labels, the most probable first.
        weights : array of shape (n, G, M)

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
        >>> labels, weights = ev.top_weights(1)
        >>> labels, weights
        (array([['no']], dtype='<U3'), array([[[ 0.9],
                [-0.2]]]))
        """
        if isinstance(top, bool) or not isinstance(top, int) or top < 1:
            raise ValueError(f"top must be an integer ≥ 1; got {top!r}.")
        source = self.unchanged_source()
        if min(top, self.n_classes) == min(TOP, self.n_classes):
            positions, weights = self._top_weights
        else:
            positions = most_probable(self.logits, top)
            weights = source.of_row_classes(positions)
        return self.classes[to_numpy(positions)], weights

    @cached_property
    def _top_weights(self) -> tuple[Array, Array]:
        """Positions of the 5 most probable classes, and weights for them; see ``top_weights``."""
        positions = most_probable(self.logits, TOP)
        return positions, frozen(self.source.of_row_classes(positions))

    def reasons(
        self,
        class_: Label | None = None,
        top: int = 4,
        codes: Mapping[str, Any] | None = None,
        distinct: bool = True,
        *,
        over: Label | None = None,
        units: str = "log_odds",
        keep: str = "all",
        backend: str | None = "pandas",
    ) -> Any:
        """Return the components that favour a class most, as a data frame, also in words.

        Parameters
        ----------
        class_ : class label, optional
            By default the answer of each row.
        top : int
            Number of reasons for each row, if there are so many components.
        codes : mapping, optional
            The user's reason codes: component, or column of the data -> code, or (code, text).
        distinct : bool
            Count components with the same code once; without a code, those of the same column of
            the data. The one that favours the class most is named.
        over : class label, optional
            The class to compare with, as in :meth:`contrast`. By default the most probable other
            class of each row.
        units : {"log_odds", "odds", "probability", "weight"}
            ``"log_odds"``: what each component adds to the log-odds of the class over the other
            one. ``"odds"``: the factor by which it multiplies the odds. ``"probability"``: what
            the probability of the class would be without the component, exactly as
            ``ev.without(component).probability``; these changes do not add up. ``"weight"``: the
            weights of evidence for the class by itself. The order is by log-odds, but for
            ``"weight"``.
        keep : {"all", "positive", "clear"}
            A row may have fewer than ``top`` components that favour the class. ``"all"`` lists the
            next ones too; a component whose log-odds are not positive is not a reason for the
            class. ``"positive"`` leaves these out, and those that are mere rounding beside the
            others of the row. ``"clear"`` also leaves out those whose 90 % interval holds 0, for
            evidence with error bars.
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default pandas; None takes the library in use.

        Returns
        -------
        data frame with one row for each instance and rank
            ``row`` (position of the instance), ``rank`` (from 1), ``component``, ``value`` (of the
            input; missing if not known), ``usual`` (its median and 10–90 % range in the
            background, or the most frequent value and its share; if known), the units (a column
            ``log_odds``, ``odds_factor`` or ``weight``, or the two columns ``probability`` and
            ``probability_without``), ``share`` (of all that favours the class), ``class``,
            ``over`` (not for weights), ``words`` (a sentence); with error bars ``lower`` and
            ``upper``, the 90 % interval (not for probabilities); with codes ``code`` and ``text``;
            ``index`` if the evidence has one. The base rate is not a reason, and is left out.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.linear_model import LogisticRegression
        >>> heart = shafer.datasets.load_heart()
        >>> X = heart.data[:, [heart.feature_names.index(name) for name in ("age", "ldl")]]
        >>> model = LogisticRegression(C=1e6).fit(X, heart.target)
        >>> ev = shafer.Explainer(model, X, names=["age", "ldl"], prior="own")(X[:1])
        >>> table = ev.reasons(class_=1, top=2)
        >>> table[["component", "value", "usual", "log_odds"]].round(2)
          component  value          usual  log_odds
        0       age  52.00     45 (18–61)      0.54
        1       ldl   5.73  4.3 (2.5–7.4)      0.19
        >>> table["words"].tolist()[0]
        'age 52, within the usual 18–61, multiplies the odds of 1 by 1.7'
        """
        asked = ReasonOptions(top, codes, distinct, keep, units)
        return reasons_frame(self, class_, over, asked, backend)

    def points(
        self,
        points: float = 600.0,
        odds: float = 50.0,
        pdo: float = 20.0,
        class_: Label | None = None,
    ) -> Array:
        """Points of the components on the scale of a credit score; their sum is the row's score.

        For two classes the score is ``points + pdo / ln 2 · (ln(p / (1 − p)) − ln(odds))``, where
        p is the probability of ``class_``. For more classes each class has points of its own:
        pdo more points than another class means twice its probability, and the softmax of
        score · ln 2 / pdo is ``probability``. All components share the constant part equally, or
        it belongs to the component ``"base rate"``.

        Parameters
        ----------
        points, odds : float
            A row whose odds of ``class_`` are ``odds`` to 1 has a score of ``points``.
        pdo : float
            Points that double the odds.
        class_ : class label
            The favourable class. It may be left out with three or more classes, and for two
            numeric labels: then it is the smaller one, 0 of 0 and 1, because 1 is the event.

        Returns
        -------
        array of shape (n, G)
            With three or more classes and no ``class_``: (n, G, K).

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["bad", "good"])
        >>> ev.points(class_="good").round(1)
        array([[191.6, 255.1]])
        >>> ev.points(class_="good").sum(axis=1).round(1)
        array([446.7])
        """
        scale = PointScale(points, odds, pdo)
        weights = scored_weights(self.weights, self.classes, class_)
        return scale.of_weights(weights, self.n_components, base_rate_position(self))

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

        Returns
        -------
        lower, upper : arrays of shape (n, G, K)

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

    def contrast_std(self, class_: Label, over: Label) -> Array:
        """Return the standard errors of the contrast of two classes, (n, G).

        The weights for the two classes are correlated, which is taken into account.

        Parameters
        ----------
        class_, over : class labels

        Returns
        -------
        array of shape (n, G)
        """
        errors = self._known_errors()
        combination = np.zeros((1, self.n_classes))
        combination[0, one_position(class_, self.classes, "class_")] += 1.0
        combination[0, one_position(over, self.classes, "over")] -= 1.0
        return standard_deviations(errors, combination, self.logits)[..., 0]

    def contrast_interval(
        self, class_: Label, over: Label, level: float = 0.9
    ) -> tuple[Array, Array]:
        """Return the lower and the upper end of an interval for each contrast, two (n, G).

        Parameters
        ----------
        class_, over : class labels
        level : float
            As in :meth:`weight_interval`.

        Returns
        -------
        lower, upper : arrays of shape (n, G)
        """
        errors = self._known_errors()
        return interval(self.contrast(class_, over), self.contrast_std(class_, over), errors, level)

    # -- conflict between the components --------------------------------------------------------

    @property
    def odds_for(self) -> Array:
        r"""By how much the components for the answer multiply its odds over the rival, (n,).

        :math:`\exp \sum_g \max(0, w_{ga} - w_{gb})` with a the answer and b the most probable
        other class: one side of the scale, from 1. Divided by ``odds_against``, it is the odds
        p_a / p_b. Infinite beyond the largest number.
        """
        return self._sides[0]

    @property
    def odds_against(self) -> Array:
        r"""By how much the components against the answer divide its odds over the rival, (n,).

        The other side of the scale, from 1; see ``odds_for``.
        """
        return self._sides[1]

    @cached_property
    def _sides(self) -> tuple[Array, Array]:
        return odds_of_sides(self)

    @property
    def conflict_for_against(self) -> Array:
        """Conflict between all evidence for and all evidence against, (n,): the paper's κ."""
        return self._masses.conflict_for_against

    @cached_property
    def positive(self) -> Evidence:
        r"""The evidence for the classes alone: the paper's m⁺, evidence with components of its own.

        Each component keeps the positive parts of its weights. Dempster's rule combines
        ``positive`` and :attr:`negative` to this evidence again. Their conflict is
        ``conflict_for_against``. With two classes, evidence against one is evidence for the other:
        then this is all evidence for the second class, and ``negative`` all evidence for the first.

        Examples
        --------
        >>> import shafer
        >>> weights = [[[0.9, 0.4, -1.3], [-0.2, 0.3, -0.1]]]
        >>> ev = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
        >>> ev.positive.belief.round(2), ev.positive.ignorance.round(2)
        (array([[0.42, 0.29, 0.  ]]), array([0.29]))
        >>> ev.negative.belief_of(["a", "b"]).round(2)
        array([0.75])
        """
        return self._side(1.0)

    @cached_property
    def negative(self) -> Evidence:
        """The evidence against the classes alone: the paper's m⁻; see :attr:`positive`."""
        return self._side(-1.0)

    def _side(self, sign: float) -> Evidence:
        """Keep the weights of one sign; with two classes, those of the other sign at the first."""
        xp = array_api_compat.array_namespace(self.logits)
        signs = xp.full_like(self.logits[:1, ...], sign)
        if self.n_classes == 2:
            signs = xp.concat([-signs[..., :1], signs[..., 1:]], axis=-1)
        signs = signs[..., None, :]  # (1, ..., 1, K)
        kept = signs * xp.clip(signs * self.weights, min=0.0) + 0.0  # no negative zero
        source = DenseWeights(kept, base=self.source.base_rates())
        side = self._of(source, self.component_names, self.inputs, None, self.layout)
        return replace(side, cutoff=None)  # the threshold is one of the whole evidence

    @cached_property
    def weight_of_disagreement(self) -> Array:
        """Weight of the conflict between components, −ln(1 − disagreement), (n,)."""
        if self.n_components == 1:
            return array_api_compat.array_namespace(self.logits).zeros_like(self.logits[..., 0])
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

    def fragility(self, q: float = 0.2) -> Array:
        r"""Return the chance that the decision falls if each component is lost with chance q, (n,).

        A lost component keeps only its share of the base rate. With a the answer and
        :math:`d_{gk} = (w_{ga} - b_a/G) - (w_{gk} - b_k/G)`, the lead of a over k loses
        :math:`\sum_g d_{gk}` over the lost components. Up to 11 components, all combinations of
        losses are tried. Up to 64, losses are drawn 2048 times, evenly spread and always the same.
        With more, the sum of those that matter least is taken as normal.

        This is what conflict tells: how easily a decision falls, not whether it is wrong.

        Parameters
        ----------
        q : float
            From 0 to 1; components are lost independently of each other.

        Returns
        -------
        array of shape (n,)
            From 0 to 1.

        Examples
        --------
        >>> import shafer
        >>> weights = [[[2.0, -2.0], [-1.9, 1.9]], [[0.05, -0.05], [0.05, -0.05]]]
        >>> shafer.Evidence.from_weights(weights).fragility().round(3)
        array([0.16, 0.  ])
        """
        source = self.unchanged_source()
        found = source_fragility(source, check_chance(q), source.base_rates(), self.cutoff)
        logits = self.pooled.logits
        xp = array_api_compat.array_namespace(logits)
        return xp.asarray(found, dtype=logits.dtype, device=logits.device)

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
            self.cutoff,
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

    def with_unknown(self, class_: Label = "unknown") -> Evidence:
        r"""Add a class that the model does not know, as the last one.

        Nothing is evidence for or against it by itself. Evidence against a class leaves the
        unknown one possible: :math:`m'(A \cup u) = \prod_A u_k \prod_{A^c} v_k / D'` and
        :math:`m'(\{k\}) = s_k / D'`, with :math:`D' = 1 + \sum_k s_k`. So what denies all known
        classes is belief in the unknown one, and no conflict. A loss may then have a column
        for it.

        Parameters
        ----------
        class_ : class label
            The name of the unknown class; a number for classes that are numbers.

        Returns
        -------
        Evidence
            Of K + 1 classes.

        Examples
        --------
        >>> import shafer
        >>> weights = [[[2.5, -1.0, -1.5]], [[-0.5, -0.6, -0.4]]]
        >>> ev = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
        >>> wider = ev.with_unknown()
        >>> wider.belief_of("unknown").round(2)
        array([0.  , 0.06])
        >>> loss = {k: {c: float(c != k) for c in wider.classes} for k in ("a", "b", "c")}
        >>> loss["reject"] = {"a": 0.6, "b": 0.6, "c": 0.6, "unknown": 0.0}
        >>> wider.acts("belief", loss=loss)
        [('a',), ('reject',)]
        """
        known = self.classes.tolist()
        if class_ in known:
            raise ValueError(
                f"class_ must be a new class; got {class_!r}, and the classes are {known}. Pass "
                "another label."
            )
        classes = class_labels([*known, class_], len(known) + 1)
        xp = array_api_compat.array_namespace(self.logits)
        source = self.unchanged_source()
        weights, shares = (
            xp.concat([array, xp.zeros_like(array[..., :1])], axis=-1)
            for array in (self.weights, source.base_shares())
        )
        wider = DenseWeights(weights, shares, source.base_rates())
        names, parts, layout = self.component_names, self.parts, self.layout
        return Evidence.from_source(
            wider, classes, names, parts, self.index, self.inputs, None, layout, self.calibrated
        )

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

    # -- how it looks ---------------------------------------------------------------------------

    def waterfall(
        self,
        row: int = 0,
        *,
        class_: Label | None = None,
        over: Label | None = None,
        **options: Any,
    ) -> WaterfallDisplay:
        """Return the picture of one row: what each component adds to the log-odds.

        The values of the inputs stand beside the names, if they are known. A notebook shows the
        picture; elsewhere call its ``plot()``. A row by its label: ``ev.of(label).waterfall()``.

        Parameters
        ----------
        row : int
            The position of the row.
        class_, over : class labels, optional
            By default the answer, over the most probable other class.
        **options
            As in :meth:`shafer.plots.WaterfallDisplay.from_evidence`, such as ``top``.

        Returns
        -------
        shafer.plots.WaterfallDisplay

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], names=["age", "ldl"])
        >>> [(step.name, round(step.weight, 2)) for step in ev.waterfall().steps()]
        [('age', 1.8), ('ldl', -0.4)]
        """
        given = {"features": input_cells(self, row), **options}
        kind: type[WaterfallDisplay] = _displays().WaterfallDisplay
        return kind.from_evidence(self, row, class_=class_, over=over, **given)

    def summary(
        self,
        *,
        classes: Label | Iterable[Label] | None = None,
        over: Label | None = None,
        **options: Any,
    ) -> SummaryDisplay:
        """Return the picture of all rows: a point for each row and component.

        The colours are the values of the inputs, if they are known. A notebook shows the picture;
        elsewhere call its ``plot()``.

        Parameters
        ----------
        classes : class label or several, optional
            The classes to draw, one panel each.
        over : class label, optional
            By default the most probable other class of each row.
        **options
            As in :meth:`shafer.plots.SummaryDisplay.from_evidence`.

        Returns
        -------
        shafer.plots.SummaryDisplay

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], names=["age", "ldl"])
        >>> ev.summary().names
        ('age', 'ldl')
        """
        given = {"features": input_numbers(self), **options}
        kind: type[SummaryDisplay] = _displays().SummaryDisplay
        return kind.from_evidence(self, classes=classes, over=over, **given)

    def importance(
        self, *, class_: Label | None = None, over: Label | None = None
    ) -> ImportanceDisplay:
        """Return the mean absolute log-odds of each component over all rows, by pair of classes.

        ``ev.importance().to_frame()`` is the table. A notebook shows the bars; elsewhere call
        ``plot()``. It tells what moves the answers of these rows, not what would happen without
        the input.

        Parameters
        ----------
        class_, over : class labels, optional
            One pair of classes, over all rows. By default each row counts for the pair of its two
            most probable classes.

        Returns
        -------
        shafer.plots.ImportanceDisplay

        Examples
        --------
        >>> import shafer
        >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], names=["age", "ldl"])
        >>> ev.importance().to_frame()[["component", "mean_abs_log_odds"]]
          component  mean_abs_log_odds
        0       age                1.8
        1       ldl                0.4
        """
        kind: type[ImportanceDisplay] = _displays().ImportanceDisplay
        return kind.from_evidence(self, class_=class_, over=over)

    def __str__(self) -> str:
        return repr(self) if self.parts else answers_text(self)

    def _repr_html_(self) -> str:
        return paragraph(repr(self)) if self.parts else answers_html(self)

    # -- out of here ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the evidence to one file (NumPy's ``.npz``, no pickle).

        The file has the row labels, the columns behind each component, and the values of these
        columns, so that :meth:`reasons` and :meth:`to_frame` are the same after loading. Three
        things are not kept: texts and the places of words in them, the values of sparse tables,
        and labels and values other than numbers, texts and dates, which become texts.

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


def _displays() -> Any:
    """Load the pictures, which stand above this layer, when one is asked for."""
    return importlib.import_module("shafer.plots")


def prepare_on_device(evidence: Evidence) -> None:
    """Start the closed forms, and the weights of a few classes for maps, on a CUDA device.

    The device computes them while it still works on the weights, and the evidence keeps them.
    Elsewhere they are computed when they are asked for.
    """
    logits = evidence.logits
    if array_api_compat.is_torch_array(logits) and logits.is_cuda:
        evidence.probability  # noqa: B018 - reading it computes all closed forms
        if evidence.layout is not None:
            evidence._top_weights  # noqa: B018 - and this the weights for maps
