"""The data of the page: one JSON object of limited size, escaped for a script element."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import DiscountedEvidence
from shafer.evidence.degree_words import CONFLICTING, LACKING
from shafer.evidence.io.frame_table import label_texts
from shafer.kernels.pignistic import gauss_legendre, quadrature_size
from shafer.report import instance_sentence
from shafer.report.overview import overview
from shafer.report.shown_rows import preferred
from shafer.report.study import Study
from shafer.report.what_if import WhatIf

_RANKED = 30  # components in the global view, and per instance where weights are stored
_KEPT = 12


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element: no markup, no line separators."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A broken file may have half of a surrogate pair, which UTF-8 cannot encode.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _short(values: FloatArray, digits: int = 6) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in np.ravel(values)]


def _what_if(model: WhatIf) -> dict[str, Any]:
    inputs = []
    for entry in model.inputs:
        choices = [choice for choice in entry.effects if choice is not None]
        missing = entry.effects.get(None)
        inputs.append(
            {
                "name": entry.name,
                "components": entry.components,
                "anchor": entry.anchor,
                "low": entry.low,
                "high": entry.high,
                "digits": entry.digits,
                "slope": None if entry.slope is None else entry.slope.tolist(),
                "choices": choices,
                "effects": [entry.effects[choice].tolist() for choice in choices],
                "missing": None if missing is None else missing.tolist(),
            }
        )
    return {"base": model.base.tolist(), "inputs": inputs}


def _stored_weights(study: Study, row: int, answer: int, always: set[int]) -> dict[str, Any]:
    """Keep the strongest components of a row, and the sum of the others for and against."""
    weights = to_numpy(study.undiscounted[row].weights)[0].astype(np.float64)
    strongest = np.argsort(-np.max(np.abs(weights), axis=1), kind="stable")[:_KEPT]
    named = np.argsort(-np.abs(weights[:, answer]), kind="stable")[: instance_sentence.NAMED]
    kept = sorted(always.union(strongest.tolist(), named.tolist()))
    rest = np.delete(weights, kept, axis=0)
    return {
        "g": kept,
        "w": [_short(weights[g], 12) for g in kept],
        "restFor": _short(np.maximum(rest, 0.0).sum(axis=0), 12),
        "restAgainst": _short(np.maximum(-rest, 0.0).sum(axis=0), 12),
    }


def _rows(
    study: Study, wanted: list[int], model: WhatIf | None, always: set[int], room: int
) -> list[dict[str, Any]]:
    """Return the instances in the wanted order, until the room is used up."""
    ev = study.evidence
    answers, decided = study.answers, study.decided
    probability = to_numpy(study.evidence.betting_probability)
    ignorance, conflict, weight = (
        to_numpy(a) for a in (ev.ignorance, ev.conflict, ev.weight_of_conflict)
    )
    reliability = to_numpy(ev.reliability) if isinstance(ev, DiscountedEvidence) else None
    shown = list(study.columns.values())
    rows: list[dict[str, Any]] = []
    for i in dict.fromkeys(wanted):
        k = int(answers[i])
        entry: dict[str, Any] = {
            "i": i,
            "answer": k,
            "decided": np.flatnonzero(decided[i]).tolist(),
            "p": float(f"{probability[i, k]:.6g}"),
            "ignorance": float(f"{ignorance[i]:.6g}"),
            "conflict": float(f"{conflict[i]:.6g}"),
            "weightOfConflict": float(f"{weight[i]:.6g}"),
            "x": [cells[i] for cells in shown],
        }
        if reliability is not None:
            entry["reliability"] = float(reliability[i])
        if study.truth is not None:
            entry["truth"] = int(study.truth[i])
        if model is None:
            entry["stored"] = _stored_weights(study, i, k, always)
        room -= len(as_json(entry).encode()) + 1
        if room < 0 and rows:
            break
        rows.append(entry)
    return sorted(rows, key=lambda entry: int(entry["i"]))


def payload(study: Study, rows: Sequence[int] | None, room: int) -> dict[str, Any]:
    """Return all data of the page.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Positions of the instances to show; by default all, or as many as there is room for.
    room : int
        Bytes for the instances.
    """
    ev = study.evidence
    mean_weights = study.mean_weights()
    ranking = np.argsort(-mean_weights.mean(axis=1), kind="stable")[:_RANKED].tolist()
    wanted = preferred(study, rows)
    model, why_not = study.what_if(sorted(set(wanted)))
    nodes, node_weights = gauss_legendre(quadrature_size(ev.n_classes))
    head = {
        "title": study.title,
        "classes": label_texts(ev.classes),
        "components": list(study.undiscounted.component_names),
        "columns": list(study.columns),
        "truth": study.truth is not None,
        "discounted": isinstance(ev, DiscountedEvidence),
        "overview": asdict(overview(study)),
        "ranking": ranking,
        "meanWeights": [_short(mean_weights[g]) for g in ranking],
        "quadrature": {"nodes": nodes.tolist(), "weights": node_weights.tolist()},
        "whatIf": None if model is None else _what_if(model),
        "whyNot": why_not,
        "limits": {
            "lacking": LACKING,
            "conflicting": CONFLICTING,
            "barely": instance_sentence.BARELY,
            "weakly": instance_sentence.WEAKLY,
            "moderately": instance_sentence.MODERATELY,
            "named": instance_sentence.NAMED,
        },
    }
    left = room - len(as_json(head).encode())
    written = _rows(study, wanted, model, set(ranking[:_KEPT]), left)
    return {**head, "rows": written, "asked": rows is not None, "wanted": len(set(wanted))}
