"""``TextDisplay``: a text with its words marked for and against a class."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from shafer._text import cells
from shafer._typing import FloatArray, Label
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.compared_classes import compared_in_row
from shafer.plots.style import AGAINST, FOR, GREY, axes_for, ink, literal, take_row
from shafer.texts.html import LEAST, text_html
from shafer.texts.marked import MARKED, PLAIN, STOP, MarkedText, NamedWeight, segments_of, visible
from shafer.texts.rows import mark_text
from shafer.texts.spans import WordSpans
from shafer.texts.terminal import terminal_text
from shafer.texts.words import question, sides, signed, size, sum_words, total_words, unit


@final
class TextDisplay:
    """A text with its words marked: which of them support a class, and which another one.

    The weight of a word is what it adds to the log-odds of the class over the other: +1 multiplies
    the odds by 2.7. A word that is part of several n-grams gets a share of each. Words have
    weights relative to the background, as in SHAP, so words that are *not* in the text have
    weights too; their total is stated. All weights and the base rate add up to the log-odds.

    In a notebook the Display shows itself. :meth:`to_html` returns HTML that needs nothing else and
    is safe for any text, :meth:`terminal` text for a terminal, and :meth:`plot` draws with
    matplotlib.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    text : str
    spans : array of shape (m, 2)
        The words with weights: first character, and the one after the last.
    weights : array of shape (m,)
        Their weights for the class over the other one.
    silent : array of shape (s, 2)
        Words without a weight.
    stop_words : boolean array of shape (s,), optional
        Which of these are stop words; the others are not known to the model.
    class_ : class label
    over : class label, optional
        The class it is compared with. Without it, weights are those for the class by itself.
    base_rate : float
        The log-odds when every component has its background mean.
    absent : float
        Total weight of the words that are not in the text.
    n_absent : int
        Their number.
    others : float, optional
        Total weight of inputs that are not this text.
    unlocated, strongest_absent : sequences of (word, weight)
        Words of the text whose place was not found; the strongest words that are not in it.
    probability, over_probability : float, optional
        Of the two classes.
    tokens : bool
        Whether the text was given as tokens.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    EvidenceMapDisplay : The same for images.
    WaterfallDisplay : The same for tables.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["a good film", "a bad film", "good plot", "bad, bad plot"]
    >>> model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0))
    >>> model = model.fit(texts, ["liked", "not", "liked", "not"])
    >>> ev = shafer.Explainer(model, texts)(["A GOOD film about whales"])
    >>> display = shafer.plots.TextDisplay.from_evidence(ev, class_="liked")
    >>> print(display.terminal())
    Why liked rather than not? log-odds +1.60, probability 0.833 for liked and 0.167
    for not
    base rate 0.00 + words of this text +0.75 + words that are not in this text
    +0.85 = +1.60. In log-odds: +1 multiplies the odds by 2.7.
    <BLANKLINE>
      A GOOD[+0.75] film about whales
    <BLANKLINE>
    for liked: good +0.75
    for not: none
    The strongest words that are not in this text: bad +0.96, plot −0.10.
    """

    def __init__(
        self,
        text: str,
        spans: ArrayLike,
        weights: ArrayLike,
        *,
        silent: ArrayLike = (),
        stop_words: ArrayLike | None = None,
        class_: Label = "the class",
        over: Label | None = None,
        base_rate: float = 0.0,
        absent: float = 0.0,
        n_absent: int = 0,
        others: float | None = None,
        unlocated: Sequence[NamedWeight] = (),
        strongest_absent: Sequence[NamedWeight] = (),
        probability: float | None = None,
        over_probability: float | None = None,
        tokens: bool = False,
    ) -> None:
        self.text = text
        self.spans = _checked_spans(spans, text, "spans")
        self.weights: FloatArray = np.asarray(weights, dtype=np.float64)
        if self.weights.shape != (len(self.spans),):
            raise ValueError(
                f"weights must have one number for each of the {len(self.spans)} spans; got shape "
                f"{self.weights.shape}."
            )
        self.silent = _checked_spans(silent, text, "silent")
        stops = np.zeros(len(self.silent)) if stop_words is None else stop_words
        self.stop_words: NDArray[np.bool_] = np.asarray(stops, dtype=bool)
        self.class_ = class_
        self.over = over
        self.base_rate = base_rate
        self.absent = absent
        self.n_absent = n_absent
        self.others = others
        self.unlocated = tuple(unlocated)
        self.strongest_absent = tuple(strongest_absent)
        self.probability = probability
        self.over_probability = over_probability
        self.tokens = tokens

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        row: int = 0,
        text: str | Sequence[str] | None = None,
        *,
        class_: Label | None = None,
        over: Label | None = None,
        units: str = "log_odds",
        column: str | None = None,
    ) -> Self:
        """Return a Display of the words of one instance.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
            Of an ``Explainer`` whose model reads texts with a ``TfidfVectorizer``,
            ``CountVectorizer`` or ``HashingVectorizer`` (also in a ``FeatureUnion`` or a
            ``ColumnTransformer``), or of a torch module with ``components="tokens"``. Components
            must be words: not with ``groups``.
        row : int
            Position of the instance.
        text : str, or sequence of strings, optional
            The text of the instance; for a model of tokens, its tokens. By default the text that
            the evidence was computed from.
        class_ : class label, optional
            By default the most plausible class.
        over : class label, optional
            The class to compare with. By default the most plausible other class.
        units : {"log_odds", "weight"}
            ``"log_odds"``: the weights for the class over the other one. ``"weight"``: the weights
            of evidence for the class by itself; with three or more classes they tell better which
            words carry its probability, and with two classes they are half the log-odds.
        column : str, optional
            The column of texts, if the model takes several.

        Returns
        -------
        TextDisplay
            Call its :meth:`plot`.
        """
        plain = take_row(evidence.weighed, row)
        compared = compared_in_row(plain, class_, over, units)
        labels = plain.classes.tolist()
        one, first = take_row(evidence, row), labels[compared.class_]
        second = None if compared.over is None else labels[compared.over]
        return cls._of(mark_text(one, 0, text, first, second, column))

    @classmethod
    def _of(cls, marked: MarkedText) -> Self:
        segments = marked.segments
        spans = np.stack([segments.bounds[:-1], segments.bounds[1:]], axis=1)
        held = segments.kinds == MARKED
        silent = (segments.kinds != MARKED) & (segments.kinds != PLAIN)
        return cls(
            segments.text,
            spans[held],
            segments.marks[held],
            silent=spans[silent],
            stop_words=segments.kinds[silent] == STOP,
            class_=marked.class_,
            over=marked.over,
            base_rate=marked.base_rate,
            absent=marked.absent,
            n_absent=marked.n_absent,
            others=marked.others,
            unlocated=marked.unlocated,
            strongest_absent=marked.strongest_absent,
            probability=marked.probability,
            over_probability=marked.over_probability,
            tokens=marked.tokens,
        )

    @cached_property
    def _marked(self) -> MarkedText:
        every = np.arange(len(self.spans))
        spans = WordSpans(
            self.text,
            self.spans[:, 0],
            self.spans[:, 1],
            every,
            np.ones(len(every)),
            self.silent[:, 0],
            self.silent[:, 1],
            self.stop_words,
            (),
            every,
        )
        return MarkedText(
            segments_of(spans, self.weights),
            self.class_,
            self.over,
            self.base_rate,
            self.absent,
            self.n_absent,
            self.others,
            self.unlocated,
            self.strongest_absent,
            self.probability,
            self.over_probability,
            self.tokens,
        )

    @property
    def logit(self) -> float:
        """The sum of all weights and the base rate: the log-odds, or the weight of evidence."""
        return self._marked.total

    def to_html(self, *, largest: float | None = None, max_words: int = 1000) -> str:
        """Return the text as HTML with its own styles; every character of the text is escaped.

        Parameters
        ----------
        largest : float, optional
            The weight of the strongest colour, for several texts on one scale. By default that of
            the strongest word of this text.
        max_words : int
            A longer text is cut: stretches without strong words are left out, and their total
            weight is stated.

        Returns
        -------
        str
        """
        if largest is not None and not largest > 0.0:
            raise ValueError(f"largest must be above 0; got {largest!r}.")
        return text_html(self._marked, largest, max_words)

    def _repr_html_(self) -> str:
        return self.to_html()

    def terminal(self, width: int = 0, *, color: bool = False) -> str:
        """Return the text for a terminal; strong words have their weight in brackets.

        Parameters
        ----------
        width : int
            Columns of the terminal; 0 means 80.
        color : bool
            Colour the words as well.

        Returns
        -------
        str
        """
        return terminal_text(self._marked, width, color=color)

    def plot(self, ax: Axes | None = None, *, width: int = 72, max_lines: int = 24) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        width : int
            Characters of a line.
        max_lines : int
            A longer text is cut at its end, which is marked.

        Returns
        -------
        TextDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        lines = marked_lines(self._marked, width, max_lines)
        around = sum(map(len, text_around(self._marked, width)))
        size = (0.085 * width + 0.4, 0.3 * len(lines) + 0.18 * around + 0.5)
        self.ax_, self.figure_ = axes_for(ax, size)
        draw_marked_text(self.ax_, self._marked, lines, width)
        return self


def _checked_spans(spans: ArrayLike, text: str, name: str) -> NDArray[np.intp]:
    table = np.asarray(spans, dtype=np.intp).reshape(-1, 2)
    if np.any(table < 0) or np.any(table > len(text)) or np.any(table[:, 0] >= table[:, 1]):
        raise ValueError(
            f"{name} must be pairs (first character, one after the last) inside the text of "
            f"{len(text)} characters; got {table.tolist()[:3]}."
        )
    return table


# The lines of a marked text, and how they are drawn: in letters of one width.

_FONT: dict[str, Any] = {"family": "monospace", "size": 9.0}
_BASELINE = 0.62  # of the height of a line


class Placed(NamedTuple):
    """A piece of a line: where it begins, its characters, kind and weight."""

    at: int
    text: str
    kind: int
    weight: float


def marked_lines(marked: MarkedText, width: int, most: int) -> list[list[Placed]]:
    """Break a marked text into at most so many lines, at white space where there is some."""
    segments = marked.segments
    lines: list[list[Placed]] = [[]]
    at = 0
    for s in range(len(segments)):
        kind, weight = int(segments.kinds[s]), float(segments.marks[s])
        for part in _parts(visible(segments.string(s)), kind, width):
            wide = cells(part)
            if part == "\n" or (at and at + wide > width):
                if len(lines) == most:
                    lines[-1].append(Placed(min(at, width - 1), "…", PLAIN, 0.0))
                    return lines
                lines.append([])
                at = 0
            if part.isspace() and (part == "\n" or not at):
                continue
            lines[-1].append(Placed(at, part, kind, weight))
            at += wide
    return lines


def _parts(text: str, kind: int, width: int) -> list[str]:
    """Cut plain text at white space, and words that are longer than a line."""
    if kind != PLAIN:
        return [text[i : i + width] for i in range(0, len(text), width)]
    parts: list[str] = []
    for letter in text.replace("\t", " "):
        if letter.isspace() or not parts or parts[-1].isspace() or len(parts[-1]) == width:
            parts.append(letter)
        else:
            parts[-1] += letter
    return parts


def draw_marked_text(ax: Axes, marked: MarkedText, lines: list[list[Placed]], width: int) -> None:
    """Draw the lines, with the side and size of each weight as a colour and a line below."""
    scale = marked.largest or 1.0
    ax.set_xlim(0, width)
    ax.set_ylim(len(lines) + 0.4, -0.2)
    ax.axis("off")
    for row, line in enumerate(lines):
        for piece in line:
            _draw_piece(ax, piece, row, scale)
    _write_around(ax, marked, width)


def _draw_piece(ax: Axes, piece: Placed, row: int, scale: float) -> None:
    strength = min(abs(piece.weight) / scale, 1.0)
    if piece.kind == MARKED and strength >= LEAST:
        side = FOR if piece.weight > 0 else AGAINST
        wide, below = cells(piece.text), row + _BASELINE + 0.22
        ax.add_patch(
            Rectangle(
                (piece.at, row),
                wide,
                _BASELINE + 0.22,
                color=side,
                alpha=0.08 + 0.47 * strength,
                lw=0,
            )
        )
        ax.plot(
            [piece.at, piece.at + wide],
            [below, below],
            color=side,
            linewidth=1.0 + 2.0 * strength,
            linestyle="solid" if piece.weight > 0 else (0, (2, 1)),
            solid_capstyle="butt",
        )
    shade = ink() if piece.kind in (PLAIN, MARKED) else GREY
    # Letter by letter: each takes one cell, whatever the font measures.
    at = piece.at
    for letter in _letters(piece.text):
        if not letter.isspace():
            ax.text(at, row + _BASELINE, literal(letter), color=shade, ha="left", **_FONT)
        at += cells(letter)


def _letters(text: str) -> list[str]:
    """Return letters together with the marks on them."""
    letters: list[str] = []
    for letter in text:
        if letters and not cells(letter):
            letters[-1] += letter
        else:
            letters.append(letter)
    return letters


def text_around(marked: MarkedText, width: int) -> tuple[list[str], list[str]]:
    """Return the lines above and below a text of this width: the sum, and how to read it."""
    terms = " + ".join(f"{words} {signed(w)}" for words, w in sum_words(marked))
    first, second = sides(marked)
    notes = [
        f"{terms} = {signed(marked.total)}",
        f"blue, solid line: {first}; orange, dashed line: {second}; grey: no weight",
        f"full colour ±{size(marked.largest)}. {unit(marked)}",
    ]
    if marked.unlocated:
        notes.append(f"{len(marked.unlocated)} words have no known place in the text")
    above = [question(marked), total_words(marked)]
    # Letters of the title are about as wide as a cell, those of the notes are narrower.
    return _broken(above, width), _broken(notes, int(1.2 * width))


def _broken(texts: list[str], width: int) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, max(width, 20))]


def _write_around(ax: Axes, marked: MarkedText, width: int) -> None:
    above, below = text_around(marked, width)
    ax.set_title(literal("\n".join(above)), loc="left", fontsize="medium")
    ax.annotate(
        literal("\n".join(below)),
        (0.0, 0.0),
        (0.0, -2.0),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize="small",
        color=ink(),
    )
