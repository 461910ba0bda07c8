"""Rows that are texts, the vectorizers that read them, and a row's words as components."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_of
from shafer._text import listed, shortened
from shafer.rows.access import n_rows
from shafer.texts.locate import PlacedTerms, locate_terms, term_columns
from shafer.texts.spans import WordSpans


def text_rows(encoders: Sequence[Any], X: Any, name: str) -> Any:
    """Return rows as a text vectorizer takes them; X as it is if the model takes tables.

    A frame of one column gives its column: scikit-learn would read the name of the column as the
    only text.
    """
    vectorizer = first_vectorizer(encoders)
    if vectorizer is None:
        return X
    reads_texts = _reads_texts(vectorizer)
    if not reads_texts and frame_of(X) is None:
        return X  # an analyzer of the user's own may take rows of any kind
    texts = _one_column(X, name)
    if n_rows(texts) == 0:
        raise ValueError(f"{name} must hold at least one text; got none.")
    if reads_texts:
        check_texts(texts, f"{name} has no text in row {{row}}: got {{value}}.")
    return texts


def first_vectorizer(encoders: Sequence[Any]) -> Any:
    """Return the vectorizer that receives the rows of a model; None if the rows are a table."""
    if not encoders:
        return None
    first, names = encoders[0], kinds(encoders[0])
    if is_vectorizer(first):
        return first
    if "Pipeline" in names:
        return first_vectorizer([step for _, step in first.steps if step != "passthrough"])
    if "FeatureUnion" in names:
        inside = [part for _, part in first.transformer_list if part != "drop"]
        return first_vectorizer(inside)
    return None


def check_texts(texts: Iterable[Any], message: str) -> None:
    """Refuse the first row that is not a text; ``message`` names its ``row`` and ``value``."""
    rows = texts.to_list() if hasattr(texts, "to_list") else texts
    for row, given in enumerate(rows):
        if not isinstance(given, str | bytes):
            start = message.format(row=row, value=shortened(repr(given)))
            raise ValueError(f"{start} Fill it in, if only with an empty text '', or leave it out.")


def explain_text_error(X: Any, encoders: Sequence[Any]) -> None:
    """Raise a clearer error if a column of texts has a row without a text."""
    frame = frame_of(X)
    if frame is None:
        return
    for part in text_parts(encoders):
        named = isinstance(part.column, str) and part.column in frame.columns
        if named and _reads_texts(part.vectorizer):
            message = f"Column {part.column!r} has no text in row {{row}}: got {{value}}."
            check_texts(frame[part.column].to_list(), message)


def _reads_texts(vectorizer: Any) -> bool:
    """Tell whether a vectorizer takes strings; with the user's own functions it may take more."""
    own = callable(vectorizer.analyzer) or vectorizer.preprocessor is not None
    return vectorizer.input == "content" and not own


