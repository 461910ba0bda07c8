"""Degrees of ignorance, conflict and disagreement in words, and reasons as sentences.

They are the same in tables, in the terminal and on every page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from shafer._typing import FloatArray
from shafer._values import short_name, shown_value
from shafer.decision.policy import AnswerRule, LeastLoss

MOSTLY_AGREE = "the components mostly agree"
LACKING, CONFLICTING = 0.2, 0.5
"""From this ignorance on evidence is called lacking, from this conflict on conflicting."""


def ignorance_words(ignorance: float) -> str:
    """Return a word for how high the ignorance is."""
    if ignorance >= 0.5:
        return "very high"
    if ignorance >= LACKING:
        return "high"
    return "moderate" if ignorance >= 0.05 else "low"


def conflict_words(conflict: float) -> str:
    """Return words for how far the components agree."""
    if conflict >= CONFLICTING:
        return "the evidence conflicts"
    return "the evidence partly disagrees" if conflict >= LACKING else "the evidence agrees"


def disagreement_words(disagreement: float) -> str:
    """Return words for how far the components contradict each other."""
    if disagreement >= CONFLICTING:
        return "the components disagree"
    return "the components partly disagree" if disagreement >= LACKING else "the components agree"


# An answer that is hardly more probable than the next class.

CLOSE = 0.05
"""Below this difference of two probabilities, an answer is called a close call."""


def close_call(
    probability: FloatArray, labels: Sequence[str], rule: AnswerRule | None = None
) -> str:
    """Return words for an answer that is a close call; "" if it is not.

    It is one if the two most probable classes differ by less than 5 points, or, with a threshold,
    if the probability is less than 5 points from it. Other rules have no close calls.

    Parameters
    ----------
    probability : array of shape (K,)
    labels : sequence of K strings
    rule : Cutoff or LeastLoss, optional
        What answers, if it is not the most probable class.

    Examples
    --------
    >>> import numpy as np
    >>> close_call(np.array([0.504, 0.488, 0.008]), ["Adelie", "Chinstrap", "Gentoo"])
    'close call: Adelie 50 %, Chinstrap 49 %'
    """
    if isinstance(rule, LeastLoss):
        return ""
    if rule is not None:
        p = float(probability[rule.position])
        threshold = f"threshold {_points(rule.threshold)}"
        near = abs(p - rule.threshold) < CLOSE
        return f"close call: {labels[rule.position]} {_points(p)}, {threshold}" if near else ""
    first, second = np.argsort(-probability, kind="stable")[:2].tolist()
    if probability[first] - probability[second] >= CLOSE:
        return ""
    both = (f"{labels[k]} {_points(float(probability[k]))}" for k in (first, second))
    return f"close call: {', '.join(both)}"


def _points(probability: float) -> str:
    return f"{math.floor(100.0 * probability + 0.5)} %"


# Why a probability lies outside its interval from belief to plausibility, in a few words.

_ROUNDING = 1e-9


def below_belief_words(probability: float, belief: float) -> str:
    """Return by how much a probability lies below its belief, and why; "" if it does not.

    With three or more classes it can. The probability is the plausibility divided by the sum of
    all plausibilities, in which mass on a set counts once for each class of the set. It is never
    above the plausibility, as that sum is at least 1.

    Examples
    --------
    >>> below_belief_words(1 / 3, 1 / 2)
    'p is 0.167 below the belief: in p, mass on several classes counts once for each of them'
    >>> below_belief_words(0.6, 0.5)
    ''
    """
    gap = belief - probability
    if gap <= _ROUNDING:
        return ""
    amount = "less than 0.001" if gap < 0.0005 else f"{gap:.3f}"
    return (
        f"p is {amount} below the belief: in p, mass on several classes counts once for each of "
        "them"
    )


# What is usual in a column, and a reason as a sentence.

IN_TEXT, NOT_IN_TEXT = "in the text", "not in the text"
"""Values of a word."""


@final
@dataclass(frozen=True)
class Usual:
    """What is usual in a column of the background.

    Attributes
    ----------
    low, middle, high : float
        Of numbers: the median, and the range from the 10 % to the 90 % quantile. NaN otherwise.
    most : str
        Of categories, and of numbers with at most two values: the most frequent value. Empty
        otherwise.
    share : float
        The share of the rows that have the most frequent value.
    """

    low: float = math.nan
    middle: float = math.nan
    high: float = math.nan
    most: str = ""
    share: float = math.nan

    @classmethod
    def of(cls, given: Any) -> Usual:
        """Read what :meth:`plain` gave."""
        numbers = [isinstance(part, int | float) and math.isfinite(part) for part in given]
        if len(numbers) == 3 and all(numbers):
            low, middle, high = map(float, given)
            return cls(low, middle, high)
        if len(numbers) == 2 and isinstance(given[0], str) and numbers[1]:
            return cls(most=given[0], share=float(given[1]))
        raise ValueError("what is usual in its inputs is damaged")

    def plain(self) -> list[Any]:
        """Return it as JSON has it: three numbers, or a value and its share."""
        return [self.most, self.share] if self.most else [self.low, self.middle, self.high]

    @cached_property
    def text(self) -> str:
        """The median and the range, or the most frequent value and its share.

        Examples
        --------
        >>> Usual(3.04, 4.32, 6.94).text, Usual(most="none", share=0.39).text
        ('4.3 (3.0–6.9)', 'none (39 %)')
        """
        if self.most:
            return f"{short_name(self.most)} ({100.0 * self.share:.0f} %)"
        return f"{self.written(self.middle)} ({self.range})"

    @cached_property
    def range(self) -> str:
        """The usual range of numbers."""
        low, high = self.written(self.low), self.written(self.high)
        return low if low == high else f"{low}–{high}"

    def written(self, value: float) -> str:
        """Write a number with as many decimals as tell the ends of the range apart."""
        if self._digits is None or abs(value) >= 1e15 or (self._are_whole and value.is_integer()):
            return shown_value(value).replace("-", "−")
        return f"{value:.{self._digits}f}".replace("-", "−")

    @cached_property
    def _are_whole(self) -> bool:
        return all(end.is_integer() for end in (self.low, self.middle, self.high))

    @cached_property
    def _digits(self) -> int | None:
        """Decimals of the range; None for widths that are better written with exponents."""
        width = self.high - self.low
        return max(0, 1 - math.floor(math.log10(width))) if 1e-6 < width < 1e15 else None

    def place(self, value: float) -> str:
        """Say where a number lies, beside the range."""
        width = self.high - self.low
        if self.low <= value <= self.high:
            return f"within the usual {self.range}"
        beyond = value - self.high if value > self.high else self.low - value
        side = "above" if value > self.high else "below"
        return f"{'far ' if beyond > width > 0.0 else ''}{side} the usual {self.range}"


def input_words(name: str, value: Any, usual: Usual | None, *, known: bool = True) -> str:
    """Name an input with its value, and where that lies beside what is usual.

    Examples
    --------
    >>> input_words("LDL", 11.89, Usual(3.04, 4.32, 6.94))
    'LDL 11.9, far above the usual 3.0–6.9,'
    >>> input_words("savings", "none", Usual(most="none", share=0.6))
    'savings = none, the most frequent value,'
    >>> input_words("famhist", 1.0, Usual(most="0", share=0.58))
    'famhist 1, most often 0,'
    >>> input_words("alk.phos", None, None)
    'alk.phos not measured'
    """
    name = short_name(name)
    if not known:
        return name
    if value is None:
        return f"{name} not measured"
    is_number = isinstance(value, int | float | np.integer | np.floating)
    is_number = is_number and not isinstance(value, bool)
    if usual is not None and not usual.most and is_number and math.isfinite(value):
        return f"{name} {usual.written(float(value))}, {usual.place(float(value))},"
    if value in (IN_TEXT, NOT_IN_TEXT):
        return f"‘{name}’ {value}"
    shown = shown_value(float(value)) if is_number else short_name(str(value))
    whole = f"{name} {shown}" if is_number else f"{name} = {shown}"
    if usual is None or not usual.most:
        return whole
    if usual.most in (shown, str(value)):
        return f"{whole}, the most frequent value,"
    return f"{whole}, most often {short_name(usual.most)},"


def factor_words(log_odds: float, odds: str = "") -> str:
    """Say what log-odds do to the odds of a class, which may be named.

    Examples
    --------
    >>> factor_words(1.224, "CHD"), factor_words(-0.7, "CHD"), factor_words(0.001, "CHD")
    ('multiplies the odds of CHD by 3.4', 'divides the odds of CHD by 2.0', \
'leaves the odds of CHD as they are')
    """
    factor, odds = math.exp(min(abs(log_odds), 700.0)), f"odds of {odds}" if odds else "odds"
    if factor < 1.005:
        return f"leaves the {odds} as they are"
    if abs(log_odds) > 13.8:
        shown = "more than a million"
    elif factor < 1.1:
        shown = f"{factor:.2f}"
    else:
        shown = f"{factor:.1f}" if factor < 10.0 else f"{factor:.0f}"
    return f"{'multiplies' if log_odds > 0.0 else 'divides'} the {odds} by {shown}"


def reason_words(
    name: str,
    value: Any,
    usual: Usual | None,
    amount: float,
    odds: str,
    *,
    known: bool = True,
    plain: bool = False,
    without: tuple[str, float] | None = None,
) -> str:
    """Return a reason as a sentence.

    Parameters
    ----------
    name : str
        The component.
    value : number, str or None
        Of its input; None if it is missing.
    usual : Usual, optional
        What is usual in its column.
    amount : float
        What it adds to the log-odds; or its weight for one class, if ``plain``.
    odds : str
        The class; with three or more classes "a over b".
    known : bool
        Whether the value is known.
    plain : bool
        Whether the amount is a weight.
    without : pair, optional
        The class, and the probability that it would have without the component.

    Examples
    --------
    >>> reason_words("LDL", 11.89, Usual(3.04, 4.32, 6.94), 1.224, "CHD")
    'LDL 11.9, far above the usual 3.0–6.9, multiplies the odds of CHD by 3.4'
    """
    what = input_words(name, value, usual, known=known)
    if plain:
        does = "supports" if amount > 0.0 else "opposes"
        return f"{what} {does} {odds} with a weight of {abs(amount):.2f}"
    said = f"{what} {factor_words(amount, odds)}"
    if without is None:
        return said
    return f"{said}; without it the probability of {without[0]} would be {100.0 * without[1]:.0f} %"
