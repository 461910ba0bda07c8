r"""The closed forms of ``_kernels/forms.py`` as a graph.

The weights of a model add up to zero over the classes, in every component. So the largest logit
is not negative, and :math:`D \ge 1/2`: either :math:`P \le 1/2`, or all :math:`w^-_k > \ln 2` and
then :math:`s_k \ge 1/2` for the class with the largest logit. Therefore 1 − P needs no logarithm.
ONNX has no ``expm1``; :math:`1 - e^{-w} = \tanh(w/2) (1 + e^{-w})` keeps all digits of a small w.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from shafer._kernels.forms import gauss_legendre, quadrature_size
from shafer._kernels.pooling import ROUNDINGS_OF_POOLED
from shafer._typing import FloatArray
from shafer.decision.policy import AnswerRule, Cutoff
from shafer.decision.ties import tie_width
from shafer.export.nodes import Value

# ln v of a class without evidence against it (v = 0). It stands for −∞: its exponential is zero.
_NEVER = -1000.0

CLASS_FORMS = (
    "probability",
    "belief",
    "plausibility",
    "pignistic",
    "logits",
    "weights_for",
    "weights_against",
)
ROW_FORMS = ("ignorance", "conflict", "weight_of_conflict")


@final
class GraphForms:
    """The quantities of an evidence as values of a graph; only those that are read are built.

    Parameters
    ----------
    pooled : Value of shape (n, 2 K)
        The weights for the K classes, then the weights against them.
    n_classes : int
    """

    def __init__(self, pooled: Value, n_classes: int) -> None:
        self._pooled = pooled
        self._n_classes = n_classes

    @cached_property
    def _sides(self) -> list[Value]:
        return self._pooled.halves()

    @property
    def weights_for(self) -> Value:
        """The weights w⁺, (n, K)."""
        return self._sides[0]

    @property
    def weights_against(self) -> Value:
        """The weights w⁻, (n, K)."""
        return self._sides[1]

    @cached_property
    def logits(self) -> Value:
        """The logits w⁺ − w⁻, (n, K)."""
        return self.weights_for - self.weights_against

    @cached_property
    def _silent_both(self) -> Value:
        return (-self._pooled).exp()

    @cached_property
    def _silent(self) -> list[Value]:
        """e^−w of both sides: the chances that the evidence does not hold."""
        return self._silent_both.halves()

    @cached_property
    def fires(self) -> list[Value]:
        """1 − e^−w of both sides: a for, and v against."""
        half = (self._pooled * 0.5).op("Tanh")
        return (half * (self._silent_both + 1.0)).halves()

    @cached_property
    def _shift(self) -> Value:
        return self.logits.max()

    @cached_property
    def _odds(self) -> Value:
        return (self.logits - self._shift).exp()

    @cached_property
    def _all_denied(self) -> Value:
        """P, the product of v over the classes, (n, 1)."""
        return self.fires[1].product()

    @cached_property
    def _total(self) -> Value:
        """D, relative to the largest logit, (n, 1)."""
        open_part = (1.0 - self._all_denied) * (-self._shift).exp()
        return (self._odds * self.fires[0]).sum() + open_part

    @cached_property
    def probability(self) -> Value:
        """The softmax of the logits, (n, K)."""
        return self._odds / self._odds.sum()

    def labels(self, rule: AnswerRule | None, labels: NDArray[Any]) -> Value:
        """Return the label of each row's answer, (n,), as ``predict`` gives it.

        A row with NaN has the smallest integer, or an empty text.

        Parameters
        ----------
        rule : Cutoff, LeastLoss or None
            What answers; by default the most probable class.
        labels : array of shape (K,)
            Whole numbers, or texts.
        """
        first, constant = self._answers(rule), self._pooled.graph.constant
        nothing = np.array("" if labels.dtype.kind == "O" else np.iinfo(np.int64).min, labels.dtype)
        known = self.logits.sum(keepdims=False).op("IsNaN")
        return known.op("Where", nothing, constant(labels).op("Gather", first))

    def answer_over_rival(self, rule: AnswerRule | None) -> Value:
        """Return 1 for the answer of each row, −1 for the most probable other class, (n, K)."""
        answer = self._one_hot(self._answers(rule))
        others = answer.cast(TensorProto.BOOL).op("Where", -np.inf, self.logits)
        return answer - self._one_hot(others.first_largest())

    def _one_hot(self, positions: Value) -> Value:
        classes = np.arange(self._n_classes, dtype=np.int64)
        return positions.with_axis(1).op("Equal", classes).cast(TensorProto.DOUBLE)

    def _answers(self, rule: AnswerRule | None) -> Value:
        """Return the position of each row's answer, (n,)."""
        size = self.logits.op("Abs").max() + 1.0
        if rule is None:
            best = self.logits + size * 1e-9  # the first of those that tie, as in ``ties.py``
            leads = best.op("GreaterOrEqual", self._shift)
        elif isinstance(rule, Cutoff):
            here = np.eye(2)[[rule.position]]
            shifted = self.logits + rule.shift[None]
            leads = (shifted + size * (1e-13 * here)).op("GreaterOrEqual", shifted.max())
            # Of two that lead, the positive class answers.
            other = leads.cast(TensorProto.DOUBLE) * here
            leads = (leads.cast(TensorProto.DOUBLE) * (1.0 - here)) * (1.0 - other.max()) + other
        else:
            expected = self.probability @ np.ascontiguousarray(rule.regret.T)
            least = -((-expected).max())
            leads = expected.op("LessOrEqual", least + least * size * 1e-13)
        return leads.cast(TensorProto.DOUBLE).first_largest()

    def kept(self, score: str, threshold: float | FloatArray, *, allow_empty: bool) -> Value:
        """Return the calibrated set of each row, boolean (n, K). A row with NaN keeps all classes.

        Parameters
        ----------
        score : str
            Which score, as in ``conformalize``.
        threshold : float or array of shape (K,)
        allow_empty : bool
        """
        found = self._conformal_score(score)
        limit = np.reshape(threshold, (1, -1))
        kept = found.op("Greater", limit + tie_width(limit)).op("Not")
        if allow_empty:
            return kept
        smallest = -((-found).max())
        finite = smallest.at_least(np.finfo(np.float64).min)  # −∞ ties with itself only
        width = (finite.op("Abs") + 1.0) * float(tie_width(0.0))
        near = found.op("LessOrEqual", finite + width).cast(TensorProto.DOUBLE)
        return kept.op("Or", self._one_hot(near.first_largest()).cast(TensorProto.BOOL))

    def _conformal_score(self, name: str) -> Value:
        """Return the scores of ``conformal/scores.py``, (n, K)."""
        least = (self._pooled.max() + 1.0) * (ROUNDINGS_OF_POOLED * np.finfo(np.float64).eps)
        clear = GraphForms(
            self._pooled.op("Greater", least).op("Where", self._pooled, 0.0), self._n_classes
        )
        relative = self.logits - self._shift
        log_others = clear.log_denied.sum_of_others()
        if name == "plausibility":
            doubt = (self._odds * clear.fires[0]).sum_of_others()
            # 1 − e^x without the loss of digits of a small x.
            any_open = (log_others * -0.5).op("Tanh") * (log_others.exp() + 1.0)
            return (doubt + clear.fires[1] * any_open * (-self._shift).exp()).log() - relative
        belief = clear.share(log_others.exp()).log() + relative
        values, positions = belief.largest(2)
        top, second = values.halves()
        is_top = self._one_hot(positions.gather(np.zeros(1, dtype=np.int64)).without_axis(1))
        return is_top.cast(TensorProto.BOOL).op("Where", second, top) - relative

    @cached_property
    def log_denied(self) -> Value:
        """Ln v = ln(1 − e^−w⁻), exact for small and for large w⁻, (n, K)."""
        open_part = self._silent[1]
        rest = 1.0 - open_part
        lost = 1.0 - rest  # what of e^−w is left after rounding; ln(1 − e^−w) is exact for that
        near = lost.op("Equal", 0.0).op("Where", -open_part, rest.log() * open_part / lost)
        far = self.fires[1].log().at_least(_NEVER)
        return open_part.op("Less", 0.5).op("Where", near, far)

    @cached_property
    def plausibility(self) -> Value:
        """The plausibility u e^w⁺ / D, (n, K)."""
        return (self._odds / self._total).at_most(1.0)

    @cached_property
    def belief(self) -> Value:
        """The belief pl (1 − e^−w⁺ + e^−w⁺ Π v of the other classes), (n, K)."""
        log_v = self.fires[1].log().at_least(_NEVER)
        others_denied = (log_v.sum() - log_v).exp()
        return self.plausibility * self.share(others_denied)

    def share(self, open_share: Value) -> Value:
        """Return what of a plausibility is kept if this share of its open part is."""
        return (self._silent[0] * open_share + self.fires[0]).at_most(1.0)

    @cached_property
    def pignistic(self) -> Value:
        """The pignistic probability by exact quadrature, (n, K)."""
        distance, weight = gauss_legendre(quadrature_size(self._n_classes))
        u, v = (side.with_axis(1) for side in (self._silent[1], self.fires[1]))
        log_factor = (u * (1.0 - distance)[:, None] + v).log()  # (n, nodes, K)
        product = (log_factor.sum(2) - log_factor).exp()
        integral = (product * weight[:, None]).sum(1, keepdims=False)
        return (self.plausibility * self.share(integral)).at_least(self.belief)

    @cached_property
    def ignorance(self) -> Value:
        """The ignorance Π u / D, (n,)."""
        log_all_u = -(self.weights_against.sum() + self._shift)
        return (log_all_u.exp() / self._total).at_most(1.0).without_axis(1)

    @cached_property
    def conflict(self) -> Value:
        """The total conflict, a sum of nonnegative terms, (n,)."""
        return self._two_classes() if self._n_classes == 2 else self._many_classes()

    def _two_classes(self) -> Value:
        """Return the product of 1 − e^−2w⁺, since the weights of two classes are opposite."""
        twice = self.fires[0] * (self._silent[0] + 1.0)
        return twice.product(keepdims=False).at_most(1.0)

    def _many_classes(self) -> Value:
        w, (fires, denied) = self.weights_for, self.fires
        contradicted = (fires * (-w.sum_of_others()).exp() * denied).sum()
        all_denied = (-w.sum()).exp() * self._all_denied
        whole = self._two_or_more_fire() + contradicted + all_denied
        return whole.at_most(1.0).without_axis(1)

    def _two_or_more_fire(self) -> Value:
        """Return the chance that evidence for two or more classes holds, (n, 1).

        As in the kernels: sum over the rank of the second class, the largest weight first.
        """
        w, order = self.weights_for.largest(self._n_classes)
        fires = self.fires[0].op("GatherElements", order, axis=1)
        one_before = (fires * (w - self.weights_for.max()).exp()).cumulative_sum()
        behind_first = np.ones((1, self._n_classes))
        behind_first[0, 0] = 0.0
        silent = (-(w * behind_first).cumulative_sum()).exp()
        return (fires * one_before * silent).sum()

    @cached_property
    def weight_of_conflict(self) -> Value:
        """The weight of conflict −ln(1 − κ), (n,)."""
        kappa = self.conflict
        small = kappa.at_most(0.5)
        rest = 1.0 - small
        lost = 1.0 - rest  # what of κ is left after rounding; ln(1 − κ) is exact for that
        exact = -(rest.log() * small / lost)
        near = lost.op("Equal", 0.0).op("Where", small, exact)
        far = self.weights_for.sum() - (self._shift + self._total.log())
        return kappa.op("Less", 0.5).op("Where", near, far.without_axis(1).at_least(0.0))