def _one_column(X: Any, name: str) -> Any:
    frame = frame_of(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if frame is None and len(shape) < 2:
        return X
    if len(shape) == 2 and shape[1] == 1:
        return np.ravel(X) if frame is None else frame[frame.columns[0]].to_native()
    got = f"the columns {listed(frame.columns)}" if frame is not None else f"shape {tuple(shape)}"
    raise ValueError(
        f"{name} must hold one text for each row, because the model starts with a text vectorizer; "
        f"got {got}. Pass the column of texts."
    )


# Names for the columns of a ``HashingVectorizer``, which keeps no words.

_MOST_WORDS = 3  # of one column, the most frequent
_LONGEST = 40  # characters of a word in a name


@final
class HashedWords:
    """The words that hashing vectorizers met in the background, by column of their output."""

    def __init__(self, encoders: Sequence[Any]) -> None:
        self._encoders = encoders
        hashing = [p for p in text_parts(encoders) if "HashingVectorizer" in kinds(p.vectorizer)]
        self._counts: list[tuple[TextPart, Counter[str]]] = [(p, Counter()) for p in hashing]

    def take_in(self, X: Any) -> None:
        """Count the words of some rows, as the model takes them."""
        for part, counts in self._counts:
            analyze = part.vectorizer.build_analyzer()
            for text in texts_of(X, part.column):
                counts.update(analyze(text))

    def merge(self, other: HashedWords) -> None:
        """Add the words of other rows of the same model."""
        for (_, counts), (_, more) in zip(self._counts, other._counts, strict=True):
            counts.update(more)

    def named(self) -> tuple[Any, ...]:
        """Return the transformers; those that hash can name their columns after words."""
        names = {
            id(part.vectorizer): _NamedColumns(_column_names(part.vectorizer, counts))
            for part, counts in self._counts
        }
        if not names:
            return tuple(self._encoders)
        return tuple(_replaced(encoder, names) for encoder in self._encoders)


@final
class _NamedColumns:
    """Stands for a vectorizer where only the names of its columns are asked for."""

    def __init__(self, names: NDArray[np.object_]) -> None:
        self._names = names

    def get_feature_names_out(self, _: Any = None) -> NDArray[np.object_]:
        return self._names


def _column_names(vectorizer: Any, counts: Counter[str]) -> NDArray[np.object_]:
    """Name a column after its words, the most frequent first; a number if none was met."""
    column_of = term_columns(vectorizer, list(counts))
    words: dict[int, list[str]] = {}
    for word, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        words.setdefault(column_of(word), []).append(word)
    names = np.array([f"bucket {j}" for j in range(vectorizer.n_features)], dtype=object)
    for column, inside in words.items():
        names[column] = _joined(inside)
    return names


def _joined(words: Sequence[str]) -> str:
    shown = " | ".join(shortened(word, _LONGEST) for word in words[:_MOST_WORDS])
    more = len(words) - _MOST_WORDS
    return shown if more <= 0 else f"{shown} | {more} more"


def _replaced(encoder: Any, names: dict[int, _NamedColumns]) -> Any:
    """Return a transformer with the vectorizers inside it replaced by their names."""
    if id(encoder) in names:
        return names[id(encoder)]
    lists = [a for a in ("steps", "transformer_list", "transformers_") if hasattr(encoder, a)]
    if not lists or isinstance(encoder, str):
        return encoder
    copied = copy.copy(encoder)
    for attribute in lists:
        inside = [
            (name, _replaced(p, names), *rest) for name, p, *rest in getattr(encoder, attribute)
        ]
        setattr(copied, attribute, inside)
    return copied


# The text vectorizers among the transformers of a model, and the components that they make.

VECTORIZERS = ("CountVectorizer", "HashingVectorizer")
_ONE_TO_ONE = "OneToOneFeatureMixin"  # scikit-learn's mark of transformers that keep columns apart


@final
@dataclass(frozen=True, eq=False)
class TextPart:
    """A fitted vectorizer, and where its columns end up.

    Attributes
    ----------
    vectorizer : CountVectorizer, TfidfVectorizer or HashingVectorizer
    column : str or int, optional
        The column of the data with the texts; None if each row is a text.
    components : array of shape (number of columns of the vectorizer,)
        The component of each column; −1 if a later step leaves it out.
    """

    vectorizer: Any
    column: Any
    components: NDArray[np.intp]

    @cached_property
    def _columns(self) -> NDArray[np.intp]:
        """The column of each component, −1 for components that are not words of this vectorizer."""
        found = np.full(int(self.components.max(initial=-1)) + 1, -1, dtype=np.intp)
        kept = self.components >= 0
        found[self.components[kept]] = np.flatnonzero(kept)
        return found

    def column_of(self, component: int) -> int:
        """Return the column of a component in the output of the vectorizer; −1 if it has none."""
        return int(self._columns[component]) if component < len(self._columns) else -1

    def shifted(self, by: int) -> TextPart:
        """Move the components, which come after others."""
        moved = np.where(self.components < 0, -1, self.components + by)
        return replace(self, components=moved)


def kinds(encoder: Any) -> set[str]:
    """Return the names of the classes that a transformer is made of."""
    return {base.__name__ for base in type(encoder).__mro__}


def is_vectorizer(encoder: Any) -> bool:
    """Tell whether a transformer turns texts into counts of words."""
    return bool(kinds(encoder) & set(VECTORIZERS))


def settle_vocabularies(encoder: Any) -> None:
    """Let vectorizers with a vocabulary of the user's take it over now, not when they first count.

    They need no training, and would otherwise look as if they had been trained in between.
    """
    for _, part, *_ in (*getattr(encoder, "steps", ()), *getattr(encoder, "transformer_list", ())):
        settle_vocabularies(part)
    given = is_vectorizer(encoder) and getattr(encoder, "vocabulary", None) is not None
    if given and not hasattr(encoder, "vocabulary_"):
        encoder.transform([])


def text_parts(encoders: Sequence[Any]) -> tuple[TextPart, ...]:
    """Return the vectorizers behind the components; empty if components are not words."""
    if not encoders:
        return ()
    first, *later = encoders
    found = _found(first, None)
    for step in later:
        found = _passed(found, step)
    return tuple(found)


def _found(encoder: Any, column: Any) -> list[TextPart]:
    names = kinds(encoder)
    if is_vectorizer(encoder):
        return [TextPart(encoder, column, np.arange(width_of(encoder)))]
    if "Pipeline" in names:
        steps = [step for _, step in encoder.steps if not _does_nothing(step)]
        if not steps:
            return []
        found = _found(steps[0], column)
        for step in steps[1:]:
            found = _passed(found, step)
        return found
    if "FeatureUnion" in names:
        return _in_union(encoder, column)
    if "ColumnTransformer" in names:
        return _in_columns(encoder)
    return []


def width_of(vectorizer: Any) -> int:
    """Return the number of columns of a fitted vectorizer."""
    if "HashingVectorizer" in kinds(vectorizer):
        return int(vectorizer.n_features)
    return len(vectorizer.vocabulary_)


def _in_union(union: Any, column: Any) -> list[TextPart]:
    found: list[TextPart] = []
    before = 0
    for _, part in union.transformer_list:
        if isinstance(part, str) and part == "drop":
            continue
        found += [inner.shifted(before) for inner in _found(part, column)]
        width = _output_width(part)
        if width is None:
            return found  # where the next part begins is not known
        before += width
    return found


def _output_width(part: Any) -> int | None:
    if is_vectorizer(part):
        return width_of(part)
    inner = [step for _, step in getattr(part, "steps", ())]
    if inner and is_vectorizer(inner[0]) and all(_is_one_to_one(step) for step in inner[1:]):
        return width_of(inner[0])
    try:
        return len(part.get_feature_names_out())
    except (AttributeError, TypeError, ValueError):
        return None


def _in_columns(encoder: Any) -> list[TextPart]:
    found: list[TextPart] = []
    names = getattr(encoder, "feature_names_in_", None)
    for name, part, columns in encoder.transformers_:
        if not isinstance(columns, str | int | np.integer) or isinstance(part, str):
            continue  # vectorizers take one column, named without a list
        at = str(names[columns]) if names is not None and not isinstance(columns, str) else columns
        begin = encoder.output_indices_[name].start
        found += [inner.shifted(begin) for inner in _found(part, at)]
    return found


def _does_nothing(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_one_to_one(step: Any) -> bool:
    return _does_nothing(step) or _ONE_TO_ONE in kinds(step)


def _passed(found: list[TextPart], step: Any) -> list[TextPart]:
    """Follow the columns through a later step, which may scale or select them."""
    if _is_one_to_one(step):
        return found
    if not hasattr(step, "get_support"):
        return []
    kept = np.asarray(step.get_support(), dtype=bool)
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    return [
        replace(p, components=np.where(p.components < 0, -1, place[p.components])) for p in found
    ]


# The text of a row and its words as components: places, shares, and what has no component.


def column_of_texts(parts: Sequence[TextPart], column: Any) -> Any:
    """Return the column of texts that is meant; None if each row is a text."""
    known = list(dict.fromkeys(part.column for part in parts))
    if column is None and len(known) == 1:
        return known[0]
    if column is not None and column in known:
        return column
    if known == [None]:
        raise ValueError(f"Each row of this model is a text; leave out column={column!r}.")
    raise ValueError(
        f"The model takes texts from the columns {listed(known)}; got column={column!r}. Pass one "
        "of them."
    )


def texts_of(X: Any, column: Any) -> Any:
    """Return the texts of rows: X itself, or one of its columns."""
    frame = frame_of(X)
    if frame is None:
        return X if column is None else np.asarray(X, dtype=object)[:, column]
    return frame[column if isinstance(column, str) else frame.columns[column or 0]].to_native()


def text_in_row(X: Any, row: int, column: Any, vectorizer: Any) -> str:
    """Return the text of a row as a string."""
    texts = texts_of(X, column)
    given = texts.iloc[row] if hasattr(texts, "iloc") else texts[row]
    return given if isinstance(given, str) else str(vectorizer.decode(given))


def are_grouped(part: TextPart, members: Sequence[Sequence[int]] | None) -> bool:
    """Tell whether some word of a vectorizer is in a group with others."""
    if members is None:
        return False
    joined = [m for inside in members if len(inside) > 1 for m in inside]
    return bool(np.isin(part.components, joined).any())


def spans_of_components(
    parts: Sequence[TextPart], text: str, members: Sequence[Sequence[int]] | None
) -> WordSpans:
    """Find the components of a text, where ``members`` are the model's components of each.

    A component of several words cannot be placed: its weight is not known word by word.
    """
    if members is None:
        return spans_of_text(parts, text)
    if any(are_grouped(part, members) for part in parts):
        raise ValueError(
            "The components of this evidence are groups of words, whose weights are not known word "
            "by word. Make the evidence without groups."
        )
    largest = max((int(part.components.max(initial=-1)) for part in parts), default=-1)
    place = np.full(largest + 1, -1, dtype=np.intp)
    for g, inside in enumerate(members):
        place[[m for m in inside if m <= largest]] = g
    moved = [
        replace(part, components=np.where(part.components < 0, -1, place[part.components]))
        for part in parts
    ]
    return spans_of_text(moved, text)


def spans_of_text(parts: Sequence[TextPart], text: str) -> WordSpans:
    """Find the components of all vectorizers of one column in a text.

    Each occurrence of a component gets the same share of its weight, and the words of an n-gram
    get the same share of the occurrence.
    """
    pieces: list[tuple[NDArray[np.intp], ...]] = []
    shares: list[NDArray[np.float64]] = []
    units: list[PlacedTerms] = []
    unlocated: dict[int, str] = {}
    for part in parts:
        found = locate_terms(part.vectorizer, text)
        component = _components(part, found.terms)
        term, start, end, share = found.pieces()
        if found.first is None or np.any(end <= start):
            seen = zip(component.tolist(), found.terms, strict=True)
            unlocated |= {g: term for g, term in seen if g >= 0 and g not in unlocated}
            continue
        times = Counter(component[component >= 0].tolist())
        held = component[term] >= 0
        term, start, end, share = term[held], start[held], end[held], share[held]
        owner = component[term]
        pieces.append((start, end, owner))
        shares.append(share / np.array([times[g] for g in owner.tolist()], dtype=np.float64))
        units.append(found)
    start, end, owner = (np.concatenate([_none(), *(p[i] for p in pieces)]) for i in range(3))
    silent = _silent(units, start, end, len(text))
    every = np.concatenate([_none(), *(part.components for part in parts)])
    return WordSpans(
        text,
        start,
        end,
        owner,
        np.concatenate([np.zeros(0), *shares]),
        *silent,
        tuple(sorted(unlocated.items())),
        every[every >= 0],
    )


def _components(part: TextPart, terms: Sequence[str]) -> NDArray[np.intp]:
    column_of = term_columns(part.vectorizer, terms)
    columns = np.array([column_of(term) for term in terms], dtype=np.intp)
    return np.where(columns < 0, -1, part.components[columns]) if len(columns) else _none()


def _silent(
    units: Sequence[PlacedTerms],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    length: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Return the words on which no piece lies, and whether they are stop words."""
    depth = np.zeros(length + 1, dtype=np.intp)
    np.add.at(depth, start, 1)
    np.add.at(depth, end, -1)
    covered = np.concatenate([[0], np.cumsum(np.cumsum(depth[:-1]) > 0)])
    found: dict[tuple[int, int], bool] = {}
    for one in units:
        unknown = zip(one.start.tolist(), one.end.tolist(), strict=True)
        stops = zip(one.silent_start.tolist(), one.silent_end.tolist(), strict=True)
        found |= dict.fromkeys(unknown, False)
        found |= {span: True for span in stops if span not in found}
    free = [(a, b, s) for (a, b), s in sorted(found.items()) if covered[a] == covered[b] and b > a]
    table = np.array(free, dtype=np.intp).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(bool)


def _none() -> NDArray[np.intp]:
    return np.zeros(0, dtype=np.intp)
