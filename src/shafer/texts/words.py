"""The sentences around a marked text: its sum, and what is not in the text."""

from __future__ import annotations

from shafer._text import shortened
from shafer.texts.marked import MarkedText, visible

UNIT = "+1 multiplies the odds by 2.7"
_STRONGEST = 6


def signed(value: float) -> str:
    """Return a number with its sign, and two digits."""
    rounded = f"{abs(value):.2f}"
    if float(rounded) == 0.0:
        return "0.00"
    return f"{'+' if value > 0 else '−'}{rounded}"


def size(value: float) -> str:
    """Return a positive number with two digits behind the point; a small one with two in all."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def name(label: object, most: int = 40) -> str:
    """Return a class or a word as it is shown; blanks at its ends are visible."""
    text = shortened(visible(str(label), lines=False), most)
    return text if text and text == text.strip() else f"‘{text}’"


def sides(marked: MarkedText) -> tuple[str, str]:
    """Return what positive and negative weights are for."""
    mine = name(marked.class_)
    return f"for {mine}", f"against {mine}" if marked.over is None else f"for {name(marked.over)}"


def question(marked: MarkedText) -> str:
    """Return what the marks explain."""
    if marked.over is None:
        return f"What supports {name(marked.class_)}, and what opposes it?"
    return f"Why {name(marked.class_)} rather than {name(marked.over)}?"


def unit(marked: MarkedText) -> str:
    """Return what a weight of 1 means."""
    if marked.over is None:
        return "Weights of evidence: their sum is the logit minus the mean of all classes' logits"
    return f"In log-odds: {UNIT}"


def sum_words(marked: MarkedText) -> list[tuple[str, float]]:
    """Return the terms of the sum: their names and their weights."""
    kind = "tokens" if marked.tokens else "words"
    parts = [("base rate", marked.base_rate), (f"{kind} of this text", marked.inside)]
    if marked.n_absent and not marked.tokens:
        parts.append((f"{kind} that are not in this text", marked.absent))
    elif marked.absent:
        parts.append(("padding", marked.absent))
    if marked.others is not None:
        parts.append(("other inputs", marked.others))
    return parts


def total_words(marked: MarkedText) -> str:
    """Return the sum, and the probabilities that belong to it."""
    text = f"{'weight' if marked.over is None else 'log-odds'} {signed(marked.total)}"
    if marked.probability is None:
        return text
    text += f", probability {marked.probability:.3f} for {name(marked.class_)}"
    if marked.over is None or marked.over_probability is None:
        return text
    return f"{text} and {marked.over_probability:.3f} for {name(marked.over)}"


def absent_words(marked: MarkedText) -> str:
    """Return the strongest words that are not in the text; empty if there are none."""
    shown = [(word, w) for word, w in marked.strongest_absent if signed(w) != "0.00"]
    if marked.tokens or not shown:
        return ""
    listed = ", ".join(f"{name(word)} {signed(w)}" for word, w in shown)
    return f"The strongest words that are not in this text: {listed}."


def strongest_words(marked: MarkedText, sign: int) -> str:
    """Return the words with the largest weights for the class, or for the other one."""
    found = [
        entry for entry in marked.by_word if entry[1] * sign > 0 and signed(entry[1]) != "0.00"
    ]
    shown = [
        f"{name(word)} {signed(w)}" + (f" ({count} times)" if count > 1 else "")
        for word, w, count in found[:_STRONGEST]
    ]
    more = len(found) - len(shown)
    text = ", ".join(shown)
    return (f"{text} and {more} more" if more > 0 else text) or "none"


def unlocated_words(marked: MarkedText) -> str:
    """Return a sentence about words whose place was not found; empty if there are none."""
    if not marked.unlocated:
        return ""
    found = sorted(marked.unlocated, key=lambda entry: -abs(entry[1]))
    shown = ", ".join(f"{name(word)} {signed(w)}" for word, w in found[:40])
    more = f" and {len(found) - 40} more" if len(found) > 40 else ""
    return (
        "The places of these words in the text could not be found, because the model uses an "
        f"analyzer, tokenizer or preprocessor of its own: {shown}{more}."
    )
