"""The sentence about one instance, the same in the terminal and on the page.

The words "weakly", "moderately" and "strongly" come from the degree of support: the belief that the
component's own mass function gives to the class, or to the other classes if the component opposes
it. ``templates/sentence.js`` writes the same sentence on the page; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context
from typing import Any

import numpy as np

from shafer import _text
from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.degree_words import CONFLICTING, LACKING, conflict_words, ignorance_words
from shafer.evidence.io.frame_table import label_texts

NAMED = 4
"""The sentence names at most this many components."""
BARELY, WEAKLY, MODERATELY = 0.05, 0.2, 0.5
"""Below these degrees of support a component is not named, is called weak, moderate."""

_LONGEST = 40
_FOUR_DIGITS = Context(prec=4, rounding=ROUND_HALF_UP)


def short_name(text: str) -> str:
    """Return a name short enough for a sentence."""
    return _text.shortened(text, _LONGEST) if text.strip() else "(blank)"


def shown_value(value: Any) -> str:
    """Return an input value as text: whole numbers as they are, others to four digits."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return short_name(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    # Rounded and written as JavaScript does, so that the page shows the same.
    number = float(_FOUR_DIGITS.create_decimal(number))
    if 1e-6 <= abs(number) < 1e21:
        return str(np.format_float_positional(number, trim="-"))
    return repr(number).replace("e-0", "e-")


def degrees_of_support(evidence: Evidence, position: int) -> FloatArray:
    """Return how far each component alone supports or opposes a class, (G,).

    For a component with a positive weight it is its belief in the class, for one with a negative
    weight its belief in the other classes. ``position`` is that of the class.
    """
    own = evidence.components
    belief = to_numpy(own.belief)[0, :, position]
    plausibility = to_numpy(own.plausibility)[0, :, position]
    weights = to_numpy(evidence.weights)[0, :, position]
    return np.where(weights > 0.0, belief, 1.0 - plausibility)


def strength(support: float) -> str:
    """Return the word for a degree of support."""
    if support < WEAKLY:
        return "weakly"
    return "moderately" if support < MODERATELY else "strongly"


def _named(weights: FloatArray, support: FloatArray, titles: Sequence[str], label: str) -> str:
    order = np.argsort(-np.abs(weights), kind="stable")[:NAMED].tolist()
    clear = [g for g in order if support[g] >= BARELY]
    clear.sort(key=lambda g: weights[g] < 0)  # those for the class first; the order is kept
    if not clear:
        return f"no component clearly supports or opposes {label}"
    phrases = []
    for position, g in enumerate(clear):
        verb = "supports" if weights[g] > 0 else "opposes"
        whom = label if position == 0 else "it"
        phrases.append(f"{titles[g]} {strength(support[g])} {verb} {whom}")
    return ", ".join(phrases)


def _answer(decided: Sequence[str], n_classes: int, doubtful: bool) -> str:
    if len(decided) == 1:
        return f"the answer is {'still ' if doubtful else ''}{decided[0]}"
    if len(decided) > 5:
        return f"the answer stays open among {len(decided)} of {n_classes} classes"
    return f"the answer stays open between {', '.join(decided[:-1])} and {decided[-1]}"


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
the evidence agrees; the answer is yes.'
    """
    labels = [short_name(label) for label in label_texts(evidence.classes)]
    weighted = with_weights(evidence)
    answer = int(np.argmax(to_numpy(weighted.logits)[0]))
    weights = to_numpy(weighted.weights)[0, :, answer]
    support = degrees_of_support(weighted, answer)
    ignorance, conflict = float(evidence.ignorance[0]), float(evidence.conflict[0])
    decided = np.flatnonzero(to_numpy(evidence.decide("interval_dominance"))[0])
    doubtful = ignorance >= LACKING or conflict >= CONFLICTING
    return "; ".join(
        [
            _named(weights, support, titles, labels[answer]),
            f"ignorance is {ignorance_words(ignorance)}",
            conflict_words(conflict),
            _answer([labels[k] for k in decided], len(labels), doubtful) + ".",
        ]
    )
