r"""One instance in plain words, the same in the terminal and on the page.

A weight of evidence w is the degree of support :math:`1 - e^{-|w|}`: what the component would make
believed if it were alone. The words follow that degree. ``templates/words.js`` says the same of an
instance that is being changed on the page; a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context
from typing import Any

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence import AnyEvidence
from shafer.evidence.degree_words import agreement, unknown
from shafer.evidence.io.frame_table import label_texts

NAMED = 4
"""So many components are named at most."""
BARELY, WEAKLY, MODERATELY = 0.05, 0.2, 0.5
"""Degrees of support up to which a component is not named, speaks weakly, moderately."""

_LONGEST = 40
_FOUR_DIGITS = Context(prec=4, rounding=ROUND_HALF_UP)


def shortened(text: str) -> str:
    """Bring a name to a length that leaves a sentence readable."""
    if not text.strip():
        return "(blank)"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def shown_value(value: Any) -> str:
    """Write an input value: whole numbers as they are, others to four digits."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return shortened(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    # Rounded and written as JavaScript does, so that the page says the same.
    number = float(_FOUR_DIGITS.create_decimal(number))
    if 1e-6 <= abs(number) < 1e21:
        return str(np.format_float_positional(number, trim="-"))
    return repr(number).replace("e-0", "e-")


def strength(weight: float) -> str:
    """Say how strongly a component of this weight speaks."""
    support = -math.expm1(-abs(weight))
    if support < WEAKLY:
        return "weakly"
    return "moderately" if support < MODERATELY else "strongly"


def _named(weights: Sequence[float], titles: Sequence[str], label: str) -> str:
    order = sorted(range(len(weights)), key=lambda g: -abs(weights[g]))[:NAMED]
    clear = [g for g in order if -math.expm1(-abs(weights[g])) >= BARELY]
    clear.sort(key=lambda g: weights[g] < 0)  # those for the class first; the order is kept
    if not clear:
        return f"nothing speaks clearly for or against {label}"
    phrases = []
    for position, g in enumerate(clear):
        verb = "speaks " if position == 0 else ""
        side = "for" if weights[g] > 0 else "against"
        whom = f" {label}" if position == 0 else ""
        phrases.append(f"{titles[g]} {verb}{strength(weights[g])} {side}{whom}")
    return ", ".join(phrases)


def _answer(decided: Sequence[str], n_classes: int) -> str:
    if len(decided) == 1:
        return f"the answer is {decided[0]}"
    if len(decided) > 5:
        return f"the answer stays open among {len(decided)} of {n_classes} classes"
    return f"the answer stays open between {', '.join(decided[:-1])} and {decided[-1]}"


def sentence(evidence: AnyEvidence, titles: Sequence[str]) -> str:
    """Describe the first instance of the evidence.

    Parameters
    ----------
    evidence : AnyEvidence
        One instance.
    titles : sequence of G strings
        The components as they should be called, such as ``age 61``.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[-0.9, 0.9], [0.1, -0.1]]], classes=["no", "yes"])
    >>> sentence(ev, ["age 61", "LDL 3.1"])
    'age 61 speaks strongly for yes, LDL 3.1 weakly against; some is unknown; \
the evidence agrees; the answer is yes.'
    """
    labels = [shortened(label) for label in label_texts(evidence.classes)]
    answer = int(np.argmax(to_numpy(evidence.logits)[0]))
    weights = to_numpy(evidence.weights)[0, :, answer].tolist()
    decided = np.flatnonzero(to_numpy(evidence.decide("interval_dominance"))[0])
    return "; ".join(
        [
            _named(weights, titles, labels[answer]),
            unknown(float(evidence.ignorance[0])),
            agreement(float(evidence.conflict[0])),
            _answer([labels[k] for k in decided], len(labels)) + ".",
        ]
    )
