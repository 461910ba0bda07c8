"""``WeighedEvidence``: weights of evidence of components, and what can be asked of them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import array_api_compat
import numpy as np

from shafer._typing import Array, Label
from shafer._validation import frozen, is_one_label, one_position, to_numpy
from shafer.evidence.base_rate_components import base_rate_positions
from shafer.evidence.component_conflict import own_conflict
from shafer.evidence.component_layout import ComponentLayout
from shafer.evidence.fragility import check_chance, source_fragility
from shafer.evidence.input_values import InputValues
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.most_probable import TOP, most_probable
from shafer.evidence.reasons import ReasonOptions, reasons_frame
from shafer.evidence.scorecard_points import PointScale, scored_weights
from shafer.evidence.weight_errors import WeightErrors
from shafer.evidence.weight_errors.error_intervals import (
    interval,
    known_errors,
    standard_deviations,
)
from shafer.evidence.weight_sources import WeightSource
from shafer.kernels import Pooled


@dataclass(frozen=True, eq=False, repr=False)
class WeighedEvidence(MassEvidence, ABC):
    """The components behind a mass function, each with a weight for or against each class.

    This is the part of :class:`shafer.Evidence` that explains: weights, contrasts, reasons, points,
    error bars, disagreement and fragility.
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
    layout: ComponentLayout | None = None
    """Where the components lie in an image or a text, if they do."""
    calibrated: bool = False
    """Whether the weights were tempered or moderated: then costs are decided by expected loss."""

    # -- the shape ------------------------------------------------------------------------------

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

    def contrast(self, a: Label, b: Label) -> Array:
        """Weights of the components for class ``a`` over class ``b``, (n, G).

        The weight for a minus the weight for b: what each component adds to the log-odds
        ln(p_a / p_b), which is the sum over the components. A weight of +1 multiplies the odds by
        2.7. For two classes these are the units of SHAP values, twice the weights for the class.

        Parameters
        ----------
        a, b : class labels

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
        first = one_position(a, self.classes, "a")
        second = one_position(b, self.classes, "b")
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

    def contrast_std(self, a: Label, b: Label) -> Array:
        """Return the standard errors of the contrast of two classes, (n, G).

        The weights for the two classes are correlated, which is taken into account.

        Parameters
        ----------
        a, b : class labels

        Returns
        -------
        array of shape (n, G)
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

        Returns
        -------
        lower, upper : arrays of shape (n, G)
        """
        errors = self._known_errors()
        return interval(self.contrast(a, b), self.contrast_std(a, b), errors, level)

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
        return scale.of_weights(weights, self.component_names)

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

    def fragility(self, q: float = 0.2) -> Array:
        r"""Return the chance that the decision falls if each component is lost with chance q, (n,).

        A lost component keeps only its share of the base rate. With a the most probable class and
        :math:`d_{gk} = (w_{ga} - b_a/G) - (w_{gk} - b_k/G)`, the lead of a over k loses
        :math:`\sum_g d_{gk}` over the lost components. Up to 8 components, all combinations of
        losses are tried. With more, the sum is taken as normal; for two classes

        .. math:: P = \Phi\Bigl(-\frac{z_a - z_k - q \sum_g d_{gk}}
                  {\sqrt{q (1 - q) \sum_g d_{gk}^2}}\Bigr).

        With 10 components, the error of this is 0.02 on average and seldom above 0.1.
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
        certain = base_rate_positions(source, self.component_names)
        found = source_fragility(source, check_chance(q), certain)
        logits = self.pooled.logits
        xp = array_api_compat.array_namespace(logits)
        return xp.asarray(found, dtype=logits.dtype, device=logits.device)

    def _constant(self, value: float) -> Array:
        xp = array_api_compat.array_namespace(self.pooled.logits)
        return xp.full_like(self.pooled.logits[..., 0], value)
