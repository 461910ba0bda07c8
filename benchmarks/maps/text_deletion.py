"""Do the marked words carry the probability? Words removed, or given back, by their rank.

The words of a text are ranked by their score for the predicted class, and removed from the top: the
area under the class's probability is small if the ranking is right. Given back to an empty text
from the top, the area is large. Areas are means over eleven steps from none to all distinct words.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from machine import describe, record, table

from maps.text_methods import Scores, methods, without, word_spans
from maps.text_tasks import TextTask, models, tasks

N_TEXTS = 40
LEAST_WORDS = 8
STEPS = np.linspace(0.0, 1.0, 11)
PEER = "SHAP linear"


def main() -> dict[str, Any]:
    """Measure all tasks and models, print the tables as Markdown, and return the figures."""
    rows = [row for task in tasks() for row in study(task)]
    for heading, lines in tables(rows).items():
        print(f"\n{heading}\n{table(lines)}")
    record("maps_text", describe(), rows)
    return {"rows": rows}


def study(task: TextTask) -> list[dict[str, Any]]:
    """Measure one task with all models."""
    train, labels, held_out = task.parts()
    rows = []
    for name, model in models(len(set(task.labels))).items():
        model.fit(train, labels)
        chosen = [t for t in held_out if len({w for *_, w in word_spans(model, t)}) >= LEAST_WORDS]
        found = measured(model, train, chosen[:N_TEXTS])
        peer = found[PEER]
        for method, (areas, seconds) in found.items():
            row = {"task": task.name, "split": task.split, "model": name, "method": method}
            row["ms"] = round(1000.0 * float(np.median(seconds)), 2)
            for at, measure in enumerate(("deletion", "insertion")):
                gap = areas[:, at] - peer[0][:, at]
                row[measure] = float(areas[:, at].mean())
                row[f"{measure} − {PEER}"] = float(gap.mean())
                row[f"{measure} error"] = float(gap.std(ddof=1) / np.sqrt(len(gap)))
            rows.append(row)
        print(f"{task.name}, {name}: {len(chosen[:N_TEXTS])} texts", flush=True)
    return rows


def measured(model: Any, train: list[str], texts: list[str]) -> dict[str, Any]:
    """Return for each method the areas (n, 2) of deletion and insertion, and seconds (n,)."""
    predicted = np.argmax(model.predict_proba(texts), axis=1)
    found = {}
    for name, score in methods(model, train).items():
        areas, seconds = [], []
        for text, k in zip(texts, predicted.tolist(), strict=True):
            start = time.perf_counter()
            scores = score(text, k)
            seconds.append(time.perf_counter() - start)
            areas.append(areas_of(model, text, k, scores))
        found[name] = (np.array(areas), np.array(seconds))
    return found


def areas_of(model: Any, text: str, k: int, scores: Scores) -> tuple[float, float]:
    """Return the area under the probability as words are removed, and as they are given back."""
    ranked = sorted(scores, key=lambda word: (-scores[word], word))
    cuts = np.round(STEPS * len(ranked)).astype(int).tolist()
    removed = [without(model, text, set(ranked[:cut])) for cut in cuts]
    given = [without(model, text, set(ranked[cut:])) for cut in cuts]
    p = model.predict_proba([*removed, *given])[:, k]
    return float(p[: len(cuts)].mean()), float(p[len(cuts) :].mean())


def tables(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return a table for each split, methods by models: deletion and insertion; and the times."""
    found: dict[str, list[dict[str, Any]]] = {}
    for split in dict.fromkeys(row["split"] for row in rows):
        part = [row for row in rows if row["split"] == split]
        names = ", ".join(dict.fromkeys(row["task"] for row in part))
        found[f"{split} {names}: deletion / insertion"] = _means(part, _areas)
    found["milliseconds per text, one core"] = _means(rows, _milliseconds)
    found[f"difference to {PEER}, all tasks: deletion / insertion ± 2 standard errors"] = _means(
        rows, _gaps
    )
    return found


def _means(rows: list[dict[str, Any]], written: Any) -> list[dict[str, Any]]:
    lines: dict[str, dict[str, Any]] = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        lines[method] = {"method": method}
        for model in dict.fromkeys(row["model"] for row in rows):
            cell = [row for row in rows if (row["method"], row["model"]) == (method, model)]
            lines[method][model] = written(cell)
    return list(lines.values())


def _areas(cell: list[dict[str, Any]]) -> str:
    means = (np.mean([row[measure] for row in cell]) for measure in ("deletion", "insertion"))
    return " / ".join(f"{mean:.3f}" for mean in means)


def _milliseconds(cell: list[dict[str, Any]]) -> str:
    return f"{np.mean([row['ms'] for row in cell]):.1f}"


def _gaps(cell: list[dict[str, Any]]) -> str:
    texts = []
    for measure in ("deletion", "insertion"):
        mean = np.mean([row[f"{measure} − {PEER}"] for row in cell])
        error = np.sqrt(np.sum([row[f"{measure} error"] ** 2 for row in cell])) / len(cell)
        texts.append(f"{mean:+.4f} ± {2 * error:.4f}")
    return " / ".join(texts)
