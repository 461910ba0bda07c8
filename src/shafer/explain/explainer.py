"""``Explainer``: from a trained model and its training data to evidence."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import row_weights, to_numpy
from shafer._checks.frames import in_row_order
from shafer._files.left_out import rows_are_left_out
from shafer._text import listed
from shafer._typing import Array, FloatArray
from shafer.asking.input_questions import InputQuestions
from shafer.asking.inputs import AskedModel, LinearInputs
from shafer.conformal.split import ConformalSets
from shafer.decision.policy import Cutoff, LeastLoss, Policy, read_answer_rule
from shafer.decision.temperature import tempering_factor
from shafer.deferral.control import DeferralControl, deferral_state
from shafer.errors import UnsupportedModelError
from shafer.evidence.base_rate import has_own_base_rate
from shafer.evidence.groups import N_GROUPS, Groups
from shafer.evidence.least_commitment import Pool
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.table import label_texts
from shafer.evidence.typicality import WeightProfile
from shafer.explain.calibration import Calibration, Moderation, ModerationFit
from shafer.explain.error_bars import ErrorBars, ErrorBarsFit, restored_bars
from shafer.explain.interactions import weight_interactions
from shafer.explain.missing import check_gaps, complete_rows
from shafer.explain.predictor import Predictor
from shafer.explain.promises import Promises
from shafer.explain.row_pass import ModelPass
from shafer.explain.self_check import check_model
from shafer.explain.state import ExplainerState, checked_factor
from shafer.explain.weighing import WeighedModel
from shafer.models.read_model import AdditiveModel, ReadModel
from shafer.models.registry import adapt, known_columns, opened
from shafer.rows.access import n_rows
from shafer.rows.background import as_batches
from shafer.rows.columns import column_order, in_order, missing_columns_named, trained_columns
from shafer.rows.few_rows import FewRows, first_rows
from shafer.rows.partition import with_regions
from shafer.texts.inputs import text_rows


@final
class Explainer(Predictor):
    """Shows the evidence behind the probabilities of a trained model.

    Parameters
    ----------
    model : fitted model
        Any model of the table in ``docs/guide/models.md``: scikit-learn estimators and pipelines,
        XGBoost, LightGBM, CatBoost, EBMs, torch modules, ONNX graphs, given as a ``ModelProto`` or
        by the path of a file; or a :class:`LinearHead`, a pair (coef, intercept), or
        :class:`~shafer.models.Contributions`. The tempering and moderation
        of an :class:`EvidentialClassifier` are kept. If the model is trained again, make a new
        explainer.
    background : array, data frame or sparse matrix of n rows, as the model takes them
        The training data. The weight of a component is relative to its mean over these rows. An
        iterator of batches is read once, one batch at a time, so the data need not fit in memory.
    groups : "source", mapping, sequence, "auto", "one" or None
        Join components into groups; probabilities do not change. ``"source"``, the default, joins
        the encoded columns of a pipeline by the column they came from. Features that mix columns,
        as those of PCA, and words of a text stay components. ``None`` joins nothing. A mapping is
        group name -> components (by name or position), a sequence holds groups. A group may also
        name a column of the data; then it has all encoded columns that came from it. ``"auto"``
        joins components that contradict each other over the background until ``n_groups`` are
        left. ``"one"`` joins everything, the base rate too. For image locations also a
        segmentation: a label map of whole numbers (H, W).
    n_groups : int
        The number of groups of ``"auto"``. They are named after their strongest members.
    sample_weight : array of shape (n,), optional
        Weights of the background rows in the means; not with an iterator of batches.
    names : sequence of strings, optional
        Names of the components, before grouping; by default those of the model or the background.
    classes : array of shape (K,), optional
        Class labels, in the order of the model's own labels; by default those of the model.
    moderate : {"laplace", "laplace+discount"}, optional
        Account for coefficient uncertainty: ``"laplace"`` shrinks the weights of rows whose
        logits are poorly determined by the background, ``"laplace+discount"`` also discounts
        their mass functions, which then are :class:`~shafer.DiscountedEvidence`. The background
        must be the training data. See ``docs/guide/calibrating.md``.
    missing : {"error", "vacuous", "conditional"}
        What to do with NaN in the inputs of a linear model: raise an error; use only the input's
        share of the prior; or use its expectation given the other inputs, with smaller weights.
    temper : float
        A factor on all weights (temperature scaling), if it is known; see :meth:`temper`.
    prior : {"own", "shared"}
        What to do with the base rate, the logits at the background means. ``"own"``, the default:
        it is one more component, the last, named ``"base rate"``; then a component at its mean has
        weight 0, as in SHAP. ``"shared"``, the paper's choice: all components share it equally.
        Probabilities are the same.
    check : bool
        Compare the probabilities with the model's own on at most 64 background rows, and raise an
        error if they differ.
    errors : {"sandwich", "laplace", "bags", "bootstrap"}, optional
        Give the evidence error bars, :attr:`Evidence.weights_std`. For linear models (for a
        network, its last layer), with the training data as the background: ``"sandwich"``, how the
        coefficients would vary if the model were trained on other rows; ``"laplace"``, the
        posterior of the coefficients, what these rows leave open. ``"bags"``: the spread over the
        outer bags of an ``ExplainableBoostingClassifier``. ``"bootstrap"``: the spread over
        ``refits``, for any model. See ``docs/guide/error_bars.md``.
    refits : sequence of models, optional
        For ``errors="bootstrap"``: the model trained again on other samples, such as those of
        :func:`shafer.models.bootstrap_refits`. Each is read like the model, and its weights are
        relative to its own means over the same background.
    threshold : float or {class: float}, optional
        From which probability on the answer is the second of two classes, or the class that is
        named. ``predict``, ``control_error``, ``predict_or_defer``, ``ask``, reasons and
        ``Monitor`` speak of this answer. By default the threshold of the model itself, if it is a
        ``FixedThresholdClassifier`` or ``TunedThresholdClassifierCV``; otherwise the most probable
        class answers. It must be the threshold that is used in practice.
    loss : array of shape (K, K), mapping or data frame, optional
        Instead of a threshold: what each answer (row) costs under each true class (column), such
        as ``{"ill": {"ill": 0, "well": 1}, "well": {"ill": 5, "well": 0}}``. The answer is then the
        class of the least expected loss; with two classes this is a threshold.
    **options
        Options of the model's reader: ``tree_values="path"`` or ``"background"`` for boosted
        trees, with ``background_rows``, the most rows that are compared with;
        ``components="feature"`` or ``"tree"`` for scikit-learn's gradient boosting, ``"feature"``
        or ``"member"`` for AdaBoost, ``"vector"`` or ``"feature"`` for support vector machines,
        ``layer``, ``batch_size`` and ``precision`` for torch modules and ONNX graphs,
        ``constants`` for ONNX graphs, and for torch modules with a feature map
        ``components="locations"``, ``"tokens"`` or ``"channels"``, with ``location_means`` and
        ``grid``; see ``docs/guide/models.md``.

    Attributes
    ----------
    model : fitted model
        As it was given; the graph itself if it was the path of an ONNX file.
    columns : tuple of strings or None
        The columns of the background, if it was a data frame.
    pool : LinearPool or AdditivePool
        The model as evidence: for linear models without groups and with ``prior="shared"``,
        ``pool.beta`` and ``pool.alpha`` are the paper's β*, α*.
    classes : array of shape (K,)
    component_names : tuple of strings
    factor : float
        The factor on all weights, 1 before :meth:`temper`.
    promises : Promises
        The thresholds of :meth:`conformalize` and :meth:`control_error`; also as ``conformal`` and
        ``deferral``.
    ask : InputQuestions
        Questions about inputs, such as ``explainer.ask.next_inputs(X)``.
    weighed_model : WeighedModel
        The model and its means over the background.
    background : as it was given, or None
        None if it was an iterator, or the explainer was read from a file.
    few_rows : as the model takes it, or None
        At most 16 rows of the background, which a saved file keeps as well.
    errors : ErrorBars or None
        Where the errors of the weights come from.

    See Also
    --------
    shafer.Evidence : What it returns.
    shafer.EvidentialClassifier : Trains the model as well.
    shafer.scale.background : The same for data that are spread over machines.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> heart = shafer.datasets.load_heart()
    >>> X = heart.data[:, [heart.feature_names.index("age"), heart.feature_names.index("ldl")]]
    >>> model = LogisticRegression(C=1e6).fit(X, heart.target)
    >>> ev = shafer.Explainer(model, X)(X[:2])
    >>> ev.belief.round(3)
    array([[0.374, 0.323],
           [0.297, 0.487]])
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        groups: Groups | None = "source",
        *,
        sample_weight: Any = None,
        names: Iterable[Any] | None = None,
        classes: Any = None,
        moderate: str | None = None,
        missing: str = "error",
        temper: float = 1.0,
        prior: str = "own",
        n_groups: int = N_GROUPS,
        check: bool = True,
        errors: str | None = None,
        refits: Iterable[Any] | None = None,
        threshold: float | Mapping[Any, float] | None = None,
        loss: Any = None,
        **options: Any,
    ) -> None:
        model = opened(model)
        has_own_base_rate(prior)  # an error if it is no known choice
        names, groups = _held(names), _held(groups)  # refits are read with them again
        groups, options = with_regions(groups, options)  # a segmentation is the reader's option
        sample_weight = in_row_order(sample_weight, background, "sample_weight", "background")
        first_given, batches = as_batches(background, sample_weight)  # the first is in both
        columns = column_order(model, first_given)
        first = in_order(first_given, columns)
        adapted = _with_background(adapt(model, first, **options), first, background, sample_weight)
        self._options = {**options, **adapted.options}  # to read the model without a background
        first = text_rows(adapted.encoders, first, "background")  # a column, if texts are read
        moderation_fit = None if moderate is None else ModerationFit(adapted, moderate)
        bars_fit = ErrorBarsFit(adapted, model, errors, refits, background)
        if missing != "error":
            check_gaps(adapted, missing, background)
        self.factor = checked_factor(temper, "temper")
        with missing_columns_named(first_given, trained_columns(model), "background"):
            self.weighed_model = WeighedModel.fit(
                adapted,
                first,
                batches,
                columns=columns,
                sample_weight=sample_weight,
                groups=groups,
                n_groups=n_groups,
                names=names,
                classes=classes,
                missing=missing,
                moderation=moderation_fit,
                prior=prior,
                laplace=bars_fit.laplace,
                read_again=partial(adapt, model, columns=columns, **self._options),
            ).knowing(partial(known_columns, model, columns))
        self._moderation: Moderation | None = moderation_fit and moderation_fit.moderation()
        self._given = model
        self._promises = Promises()
        self.background = None if isinstance(background, Iterator) else background
        self._background_weight = sample_weight
        self._kept_rows: FewRows | None = None
        self._profile: WeightProfile | None = None
        self._inputs: LinearInputs | None = None
        self._stated = read_answer_rule(threshold, loss, self.classes)
        checked = first if missing == "error" else complete_rows(first)
        if check and checked is not None:
            stated = self._stated is not None
            read = self.weighed_model.as_model  # with the calibration that is part of the model
            check_model(model, checked, read, adapted.cutoff, self._options, stated=stated)
        alike = {"sample_weight": sample_weight, "names": names, "classes": classes}
        alike |= {"missing": missing, "prior": prior, "check": check, **options}
        automatic = isinstance(groups, str) and groups == "auto"
        same = self.weighed_model.groups if automatic else groups  # not those of each refit
        self._refits = tuple(Explainer(m, background, same, **alike) for m in bars_fit.refits)
        for refit in self._refits:
            refit.background = None  # only their weights are needed
        others = [refit.weighed_model for refit in self._refits]
        self.errors = bars_fit.bars(self.weighed_model, others)

    @property
    def model(self) -> Any:
        """The model that is explained, as it was given; of the path of a file, the ONNX graph."""
        return self._given

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the background in the order of training; None if it was not a frame."""
        return self.weighed_model.columns

    @property
    def pool(self) -> Pool:
        """The model as evidence: with ``prior="shared"``, for linear models, the paper's β*, α*."""
        return self.weighed_model.pool

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels, in the order of every array about classes."""
        return self.pool.classes

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, in the order of every array about components."""
        return self.pool.component_names

    @property
    def promises(self) -> Promises:
        """What was promised on held-out rows: prediction sets and deferral."""
        return self._promises

    @property
    def conformal(self) -> ConformalSets | None:
        """The threshold of :meth:`predict_set`, None before :meth:`conformalize`."""
        return self._promises.conformal

    @property
    def deferral(self) -> DeferralControl | None:
        """The thresholds of :meth:`predict_or_defer`, None before :meth:`control_error`."""
        return self._promises.deferral

    @property
    def policy(self) -> Policy:
        """How evidence becomes a decision where no rule is named.

        Sets of classes by interval dominance; once the weights are tempered or moderated, by bets.
        It holds the threshold or the losses of the answers, those stated or the model's own.
        """
        own = self.weighed_model.model.cutoff
        cutoff = own if self._stated is None else self._stated
        return Policy(cutoff=cutoff) if self.calibration.is_plain else Policy.of_bets(cutoff)

    @property
    def ask(self) -> InputQuestions:
        """Questions about the inputs of rows: what to measure, what to check, would it stand."""
        return InputQuestions(self._asked, self.observe)

    @property
    def calibration(self) -> Calibration:
        """The factors on the weights, and the discount: the model's own, tempering, moderation."""
        return Calibration(self.factor, self._moderation, self.weighed_model.model.calibration)

    def __call__(self, X: Any) -> MassEvidence:
        """Return the evidence of the rows of ``X``, as the model would take them.

        Parameters
        ----------
        X : as the model takes it
            The n rows.

        Returns
        -------
        MassEvidence
            ``Evidence``, or ``DiscountedEvidence`` with ``moderate="laplace+discount"``.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)), names=["u", "v"])
        >>> ev = explainer([[2.0, 1.0]])
        >>> ev.weights.round(3), ev.belief.round(3)
        (array([[[-1.  ,  1.  ],
                [ 1.  , -1.  ],
                [-0.25,  0.25]]]), array([[0.344, 0.602]]))
        """
        return self.observe(X, errors=True).evidence

    def observe(self, X: Any, *, errors: bool = False) -> ModelPass:
        """Pass rows through the model once; what follows is computed when it is asked for.

        Parameters
        ----------
        X : as the model takes it
            The rows.
        errors : bool
            Whether the evidence has error bars, if the explainer was made with ``errors=``.

        Returns
        -------
        RowPass
            With ``evidence`` as :meth:`__call__` returns it, ``bet`` (the evidence behind the
            probabilities: tempered and moderated, not discounted) and ``plain``.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
        >>> explainer.observe([[2.0, 1.0]]).bet.probability.round(3)
        array([[0.378, 0.622]])
        """
        # Typicality needs the background rows, or their weights from a saved file.
        known = self.background is not None or self._profile is not None
        profile = self._fitted_profile if known else None
        return self._passed(X, self.calibration, self.errors if errors else None, profile)

    def _passed(
        self,
        X: Any,
        calibration: Calibration,
        errors: ErrorBars | None = None,
        profile: Callable[[], WeightProfile] | None = None,
    ) -> ModelPass:
        """Pass rows through the model once; ``profile`` returns the weights of the background."""
        rows, plain = self.weighed_model(X, errors)
        cutoff = self.policy.cutoff
        plain = plain if cutoff is None else replace(plain, cutoff=cutoff)
        weighed = self.weighed_model
        encoders, columns, schema = weighed.model.encoders, weighed.columns, weighed.schema
        return ModelPass(X, rows, plain, calibration, encoders, profile, columns, schema)

    def interactions(self, X: Any) -> FloatArray:
        """Return what pairs of components say only together, for boosted trees.

        Entry (i, j) is half of what components i and j add only together; the other half is entry
        (j, i). On the diagonal is what a component says alone. The rows of the matrix add up to the
        weights. They are Shapley interactions of the same kind as the weights: path-dependent, or
        with ``tree_values="background"`` interventional. They are not part of the evidence or of a
        saved file; a loaded explainer computes them again.

        Parameters
        ----------
        X : as the model takes it
            The rows.

        Returns
        -------
        array of shape (n, G, G, K)

        See Also
        --------
        shafer.Evidence.weights : Their sums.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> from sklearn.ensemble import GradientBoostingClassifier
        >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10) + 0.01 * np.arange(40)[:, None]
        >>> model = GradientBoostingClassifier().fit(X, [0, 1, 1, 0] * 10)
        >>> explainer = shafer.Explainer(model, X, tree_values="background")
        >>> pairs, weights = explainer.interactions(X), explainer(X).weights
        >>> pairs.shape, np.allclose(pairs.sum(axis=2), weights)
        ((40, 3, 3, 2), True)
        """
        return weight_interactions(self.weighed_model, self.observe(X))

    def temper(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit one factor on all weights by the log loss of held-out rows.

        This is temperature scaling: overconfident weights shrink, underconfident ones grow, and
        the order of the classes stays the same. A weak prior keeps the factor finite for small
        calibration sets and for separable data. With at least 20 rows, the discount of
        ``moderate="laplace+discount"`` takes its distances from these rows. An earlier
        :meth:`conformalize` or :meth:`control_error` no longer applies: it used other weights.

        Parameters
        ----------
        X : as the model takes it
            Rows that were not used to train the model, nor in :meth:`conformalize`.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        Explainer
            The object itself.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(200, 1))
        >>> y = (X[:, 0] + random.normal(size=200) > 0).astype(int)
        >>> sure = shafer.Explainer(([9.0], 0.0), X)
        >>> round(sure.temper(X, y).factor, 2)
        0.19
        """
        y, sample_weight = in_row_order(y, X), in_row_order(sample_weight, X, "sample_weight")
        untempered = self._passed(X, replace(self.calibration, tempering=1.0))
        logits = to_numpy(untempered.bet.logits)
        self.factor = tempering_factor(logits, y, sample_weight, classes=self.classes)
        if self._moderation is not None:
            self._moderation = self._moderation.calibrated(untempered.rows)
        self.promises.clear()
        return self

    def typicality(self, X: Any) -> Array:
        """Return how typical each row's weights are for its class, (n,) in (0, 1].

        A score for out-of-distribution detection: small is atypical. Rows are compared with the
        background, so an explainer that was made from an iterator cannot do it; see
        :func:`shafer.typicality`. A row with a category that a ``OneHotEncoder`` has not been
        trained on gets the smallest value.

        Parameters
        ----------
        X : as the model takes it
            The rows.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> import numpy as np, shafer
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), X)
        >>> explainer.typicality([[0.0, 0.0], [4.0, 5.0]]).round(3)
        array([0.638, 0.008])
        """
        typical = self._passed(X, self.calibration, profile=self._fitted_profile).typicality()
        assert typical is not None  # without a background, the profile raises an error
        return typical

    def _fitted_profile(self) -> WeightProfile:
        """Return the usual weights of the background rows, found once."""
        if self._profile is None:
            if self.background is None:
                raise ValueError(
                    "typicality compares rows with the background, but this explainer was made "
                    "from an iterator and did not keep it. Compare with rows at hand: "
                    "shafer.typicality(explainer(X), explainer(background))."
                )
            _, usual = self.weighed_model(self.background)
            weight = row_weights(self._background_weight, len(usual))
            self._profile = WeightProfile.fit(usual if weight is None else usual[weight > 0.0])
        return self._profile

    def __getstate__(self) -> dict[str, Any]:
        weighed = self.weighed_model
        weighed.model.check_current()
        if self.background is not None:
            self._fitted_profile()  # the data themselves do not belong in a model file
        return ExplainerState(
            model=self._given,
            options=self._options,
            columns=weighed.columns,
            classes=self.classes,
            names=weighed.names,
            groups=weighed.groups,
            means=weighed.means,
            factor=self.factor,
            conformal=self._promises.conformal,
            deferral=deferral_state(self._promises.deferral),
            moderation=self._moderation,
            missing=weighed.missing,
            profile=self._profile,
            inputs=self._inputs_to_keep(),
            prior=weighed.prior,
            errors=None if self.errors is None else self.errors.plain(),
            refits=[refit.__getstate__() for refit in self._refits],
            threshold=self._stated if isinstance(self._stated, Cutoff) else None,
            loss=np.array(self._stated.loss) if isinstance(self._stated, LeastLoss) else None,
            schema=weighed.schema,
            rows=self._rows_to_keep(),
        ).plain()

    def __setstate__(self, given: dict[str, Any]) -> None:
        state = ExplainerState.read(given)
        self._given, self._options = state.model, state.options
        model = _read_again(state)
        self.weighed_model = WeighedModel.identified(
            model,
            means=state.means,
            classes=state.classes,
            names=state.names,
            groups=state.groups,
            missing=state.missing,
            columns=state.columns,
            prior=state.prior,
            schema=state.schema,
        ).knowing(partial(known_columns, state.model, state.columns))
        self.factor = state.factor
        self._stated = state.answer_rule()
        self._promises = Promises(state.conformal, deferral=state.restored_deferral())
        self._moderation, self._profile = state.moderation, state.profile
        self.background = self._background_weight = None
        self._kept_rows = state.rows
        self._refits = tuple(map(_restored, state.refits))
        others = [refit.weighed_model for refit in self._refits]
        self.errors = restored_bars(state.errors, self.weighed_model, others)
        self._inputs = state.inputs

    @property
    def few_rows(self) -> Any:
        """At most 16 rows of the background, also of a loaded explainer; None if there are none."""
        if self._kept_rows is not None:
            return self._kept_rows.rows(self.weighed_model.schema)
        return first_rows(self.background)

    def _rows_to_keep(self) -> FewRows | None:
        """Return rows for a file, if they can be read from it as they are."""
        if rows_are_left_out():
            return None
        if self._kept_rows is not None:
            return self._kept_rows
        rows = in_order(first_rows(self.background), self.columns)
        kept = None if rows is None else FewRows.of(rows)
        if kept is None:
            return None
        try:
            again = self.weighed_model(kept.rows(self.weighed_model.schema))[1].logits
            same = np.array_equal(to_numpy(again), to_numpy(self.weighed_model(rows)[1].logits))
        except (ValueError, TypeError, ImportError):  # such as gaps, which the model refuses
            return None
        return kept if same else None

    def stream(self, batches: Iterable[Any]) -> Iterator[MassEvidence]:
        """Yield the evidence of each batch; only one batch is in memory at a time.

        Parameters
        ----------
        batches : iterable
            Of rows, as the model takes them.

        Yields
        ------
        MassEvidence

        Examples
        --------
        >>> import numpy as np, shafer
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
        >>> batches = (np.full((3, 2), i) for i in range(1000))
        >>> round(sum(float(ev.ignorance.sum()) for ev in explainer.stream(batches)), 3)
        2.149
        """
        for X in batches:
            yield self(X)

    def report(
        self,
        X: Any,
        y: Any = None,
        path: str | PathLike[str] = "report.html",
        *,
        rows: Sequence[int] | None = None,
        judge_first: bool = False,
        **about: Any,
    ) -> Path:
        """Write the evidence about rows as one HTML page, and return its path.

        A single row, such as ``X.loc[[345]]``, gives a page about this case alone: the answer, the
        reasons on both sides, what to check, sliders.

        Parameters
        ----------
        X : as the model takes it
            The rows.
        y : array of shape (n,), optional
            Their true class labels.
        path : str or Path
            The HTML file to write, or a folder for ``report.html``.
        rows : sequence of int, optional
            Positions of the rows to show.
        judge_first : bool
            Hide the model's answer about a row until the reader has given one, as in
            :func:`shafer.report.write_report`.
        **about
            ``title``, ``about``, ``names`` and ``held_out_error``, as in
            :func:`shafer.report.make_study`.

        Returns
        -------
        Path

        See Also
        --------
        shafer.report.write_report : Does the same in two steps.

        Examples
        --------
        >>> import numpy as np, shafer, tempfile
        >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), X)
        >>> explainer.report(X, [1, 0], tempfile.mkdtemp()).name
        'report.html'
        """
        pages = importlib.import_module("shafer.report")  # it stands above this layer
        page = Path(path)
        page = page / "report.html" if page.is_dir() else page
        study = pages.make_study(self, X, y, **about)
        pages.write_report(study, page, rows, judge_first=judge_first, alone=len(study) == 1)
        return page

    def _asked(self) -> AskedModel:
        """Return the model with the distribution of its inputs, found once."""
        if self._inputs is None:
            background, weight = self.background, self._background_weight
            self._inputs = LinearInputs.fit(self.weighed_model, background, weight)
        return AskedModel(self.weighed_model, self.calibration, self._inputs, self.policy.cutoff)

    def _inputs_to_keep(self) -> LinearInputs | None:
        """Return what questions about inputs need, also if none was asked yet."""
        if self.background is None or not LinearInputs.worth_keeping(self.weighed_model):
            return self._inputs
        try:
            return self._asked().inputs
        except (UnsupportedModelError, ValueError):
            return None

    def __repr__(self) -> str:
        size = f"{len(self.component_names)} components, {len(self.classes)} classes"
        if mixing := self.weighed_model.mixing:
            size += f"; behind {', '.join(mixing)} components are features, not columns"
        cutoff = self.policy.cutoff
        answers = "" if cutoff is None else f", {cutoff.text(self.classes)}"
        promised = self.promises.text
        return f"<Explainer: {size}{answers}{'; ' if promised else ''}{promised}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self._facts()
        )
        return f'<div class="tex2jax_ignore mathjax_ignore"><table>{rows}</table></div>'

    def _facts(self) -> list[tuple[str, str]]:
        """Return what a reader asks first, each as a name and a text."""
        weighed, cutoff, promises = self.weighed_model, self.policy.cutoff, self.promises
        background, errors = self.background, self.errors
        n = None if background is None else n_rows(background)
        own = weighed.prior == "own"
        names = self.component_names[:-1] if own else self.component_names
        apart = "the base rate is one more" if own else "they share the base rate"
        weights = [] if self.factor == 1.0 else [f"tempered by {self.factor:.3g}"]
        weights += [] if self._moderation is None else ["moderated"]
        weights += [] if errors is None else [f"error bars: {errors.plain().kind}"]
        facts = [
            ("model", type(self.model).__name__),
            ("classes", listed(label_texts(self.classes), written=str)),
            (
                "answer",
                "the most probable class"
                if cutoff is None
                else cutoff.text(self.classes).removeprefix("answers "),
            ),
            ("components", f"{len(names)}: {listed(names, written=str)}; {apart}"),
            ("background", "not kept" if n is None else f"{n} rows"),
            ("weights", ", ".join(weights) or "as the model has them"),
        ]
        if promises.conformal is not None:
            sets = promises.conformal
            text = f"{sets.text.removeprefix('sets ')}, from {sets.n_calibration} rows"
            facts.append(("prediction sets", text))
        if promises.deferral is not None:
            facts.append(("deferral", promises.deferral.text))
        if promises.conformal is None and promises.deferral is None:
            facts.append(("promises", "none yet: conformalize, control_error"))
        return facts


def _held(given: Any) -> Any:
    """Return what an iterator gives as a list; anything else as it is."""
    return list(given) if isinstance(given, Iterator) else given


def _with_background(
    adapted: ReadModel, first: Any, background: Any, sample_weight: Any
) -> ReadModel:
    """Return a model that compares rows with the background with its rows at hand."""
    if not isinstance(adapted, AdditiveModel) or adapted.against is None:
        return adapted
    if isinstance(background, Iterator):
        raise ValueError(
            "tree_values='background' compares each row with all rows of the background, but this "
            "background is an iterator of batches. Pass a sample of its rows as one table."
        )
    return adapted.compared(first, row_weights(sample_weight, n_rows(first)))


def _read_again(state: ExplainerState) -> ReadModel:
    model = adapt(state.model, columns=state.columns, **state.options)
    if "components" in model.options and "components" not in state.options:
        # Files that do not name the components of scikit-learn's boosting hold trees.
        return adapt(state.model, columns=state.columns, **state.options, components="tree")
    return model


def _restored(state: dict[str, Any]) -> Explainer:
    explainer = Explainer.__new__(Explainer)
    explainer.__setstate__(state)
    return explainer
