"""The data of the page: one JSON object of limited size. Each section has its own function."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._json import all_few_digits, as_json, few_digits
from shafer._kernels.forms import gauss_legendre, quadrature_size
from shafer._text import listed, shortened
from shafer._typing import FloatArray
from shafer._values import Value
from shafer.asking.answers import LOST, AnsweredRows, RowQuestions, ask_rows
from shafer.asking.sentences import LEAST_STAKE
from shafer.decision.policy import AnswerRule, LeastLoss, asked_class
from shafer.evidence.contrast import answer_and_rival
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.errors import WeightErrors
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import GridLayout, RegionLayout
from shafer.evidence.table import label_texts
from shafer.evidence.words import CLOSE, CONFLICTING, LACKING
from shafer.plots.evidence_map_display import disagreement_with_others
from shafer.plots.images import ShownImage, read_image
from shafer.report import sentences
from shafer.report.packing import packed, packed_column
from shafer.report.records import (
    KEPT,
    Writer,
    listed_column,
    row_columns,
    rows_payload,
    stored_weights,
    usual_values,
)
from shafer.report.sentences import LEVEL, half_widths, overview
from shafer.report.study import Study
from shafer.report.what_if import WhatIf, written_model
from shafer.rows.access import take_rows
from shafer.texts.marked import MARKED, PLAIN, Segments, stretches, visible
from shafer.texts.rows import RowText, has_texts, texts_of_row


def payload(
    study: Study,
    rows: Sequence[int] | None,
    room: int,
    *,
    judge_first: bool = False,
    alone: bool = False,
) -> dict[str, Any]:
    """Return all data of the page.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Positions of the instances to show; by default all, or as many as there is room for.
    room : int
        Bytes for the instances.
    judge_first : bool
        Whether the page hides the model's answer until the reader has given one.
    alone : bool
        Whether the page is about its first row only.
    """
    wanted = preferred(study, rows)
    shown = list(dict.fromkeys(wanted))[: 1 if alone else None]
    answered = ask_rows(study.explainer, study.X, study.undiscounted, shown)
    model, why_not = study.what_if(sorted(shown))
    components = components_payload(study)
    head = {
        **_whole_study(study),
        "overview": asdict(overview(study)),
        **components,
        **what_if_payload(model, why_not),
        **errors_payload(study.undiscounted),
        **questions_payload(answered),
        **images_payload(study),
        **texts_payload(study),
        **promise_payload(study),
        "usual": usual_values(study.reference),
        "ofGroups": study.of_groups,
        "answerRule": _answer_rule(study.undiscounted.cutoff),
        "asked": asked_class(study.undiscounted.cutoff),
        "judgeFirst": judge_first,
        "alone": alone,
        "n": len(study),
        "chosen": rows is not None,
        "wanted": len(shown),
    }
    stored = model is None or model.is_costly
    always = set(components["ranking"][:KEPT]) if stored else None
    columns = _columns(study, shown, answered, always)
    all_asked = rows is not None or len(shown) == 1
    columns["even"] = lambda at: None if all_asked else _evenly(len(study), [shown[i] for i in at])
    head["typical"] = "typicality" in columns
    left = room - len(as_json(head).encode())
    return {**head, "rows": rows_payload(shown, columns, left)}


def _columns(
    study: Study, rows: list[int], answered: AnsweredRows, always: set[int] | None
) -> dict[str, Writer]:
    """Return the columns of the rows, by name: what all pages need, and what some models have."""
    columns = row_columns(study, rows)
    kept: list[list[int]] | None = None
    if always is not None:
        stored = stored_weights(study, rows, always)
        columns["stored"], kept = stored.written, stored.kept
    errors = row_errors(study.undiscounted, rows)
    if errors is not None:
        found = [errors.of(row, None if kept is None else kept[i]) for i, row in enumerate(rows)]
        columns["errors"] = listed_column(found)
    typical = study.typicality(rows)
    if typical is not None:
        columns["typicality"] = listed_column(all_few_digits(typical, 4))
    deferred = study.deferred
    if deferred is not None:
        columns["deferred"] = listed_column(deferred[rows].tolist())
    columns |= question_columns(study, answered)
    for entries in (image_entries(study, rows), text_entries(study, rows)):
        for name in entries[rows[0]]:
            columns[name] = listed_column([entries[row][name] for row in rows])
    return columns


def _evenly(n: int, rows: list[int]) -> list[int] | None:
    """Return which rows are an even sample of all n: 1 or 0 each, None if all are shown.

    Figures of the overview are about these rows, as the others were chosen for being notable.
    """
    if len(rows) == n:
        return None
    inside = set(rows)
    spread = _spread(n)
    first = next((at for at, row in enumerate(spread) if row not in inside), n)
    even = set(spread[:first])
    return [int(row in even) for row in rows]


def promise_payload(study: Study) -> dict[str, Any]:
    """Return what was promised on held-out rows, in words; None if nothing was."""
    control = getattr(study.explainer, "deferral", None)
    if control is None or study.deferred is None:
        return {"promise": None}
    rows = sum(part.n_calibration for part in control.found)
    return {"promise": {"text": control.text, "rows": rows}}


def _whole_study(study: Study) -> dict[str, Any]:
    """Return what every section needs: the names, and the constants of formulas and words."""
    ev = study.evidence
    nodes, node_weights = gauss_legendre(quadrature_size(ev.n_classes))
    return {
        "title": study.title,
        "classes": label_texts(ev.classes),
        "columns": list(study.columns),
        "truth": study.truth is not None,
        "discounted": isinstance(ev, DiscountedEvidence),
        "quadrature": {"nodes": nodes.tolist(), "weights": node_weights.tolist()},
        "limits": {
            "lacking": LACKING,
            "conflicting": CONFLICTING,
            "barely": sentences.BARELY,
            "weakly": sentences.WEAKLY,
            "moderately": sentences.MODERATELY,
            "named": sentences.NAMED,
            "bars": sentences.BARS,
            "close": CLOSE,
        },
    }


def _answer_rule(rule: AnswerRule | None) -> dict[str, Any] | None:
    """Return what the page needs to find the answer; None for the most probable class."""
    if isinstance(rule, LeastLoss):
        return {"regret": rule.regret.tolist()}
    if rule is None:
        return None
    return {
        "position": rule.position,
        "threshold": rule.threshold,
        "shown": f"{rule.threshold:.3g}",
        "shift": rule.shift.tolist(),
    }


# The data of the components over all instances: their ranking by mean contrast.

_RANKED = 15


def components_payload(study: Study) -> dict[str, Any]:
    """Return the components by mean size of their contrast; the base rate has no rank."""
    means = study.mean_contrasts()
    base_rate = study.base_rate
    order = [g for g in np.argsort(-means, kind="stable").tolist() if g != base_rate]
    ranking = order[:_RANKED]
    return {
        "components": list(study.undiscounted.component_names),
        "ranking": ranking,
        "meanContrasts": all_few_digits(means[ranking]),
        "baseRate": base_rate,
        "sharesBaseRate": study.shares_base_rate,
        "meanBaseFactor": None if base_rate is None else f"×{np.exp(means[base_rate]):.2f}",
    }


# The data of the error bars: standard errors of the contrasts of pairs of classes.

_MOST_CLASSES = 4  # with more, errors are stored for the answer over the runner-up only


@final
@dataclass(frozen=True, eq=False)
class RowErrors:
    """Standard errors of some rows.

    Attributes
    ----------
    components : dict of row to array of shape (G, M)
        Of the contrasts of M pairs of classes, for each component.
    sums : dict of row to array of shape (M,)
        Of the sums over the components.
    """

    components: dict[int, FloatArray]
    sums: dict[int, FloatArray]

    def of(self, row: int, kept: list[int] | None) -> dict[str, Any]:
        """Return the errors of a row, for all components or for those kept."""
        std = self.components[row] if kept is None else self.components[row][kept]
        return {
            "std": [all_few_digits(values, 4) for values in std],
            "sum": all_few_digits(self.sums[row], 4),
        }


def errors_payload(evidence: Evidence) -> dict[str, Any]:
    """Return the level of the intervals, and how many standard errors they reach to each side."""
    if evidence.errors is None:
        return {"errors": None}
    every = evidence.n_classes <= _MOST_CLASSES
    times = float(half_widths(np.ones(1), evidence)[0])
    return {"errors": {"level": LEVEL, "times": times, "allPairs": every}}


def row_errors(evidence: Evidence, rows: list[int]) -> RowErrors | None:
    """Return the errors of some rows: of all pairs of classes if there are few classes."""
    if evidence.errors is None:
        return None
    chosen = evidence.errors.rows(np.asarray(rows, dtype=np.intp))
    whole = chosen.grouped([range(evidence.n_components)])
    every = list(combinations(range(evidence.n_classes), 2))
    if evidence.n_classes <= _MOST_CLASSES:
        contrasts = np.array([_contrast(a, b, evidence.n_classes) for a, b in every])
        parts, sums = chosen.std_of(contrasts), whole.std_of(contrasts)[:, 0]
    else:
        pairs = np.stack(answer_and_rival(evidence[rows]), axis=1)
        parts, sums = _of_pairs(chosen, pairs), _of_pairs(whole, pairs)[:, 0]
    return RowErrors(dict(zip(rows, parts, strict=True)), dict(zip(rows, sums, strict=True)))


def _of_pairs(errors: WeightErrors, pairs: Any) -> FloatArray:
    """Return the errors of one pair of classes in each row, (n, G, 1)."""
    n, n_components, n_classes = errors.shape
    result = np.empty((n, n_components, 1))
    for a, b in np.unique(pairs, axis=0).tolist():
        rows = np.flatnonzero((pairs == (a, b)).all(axis=1))
        result[rows] = errors.rows(rows).std_of(_contrast(a, b, n_classes)[None])
    return result


def _contrast(a: int, b: int, n_classes: int) -> FloatArray:
    units = np.eye(n_classes)
    difference: FloatArray = units[a] - units[b]
    return difference


# The data of images: small pictures, and the evidence of their locations.

STORED = 12
"""Classes whose maps are stored for a row, the most probable."""
_LONGEST = 96  # pixels of a picture
_SMALL = 48 * 48  # up to this size a picture is stored without loss
_LEVELS = 32767


def images_payload(study: Study) -> dict[str, Any]:
    """Return where the components lie in the images; None if the rows are not images."""
    layout = study.undiscounted.layout
    if isinstance(layout, GridLayout):
        size, labels = [layout.height, layout.width], None
    elif isinstance(layout, RegionLayout):
        shared = layout.label_map.ndim == 2
        size = list(_small_labels(layout.label_map).shape[-2:])
        labels = packed(_small_labels(layout.label_map), "<u2") if shared else None
    else:
        return {"images": None}
    named = layout.n_components
    return {"images": {"size": size, "cells": named, "labels": labels, "levels": _LEVELS}}


def image_entries(study: Study, rows: list[int]) -> dict[int, dict[str, Any]]:
    """Return the picture of each row and the weights of its locations; empty without images."""
    if images_payload(study)["images"] is None:
        return {row: {} for row in rows}
    return {row: {"image": _entry(study.undiscounted[row], study.X, row)} for row in rows}


def _entry(one: Evidence, X: Any, row: int) -> dict[str, Any]:
    layout = one.layout
    assert layout is not None
    probability = to_numpy(one.probability)[0]
    kept = np.sort(np.argsort(-probability, kind="stable")[:STORED])
    every = to_numpy(one.weights)[0].astype(np.float64)
    weights = every[: layout.n_components, kept]
    most = float(np.abs(weights).max()) or 1.0
    ignorance = to_numpy(one.components.ignorance)[0][: layout.n_components]
    disagreement = disagreement_with_others(every)[: layout.n_components]
    entry = {
        **_picture(X, row),
        "k": kept.tolist(),
        "most": few_digits(most, 9),
        "w": packed(np.round(weights.T / most * _LEVELS), "<i2"),
        "ignorance": packed(np.round(ignorance * _LEVELS), "<i2"),
        "disagreement": packed(np.round(disagreement * _LEVELS), "<i2"),
    }
    if isinstance(layout, RegionLayout) and layout.label_map.ndim == 3:
        entry["labels"] = packed(_small_labels(layout.label_map)[0], "<u2")
    return entry


def _picture(X: Any, row: int) -> dict[str, Any]:
    """Return the picture of a row as a data address; none if the input is not a picture."""
    one = take_rows(X, [row])
    try:
        pixels = to_numpy(one[0]) if len(one) == 1 else to_numpy(one)
        image = read_image(pixels, channels="first" if pixels.ndim == 3 else None)
    except (ValueError, TypeError, IndexError):
        return {"src": None, "note": "The input of this row is not a picture."}
    return {"src": _data_address(image), "note": image.note}


def _data_address(image: ShownImage) -> str:
    """Return a small picture as PNG, or as JPEG if it is larger."""
    from PIL import Image

    pixels = _shrunk(image.colours)
    picture = Image.fromarray(np.round(255.0 * pixels).astype(np.uint8))
    if np.ptp(pixels, axis=2).max() < 1e-9:
        picture = picture.convert("L")
    lossless = pixels.shape[0] * pixels.shape[1] <= _SMALL
    file, kind = BytesIO(), "png" if lossless else "jpeg"
    picture.save(file, kind, **({"optimize": True} if lossless else {"quality": 85}))
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"


def _shrunk(colours: FloatArray) -> FloatArray:
    """Average blocks of pixels until the longer side is short enough."""
    times = -(-max(colours.shape[:2]) // _LONGEST)
    if times == 1:
        return colours
    height, width = (max(1, side // times) for side in colours.shape[:2])
    cut = colours[: height * times, : width * times]
    return np.asarray(cut.reshape(height, -1, width, cut.shape[1] // width, 3).mean(axis=(1, 3)))


def _small_labels(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Keep every so many pixels of a segmentation."""
    times = -(-max(labels.shape[-2:]) // _LONGEST)
    return labels[..., times // 2 :: times, times // 2 :: times]


# The data of the questions about rows: what would settle them, would they stand, what to check.


_LARGEST_SINGLE = 1e37


def questions_payload(answered: AnsweredRows) -> dict[str, Any]:
    """Return what is the same for all rows."""
    return {
        "questions": {
            "ofInputs": not answered.why_not,
            "whyNot": answered.why_not,
            "lost": LOST,
            "leastStake": LEAST_STAKE,
        }
    }


def question_columns(study: Study, answered: AnsweredRows) -> dict[str, Writer]:
    """Return the answers, and the expected inputs; inputs are columns of the page, by position."""
    place: dict[str, int | str] = {name: j for j, name in enumerate(study.columns)}
    entries = [_question_entry(questions, place) for questions in answered.rows]
    columns = {"questions": listed_column(entries)}
    if answered.rows and answered.rows[0].expected:
        found = [questions.expected or {} for questions in answered.rows]
        columns["expected"] = lambda at: [
            _expected_column([found[i].get(name) for i in at]) for name in study.columns
        ]
    return columns


def _expected_column(values: list[Value]) -> Any:
    """Write expected values: numbers in single precision, which has their digits."""
    known = [value for value in values if value is not None]
    if not known or not all(isinstance(v, float) and abs(v) < _LARGEST_SINGLE for v in known):
        return packed_column(values)
    numbers = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return {"f4": packed(numbers, "<f4")}


def _question_entry(questions: RowQuestions, place: dict[str, int | str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"answer": questions.answer, "fragility": questions.fragility}
    if questions.missing:
        entry["overturn"] = questions.overturn
        entry["missing"] = questions.missing
        entry["next"] = [
            [place.get(n.input, n.input), n.information] for n in questions.next_inputs
        ]
    cell = questions.cell
    if cell is not None:
        name = place.get(cell.input, cell.input)
        entry["cell"] = [name, cell.value, cell.expected, cell.surprise, cell.stake]
    return entry


# The texts of the rows that the page shows: pieces of text with the weights of all classes.

_MOST_SEGMENTS = 600
_MOST_UNLOCATED = 30
_DIGITS = 5


def texts_payload(study: Study) -> dict[str, Any]:
    """Return whether the page shows marked texts."""
    return {"texts": has_texts(study)}


def text_entries(study: Study, rows: list[int]) -> dict[int, dict[str, Any]]:
    """Return the texts of each row; nothing if components are not words."""
    if not has_texts(study):
        return {row: {} for row in rows}
    return {
        row: {"texts": [_text_entry(text) for text in texts_of_row(study, row)]} for row in rows
    }


def _text_entry(text: RowText) -> dict[str, Any]:
    words = [shortened(visible(word)) for word in text.unlocated_words[:_MOST_UNLOCATED]]
    return {
        "column": text.column,
        "parts": _parts(text.segments),
        "baseRate": _weights(text.base_rate),
        "absent": _weights(text.absent),
        "others": _weights(text.others) if np.any(text.others) else None,
        "unlocated": _weights(text.unlocated) if words else None,
        "unlocatedWords": words,
    }


def _parts(segments: Segments) -> list[Any]:
    """Return plain strings, [word] for silent words, [word, weights], and [count, weights]."""
    parts: list[Any] = []
    for stretch in stretches(segments, _MOST_SEGMENTS):
        if not stretch.shown:
            total = segments.total(stretch.first, stretch.last)
            parts.append([stretch.words, _weights(total)])
            continue
        for s in range(stretch.first, stretch.last):
            string, kind = visible(segments.string(s)), int(segments.kinds[s])
            if kind == PLAIN:
                parts.append(string)
            else:
                parts.append([string, _weights(segments.marks[s])] if kind == MARKED else [string])
    return parts


def _weights(values: FloatArray) -> list[float]:
    return all_few_digits(values, _DIGITS)


# The data of the what-if sliders.


def what_if_payload(model: WhatIf | None, why_not: str) -> dict[str, Any]:
    """Return how the inputs make the weights, or why the page has no sliders."""
    if model is None:
        return {"whatIf": None, "whyNot": why_not}
    return {"whatIf": written_model(model), "whyNot": ""}


# Which rows the page shows when there are too many for all of them.

MOST_ROWS = 10_000
_MOST_DRAWN = 2_000  # of images and texts
_NOTABLE = 40  # of each kind


def preferred(study: Study, rows: Sequence[int] | None) -> list[int]:
    """Return the rows to show, the most important first.

    First come the rows with the most ignorance, the most disagreement and the most confident
    errors. Then come all rows, evenly spread over the table, so a cut at the end removes an even
    sample.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        The rows asked for; all by default.
    """
    n = len(study)
    if rows is not None:
        outside = [row for row in rows if not 0 <= row < n]
        if outside:
            raise ValueError(f"rows must lie between 0 and {n - 1}; got [{listed(outside, 5)}].")
        return list(dict.fromkeys(rows))
    drawn = images_payload(study)["images"] is not None or has_texts(study)
    most = _MOST_DRAWN if drawn else MOST_ROWS
    return list(dict.fromkeys([*_notable(study), *_spread(n)]))[:most]


def _notable(study: Study) -> list[int]:
    certainty = np.max(to_numpy(study.evidence.betting_probability), axis=1)
    scores = [
        to_numpy(study.evidence.ignorance),
        to_numpy(study.undiscounted.disagreement),
        np.where(study.wrong, certainty, -1.0),
    ]
    return [int(i) for score in scores for i in np.argsort(-score, kind="stable")[:_NOTABLE]]


def _spread(n: int) -> list[int]:
    """Return 0..n−1 in an order of which every beginning is spread evenly over the whole."""
    # Multiples of the golden ratio, modulo one.
    return [int(i) for i in np.argsort((np.arange(n) * 0.6180339887498949) % 1.0, kind="stable")]
