"""The sentence about one instance, the same in the terminal and on the page.

It compares the answer with the runner-up, in log-odds. The words "weakly", "moderately" and
"strongly" come from the degree of support 1 − exp(−|c|) of a contrast c: the belief that the
component alone would give to one of the two classes, if there were no others. ``sentence.js`` in
``templates/scripts`` writes the same sentence on the page; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray
from shafer._values import short_name
from shafer.decision.policy import AnswerRule, LeastLoss
from shafer.evidence.base_rate import base_rate_position
from shafer.evidence.contrast import Pair, answer_and_rival, disputed_classes
from shafer.evidence.errors import interval
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.table import label_texts
from shafer.evidence.words import (
    CONFLICTING,
    LACKING,
    MOSTLY_AGREE,
    close_call,
    disagreement_words,
    ignorance_words,
)

if TYPE_CHECKING:
    from shafer.report.study import Study


NAMED = 4
"""The sentence names at most this many components."""
BARS = 10
"""So many components have bars of their own, besides the base rate; the others are one bar."""
BARELY, WEAKLY, MODERATELY = 0.05, 0.2, 0.5
"""Below these degrees of support a component is not named, is called weak, moderate."""


def degrees_of_support(contrast: FloatArray) -> FloatArray:
    """Return how far each component alone supports one of two classes, from 0 to 1.

    ``contrast`` holds the weights for one class over the other: a degree of 0.5 doubles the odds.
    """
    return -np.expm1(-np.abs(contrast))


def strength(support: float) -> str:
    """Return the word for a degree of support."""
    if support < WEAKLY:
        return "weakly"
    return "moderately" if support < MODERATELY else "strongly"


def _phrase(title: str, contrast: float, whom: str) -> str:
    word = strength(float(degrees_of_support(np.asarray(contrast))))
    return f"{title} {word} {'supports' if contrast > 0 else 'opposes'} {whom}"


def _named(contrast: FloatArray, titles: Sequence[str], label: str) -> str:
    """Name the components with the largest contrasts, those for the class first."""
    support = degrees_of_support(contrast)
    order = np.argsort(-np.abs(contrast), kind="stable")[:NAMED].tolist()
    clear = [g for g in order if support[g] >= BARELY]
    clear.sort(key=lambda g: contrast[g] < 0)  # the order is kept
    if not clear:
        return f"no component clearly supports or opposes {label}"
    return ", ".join(
        _phrase(titles[g], float(contrast[g]), label if position == 0 else "it")
        for position, g in enumerate(clear)
    )


def _dispute(
    disagreement: float, weights: FloatArray, labels: Sequence[str], opposed: float
) -> str:
    """Return how far the components disagree, and about which two classes most.

    Without two such classes, no component favours another class than the answer. ``opposed`` is
    the degree of support of the strongest bar against the answer. The words do not say that the
    components agree if there is such a bar.
    """
    disputed = disputed_classes(weights) if disagreement >= LACKING else None
    if disputed is None:
        if opposed >= MODERATELY:
            return disagreement_words(LACKING)
        return MOSTLY_AGREE if opposed >= BARELY else disagreement_words(0.0)
    words = disagreement_words(disagreement)
    first, second = (labels[k] for k in disputed)
    return f"{words}{' about' if len(labels) == 2 else ', most about'} {first} or {second}"


def _answer(decided: Sequence[str], n_classes: int, doubtful: bool, close: str) -> str:
    if len(decided) == 1 and close:
        return close
    if len(decided) == 1:
        return f"the answer is {'still ' if doubtful else ''}{decided[0]}"
    if len(decided) > 5:
        return f"the answer stays open among {len(decided)} of {n_classes} classes"
    return f"the answer stays open between {', '.join(decided[:-1])} and {decided[-1]}"


def _stated_answer(label: str, rule: AnswerRule, labels: Sequence[str], close: str) -> str:
    """Return the answer by a threshold or by losses."""
    if close:
        return close
    if isinstance(rule, LeastLoss):
        return f"the answer is {label}, which has the least expected loss"
    of = labels[rule.position]
    return f"the answer is {label}, by the threshold {rule.threshold:.3g} of {of}"


def sentence(evidence: MassEvidence, titles: Sequence[str]) -> str:
    """Return a sentence about the first instance of the evidence.

    Parameters
    ----------
    evidence : Evidence or DiscountedEvidence
        One instance.
    titles : sequence of G strings
        The components as the sentence calls them, such as ``age 61``.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[-0.9, 0.9], [0.1, -0.1]]], classes=["no", "yes"])
    >>> sentence(ev, ["age 61", "LDL 3.1"])
    'age 61 strongly supports yes, LDL 3.1 weakly opposes it; ignorance is moderate; \
the components mostly agree; the answer is yes.'
    """
    labels = [short_name(label) for label in label_texts(evidence.classes)]
    weighted = evidence.weighed
    base_rate = base_rate_position(weighted)
    parts_of = to_numpy(weighted.weights)[0].astype(np.float64)
    answer, rival = (int(k[0]) for k in answer_and_rival(weighted))
    contrast = parts_of[:, answer] - parts_of[:, rival]
    features = [g for g in range(len(contrast)) if g != base_rate]
    reasons = _named(contrast[features], [titles[g] for g in features], labels[answer])
    parts = [reasons if len(labels) == 2 else f"compared with {labels[rival]}, {reasons}"]
    if base_rate is not None and degrees_of_support(contrast)[base_rate] >= BARELY:
        parts.append(_phrase("the base rate", float(contrast[base_rate]), labels[answer]))
    ignorance, disagreement = float(evidence.ignorance[0]), float(weighted.disagreement[0])
    decided = np.flatnonzero(to_numpy(evidence.decide("interval_dominance"))[0])
    doubtful = ignorance >= LACKING or disagreement >= CONFLICTING
    close = close_call(to_numpy(weighted.probability)[0], labels, weighted.cutoff)
    parts += [
        f"ignorance is {ignorance_words(ignorance)}",
        _dispute(disagreement, parts_of, labels, _opposed(contrast, base_rate)),
        _answer([labels[k] for k in decided], len(labels), doubtful, close)
        if weighted.cutoff is None
        else _stated_answer(labels[answer], weighted.cutoff, labels, close),
    ]
    return "; ".join(parts) + "."


def _opposed(contrast: FloatArray, base_rate: int | None) -> float:
    """Return the degree of support of the strongest bar against the answer, 0 without one."""
    order = [g for g in np.argsort(-np.abs(contrast), kind="stable") if g != base_rate]
    bars = contrast[[*order[:BARS], *([] if base_rate is None else [base_rate])]]
    return float(degrees_of_support(np.minimum(bars, 0.0)).max(initial=0.0))


# The figures at the top of a report, the same in the terminal and on the page.

OVERLAP = (
    "Evidence can be lacking, and components can disagree, whether one class is decided or several "
    "are left open. So these groups overlap."
)


@final
@dataclass(frozen=True)
class Overview:
    """Shares of the instances. ``decided`` and ``left_open`` add up to one; the others overlap.

    Attributes
    ----------
    instances : int
    held_out_error, error : float, optional
        Error on held-out rows, and on the rows of the study.
    decided, left_open : float
        Share of the instances whose decided set has one class, or several.
    lacking, disagreeing : float
        Share of the instances with much ignorance, and with much disagreement.
    """

    instances: int
    held_out_error: float | None
    error: float | None
    decided: float
    left_open: float
    lacking: float
    disagreeing: float


def overview(study: Study) -> Overview:
    """Return the figures of all instances of a study."""
    decided = float(np.mean(study.decided.sum(axis=1) == 1))
    return Overview(
        instances=len(study),
        held_out_error=study.held_out_error,
        error=None if study.truth is None else float(np.mean(study.wrong)),
        decided=decided,
        left_open=1.0 - decided,
        lacking=float(np.mean(to_numpy(study.evidence.ignorance) >= LACKING)),
        disagreeing=float(np.mean(to_numpy(study.undiscounted.disagreement) >= CONFLICTING)),
    )


# Intervals of contrasts: their level and half-widths, on the page and in the terminal.

LEVEL = 0.9
"""Level of the intervals that a report shows."""


def half_widths(std: FloatArray, evidence: Evidence) -> FloatArray:
    """Return how far the intervals of an evidence reach, for some standard errors."""
    _, upper = interval(np.zeros_like(std), std, evidence.errors, LEVEL)
    return to_numpy(upper).astype(np.float64)


def contrast_errors(evidence: Evidence, pair: Pair) -> FloatArray | None:
    """Return the half-widths of the contrasts of the first row, (G,); None if not known."""
    if evidence.errors is None:
        return None
    labels = evidence.classes.tolist()
    std = to_numpy(evidence[:1].contrast_std(labels[pair.class_], labels[pair.over]))[0]
    return half_widths(std, evidence)


def sum_error(evidence: Evidence, pair: Pair) -> float | None:
    """Return the half-width of the log-odds of the first row; None if not known."""
    if evidence.errors is None:
        return None
    half = contrast_errors(evidence[:1].grouped("one"), pair)
    assert half is not None
    return float(half[0])
