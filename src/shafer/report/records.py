"""The rows of the page as columns of limited size; ``records.js`` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._json import all_few_digits, as_json
from shafer._typing import FloatArray
from shafer.decision.policy import LeastLoss
from shafer.evidence.contrast import answer_and_rival, disputed_classes
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.report import sentences
from shafer.report.packing import packed, packed_column, packed_floats

if TYPE_CHECKING:
    from shafer.report.study import Study

Writer: TypeAlias = Callable[[list[int]], Any]
"""Writes one column for the rows at some places among those wanted."""

MOST_CLASSES = 20
"""With more classes the page has the probability of the answer only."""


def listed_column(values: Sequence[Any]) -> Writer:
    """Return the writer of a column of plain values."""
    return lambda at: [values[i] for i in at]


def rows_payload(rows: Sequence[int], columns: Mapping[str, Writer], room: int) -> dict[str, Any]:
    """Return the columns of as many rows as there is room for, in the order of the table.

    Parameters
    ----------
    rows : sequence of int
        Positions, the most important first.
    columns : mapping of name to writer
    room : int
        Bytes.
    """
    count = len(rows)
    while True:
        at = sorted(range(count), key=lambda place: rows[place])
        written = {
            "i": [rows[i] for i in at],
            **{name: write(at) for name, write in columns.items()},
        }
        size = len(as_json(written).encode())
        if size <= room or count <= 1:
            return written
        count = max(1, min(count - 1, int(0.97 * count * room / size)))


def row_columns(study: Study, rows: list[int]) -> dict[str, Writer]:
    """Return what the table, the overview and the plane need of some rows, by name."""
    ev, weighted = study.evidence, study.undiscounted
    answers = study.answers[rows]
    bets = to_numpy(ev.betting_probability)[rows].astype(np.float64)
    numbers = {
        "p": bets[np.arange(len(rows)), answers],
        "closeness": closeness(study, rows),
        "ignorance": to_numpy(ev.ignorance)[rows],
        "disagreement": to_numpy(weighted.disagreement)[rows],
        "weightOfDisagreement": to_numpy(weighted.weight_of_disagreement)[rows],
    }
    plain: dict[str, list[Any]] = {
        "answer": answers.tolist(),
        "decided": [np.flatnonzero(chosen).tolist() for chosen in study.decided[rows]],
        **{name: all_few_digits(values) for name, values in numbers.items()},
    }
    if isinstance(ev, DiscountedEvidence):
        plain["reliability"] = to_numpy(ev.reliability)[rows].tolist()
    if study.truth is not None:
        plain["truth"] = study.truth[rows].tolist()
    if study.ids is not None:
        plain["id"] = [str(study.ids[row]) for row in rows]
    cells = {name: [values[row] for row in rows] for name, values in study.columns.items()}
    columns = {name: listed_column(values) for name, values in plain.items()}
    columns["x"] = lambda at: [packed_column([v[i] for i in at]) for v in cells.values()]
    if ev.n_classes <= MOST_CLASSES:
        columns["probability"] = lambda at: packed_floats(bets[at])
    return columns


def closeness(study: Study, rows: list[int]) -> FloatArray:
    """Return how far the answers are from another one, in probability, (n,).

    That is the distance from the threshold, or the lead of the most probable class.
    """
    rule = study.undiscounted.cutoff
    probability = to_numpy(study.undiscounted.probability)[rows].astype(np.float64)
    if rule is not None and not isinstance(rule, LeastLoss):
        return np.asarray(np.abs(probability[:, rule.position] - rule.threshold))
    best = np.partition(probability, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])


# The weights of rows whose model the page cannot evaluate.

KEPT = 10
"""Components whose weights are stored for such a row, the strongest."""
_AT_ONCE = 2**22  # weights (rows, G, K) held at a time


@final
@dataclass(frozen=True, eq=False)
class StoredWeights:
    """The strongest components of each row, and the sums of all for and against each class.

    Attributes
    ----------
    kept : list of lists of int
        Positions of the components of each row.
    weights : list of arrays of shape (kept, K)
    weights_for, weights_against : arrays of shape (n, K)
        Sums over all components.
    disagreement : array of shape (n,)
        The weight of disagreement.
    disputed : list of pairs of classes or None
    in_text : list of lists of bool or None
        Whether a text has the word of each component; None for a component that is not a word.
        Empty for rows without texts.
    """

    kept: list[list[int]]
    weights: list[FloatArray]
    weights_for: FloatArray
    weights_against: FloatArray
    disagreement: FloatArray
    disputed: list[list[int] | None]
    in_text: list[list[bool | None]]

    def written(self, at: list[int]) -> dict[str, Any]:
        """Write the weights of the rows at some places."""
        inside = [self.in_text[i] for i in at] if self.in_text else None
        return {
            "count": [len(self.kept[i]) for i in at],
            "g": packed(np.concatenate([self.kept[i] for i in at]), "<u4"),
            "w": packed_floats(np.concatenate([self.weights[i].ravel() for i in at])),
            "weightsFor": {"f8": packed(self.weights_for[at], "<f8")},
            "weightsAgainst": {"f8": packed(self.weights_against[at], "<f8")},
            "weightOfDisagreement": all_few_digits(self.disagreement[at], 12),
            "disputed": [self.disputed[i] for i in at],
            **({} if inside is None else {"inText": inside}),
        }


def stored_weights(study: Study, rows: list[int], always: set[int]) -> StoredWeights:
    """Return the weights of some rows; those of the components in ``always`` are kept in each."""
    ev = study.undiscounted
    step = max(1, _AT_ONCE // (ev.n_components * ev.n_classes))
    own = always if study.base_rate is None else {*always, study.base_rate}
    kept: list[list[int]] = []
    weights: list[FloatArray] = []
    disputed: list[list[int] | None] = []
    for start in range(0, len(rows), step):
        block = ev[rows[start : start + step]]
        every = to_numpy(block.weights).astype(np.float64)
        answers, rivals = answer_and_rival(block)
        for one, a, b in zip(every, answers.tolist(), rivals.tolist(), strict=True):
            chosen = _strongest(one, one[:, a] - one[:, b], own)
            pair = disputed_classes(one)
            kept.append(chosen)
            weights.append(one[chosen])
            disputed.append(None if pair is None else list(pair))
    words = [study.words_in(row) for row in rows] if any(study.words_in(rows[0])) else []
    return StoredWeights(
        kept,
        weights,
        to_numpy(ev.weights_for)[rows].astype(np.float64),
        to_numpy(ev.weights_against)[rows].astype(np.float64),
        to_numpy(ev.weight_of_disagreement)[rows].astype(np.float64),
        disputed,
        [[found.get(g) for g in chosen] for found, chosen in zip(words, kept, strict=True)]
        if words
        else [],
    )


def _strongest(weights: FloatArray, contrast: FloatArray, always: set[int]) -> list[int]:
    """Return the components of a row to keep: those with bars, and the strongest for any class."""
    size = np.abs(weights).max(axis=1)
    largest = np.argsort(-size, kind="stable")[:KEPT].tolist()
    # These have bars, and the sentence names some; one may be the base rate.
    named = np.argsort(-np.abs(contrast), kind="stable")[: sentences.BARS + 1].tolist()
    return sorted(always.union(largest, named))


# The inputs of the page: their usual ranges, and a typical value.

_REFERENCE = 5_000  # rows that are read for them
_FEWEST = 20


def usual_values(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return for each column the range of eight of ten numbers, and a typical value.

    Parameters
    ----------
    columns : mapping of name to values
        Of rows to compare with; too few give no range.
    """
    return [_usual(cells) for cells in columns.values()]


def _usual(cells: Sequence[Any]) -> dict[str, Any]:
    known = [cell for cell in cells if cell is not None]
    if not known:
        return {"range": None, "typical": None}
    if not all(isinstance(cell, float) for cell in known):
        names, counts = np.unique(np.array(known, dtype=str), return_counts=True)
        return {"range": None, "typical": str(names[np.argmax(counts)])}
    low, high = np.quantile(known, [0.1, 0.9]).tolist()
    middle = float(np.quantile(known, 0.5, method="nearest"))  # a value that occurs
    of_two = len(set(known)) <= 2  # such as present and absent: all values are usual
    shown = None if of_two or len(known) < _FEWEST else [low, high]
    return {"range": shown, "typical": middle}


def reference_rows(n: int) -> NDArray[np.intp]:
    """Return the positions of the rows to read for usual values, evenly spread."""
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, _REFERENCE)).astype(np.intp))
