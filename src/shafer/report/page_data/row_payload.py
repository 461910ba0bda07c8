"""The data of the instances: one entry for each row that the page shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence import DiscountedEvidence
from shafer.evidence.disputed_classes import disputed_classes
from shafer.report import instance_sentence
from shafer.report.answer_and_rival import answer_and_rival
from shafer.report.page_data.error_payload import row_errors
from shafer.report.page_data.json_text import all_few_digits, as_json, few_digits
from shafer.report.study import Study

KEPT = 12
"""Components whose weights are stored for a row that has no sliders, the strongest."""


def rows_payload(
    study: Study,
    wanted: list[int],
    always: set[int] | None,
    room: int,
    *more: Mapping[int, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the entries of some rows, in the order of the table.

    Parameters
    ----------
    study : Study
    wanted : list of int
        The rows, the most important first; the last are left out if there is no room.
    always : set of int, optional
        The page has no sliders, so weights are stored, those of these components for every row.
    room : int
        Bytes for all entries.
    *more : mappings from row to entries
        What other sections add to the entry of each row.
    """
    entries: list[dict[str, Any]] = []
    rows = list(dict.fromkeys(wanted))
    columns = row_columns(study, rows)
    errors = row_errors(study.undiscounted, rows)
    for at, row in enumerate(rows):
        entry = {"i": row, **{name: values[at] for name, values in columns.items()}}
        entry["x"] = [cells[row] for cells in study.columns.values()]
        if always is not None:
            entry["stored"] = stored_weights(study, row, always)
        if errors is not None:
            entry["errors"] = errors.of(row, None if always is None else entry["stored"]["g"])
        for part in more:
            entry.update(part[row])
        room -= len(as_json(entry).encode()) + 1
        if room < 0 and entries:
            break
        entries.append(entry)
    return sorted(entries, key=lambda entry: int(entry["i"]))


def row_columns(study: Study, rows: list[int]) -> dict[str, list[Any]]:
    """Return what the list and the plane need of some rows, by name."""
    ev, weighted = study.evidence, study.undiscounted
    answers = study.answers[rows]
    numbers = {
        "p": to_numpy(ev.betting_probability)[rows, answers],
        "ignorance": to_numpy(ev.ignorance)[rows],
        "disagreement": to_numpy(weighted.disagreement)[rows],
        "weightOfDisagreement": to_numpy(weighted.weight_of_disagreement)[rows],
    }
    columns: dict[str, list[Any]] = {
        "answer": answers.tolist(),
        "decided": [np.flatnonzero(chosen).tolist() for chosen in study.decided[rows]],
        **{name: all_few_digits(values) for name, values in numbers.items()},
    }
    if isinstance(ev, DiscountedEvidence):
        columns["reliability"] = to_numpy(ev.reliability)[rows].tolist()
    if study.truth is not None:
        columns["truth"] = study.truth[rows].tolist()
    return columns


def stored_weights(study: Study, row: int, always: set[int]) -> dict[str, Any]:
    """Keep the strongest components of a row, and the sum of the others for and against."""
    one = study.undiscounted[row]
    weights = to_numpy(one.weights)[0].astype(np.float64)
    answer, rival = (int(k[0]) for k in answer_and_rival(one))
    contrast = weights[:, answer] - weights[:, rival]
    strongest = np.argsort(-np.max(np.abs(weights), axis=1), kind="stable")[:KEPT]
    # The sentence names these; one may be the base rate.
    named = np.argsort(-np.abs(contrast), kind="stable")[: instance_sentence.NAMED + 1]
    own = set() if study.base_rate is None else {study.base_rate}
    kept = sorted(always.union(own, strongest.tolist(), named.tolist()))
    rest = np.delete(weights, kept, axis=0)
    disputed = disputed_classes(weights)
    words = study.words_in(row)
    return {
        "g": kept,
        "w": [all_few_digits(weights[g], 12) for g in kept],
        "restFor": all_few_digits(np.maximum(rest, 0.0).sum(axis=0), 12),
        "restAgainst": all_few_digits(np.maximum(-rest, 0.0).sum(axis=0), 12),
        "weightOfDisagreement": few_digits(one.weight_of_disagreement[0], 12),
        "disputed": None if disputed is None else list(disputed),
        # Whether a text has the word of each component; null if it is not a word.
        **({"inText": [words.get(g) for g in kept]} if words else {}),
    }
