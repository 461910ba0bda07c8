"""Tables of the benchmark: means over the data sets, win:loss counts, and the targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from machine import table

from asking.wrong_cells import KINDS

Rows = list[dict[str, Any]]

LABELS = {
    "information": "`next_inputs`",
    "second order": "its second-order term",
    "entropy reduction": "expected entropy reduction",
    "static order": "static order of mean absolute SHAP",
    "plan": "`next_measurements`, planned beforehand",
    "overturn": "`overturn`",
    "product formula": "the same with independent leads",
    "1 − max-softmax, filled": "1 − max-softmax, not moderated",
    "if true": "(`overturn`, if its chances were true)",
    "fragility": "`fragility`",
    "fragility, product formula": "the same, always normal, independent leads",
    "fragility of dropped terms": "the same for dropped terms",
    "frequency in other draws": "(frequency in 200 other draws)",
    "stake": "`check_cells`, stake",
    "surprise": "`check_cells`, surprise: conditional z-score",
    "weight": "absolute weight = SHAP",
    "guarded": "`guard`",
    "guarded, clipped background": "`guard`, background winsorised",
    "trained winsorised": "winsorised, also in training",
    "conditional": '`missing="conditional"`',
    "vacuous": '`missing="vacuous"`',
    "frequencies": "indicators at their means",
    "most frequent": "most frequent category",
    "complete": "(nothing missing)",
    "ignorance, conflict": "ignorance, then conflict",
}
"""How methods are called in the tables; others go by their own name."""

TIMED = {
    "second order": "scores of the second-order term, in NumPy",
    "entropy reduction": "scores of expected entropy reduction, in NumPy",
    "entropy reduction, untuned": "the same, as first written",
    "library": "a call of `next_inputs`, other gaps in each row",
}


def figures(rows: Rows, key: str) -> dict[str, float]:
    """Return a figure by data set, where there is one; ``key`` is "section/name"."""
    section, _, name = key.partition("/")
    return {row["data"]: row[section][name] for row in rows if name in row[section]}


def mean(rows: Rows, key: str) -> float:
    """Return the mean over the data sets that have the figure."""
    values = list(figures(rows, key).values())
    return float(np.mean(values)) if values else float("nan")


def count(rows: Rows, ours: str, theirs: str, larger: bool) -> tuple[int, int]:
    """Count the data sets where ours is better, and where it is worse; equal ones are left out."""
    a, b = figures(rows, ours), figures(rows, theirs)
    sign = 1.0 if larger else -1.0
    gains = [round(sign * (a[name] - b[name]), 6) for name in a if name in b]
    return sum(g > 0 for g in gains), sum(g < 0 for g in gains)


def compared(
    rows: Rows, prefixes: dict[str, tuple[str, bool, str]], methods: list[str]
) -> list[dict[str, Any]]:
    """Make a line for each method; the first method is ours.

    ``prefixes``: title of a column -> (what comes before the method in the key, whether larger is
    better, format). Beside each figure stand our wins and losses against the method.
    """
    lines = []
    for method in methods:
        line = {"method": LABELS.get(method, method)}
        for title, (prefix, larger, form) in prefixes.items():
            if not figures(rows, prefix + method):
                line[title] = ""
                continue
            text = f"{mean(rows, prefix + method):{form}}"
            if method != methods[0]:
                won, lost = count(rows, prefix + methods[0], prefix + method, larger)
                text += f" ({won}:{lost})"
            line[title] = text
        lines.append(line)
    return lines


def by_classes(rows: Rows) -> dict[str, Rows]:
    """Split the data sets into two classes and more."""
    return {"K = 2": [r for r in rows if r["K"] == 2], "K > 2": [r for r in rows if r["K"] > 2]}


def next_inputs(rows: Rows) -> str:
    """Write the tables of question 1."""
    text = ""
    one_row = ["information", "second order", "entropy reduction", "static order", "random order"]
    batch = [
        "information",
        "second order",
        "entropy reduction",
        "plan",
        "most uncertain rows first",
    ]
    for title, part in by_classes(rows).items():
        starts = {
            f"{start} known, {what}": (f"next/{key} {what}: ", what == "accuracy", ".4f")
            for start, key in (("half", "half"), ("nothing", "nothing"))
            for what in ("loss", "accuracy")
        }
        text += f"\n{title}, {len(part)} data sets\n\n{table(compared(part, starts, one_row))}\n"
        shared = {
            f"shared budget, {what}": (f"next/batch {what}: ", what == "accuracy", ".4f")
            for what in ("loss", "accuracy")
        }
        text += f"\n{table(compared(part, shared, batch))}\n"
    return text + f"\n{table(times(rows))}\n"


def times(rows: Rows) -> list[dict[str, Any]]:
    """Return the median times, and the median ratio to the recipe's."""
    own = figures(rows, "next/time: second order")
    lines = []
    for name in TIMED:
        found = figures(rows, f"next/time: {name}")
        ratio = np.median([found[data] / own[data] for data in found])
        micro = np.median(list(found.values()))
        lines.append(
            {
                "time for a row": TIMED[name],
                "median, µs": f"{micro:.1f}",
                "ratio": f"{ratio:.1f}",
            }
        )
    return lines


def overturned(rows: Rows) -> str:
    """Write the tables of question 2."""
    scores = [
        "overturn",
        "product formula",
        "1 − max-softmax",
        "1 − max-softmax, filled",
        "entropy",
        "ignorance",
        "conflict",
        "if true",
    ]
    columns = {
        f"{share} hidden": (f"overturn/{share}, auroc: ", True, ".3f")
        for share in ("quarter", "half", "three quarters")
    }
    notes = [
        f"{share} {mean(rows, f'overturn/{share}, calibration error'):.3f}"
        f" ({len(figures(rows, f'overturn/{share}, auroc: overturn'))} data sets)"
        for share in ("quarter", "half", "three quarters")
    ]
    routing = {"accuracy after routing": ("overturn/routing: ", True, ".4f")}
    return (
        f"\n{table(compared(rows, columns, scores))}\n\nCalibration error: {', '.join(notes)}\n\n"
        f"{table(compared(rows, routing, ['overturn', 'entropy']))}\n"
    )


_PAIR = ("conflict", "ignorance")
FILLS = ["mean", "conditional", "naive Bayes, mean", "naive Bayes, dropped"]


def fragile(rows: Rows) -> str:
    """Write the tables of question 3."""
    scores = [
        "fragility",
        "fragility, product formula",
        "fragility of dropped terms",
        "1 − max-softmax",
        "ignorance",
        "conflict",
        "frequency in other draws",
    ]
    text = ""
    for event in ("one draw", "at least 10%", "at least 25%", "at least 50%"):
        columns = {kind: (f"fragility/{kind}, {event}: ", True, ".3f") for kind in FILLS}
        some = scores if event == "one draw" else scores[:-1]
        sizes = [len(figures(rows, f"fragility/{kind}, {event}: fragility")) for kind in FILLS]
        text += f"\n{event}; data sets {sizes}\n\n{table(compared(rows, columns, some))}\n"
    errors = [f"{kind} {mean(rows, f'fragility/{kind}, calibration error'):.3f}" for kind in FILLS]
    return text + f"\nCalibration error: {', '.join(errors)}\n"


def cells(rows: Rows) -> str:
    """Write the tables of question 4."""
    scores = ["stake", "surprise", "weight", "z-score"]
    text = ""
    for title, what in (("repaired", "repaired"), ("top 1", "top 1")):
        ours = scores if what == "repaired" else ["surprise", "stake", "weight", "z-score"]
        columns = {kind: (f"cells/{kind}, {what}: ", True, ".3f") for kind in KINDS}
        lines = compared(rows, columns, [*ours, "conflict"])
        text += f"\n{title}\n\n{table(lines)}\n"
    sizes = [f"{kind} {len(figures(rows, f'cells/{kind}, repaired: stake'))}" for kind in KINDS]
    return text + f"\nData sets with ten overturned decisions: {', '.join(sizes)}\n"


def guarded(rows: Rows) -> str:
    """Write the tables of question 5."""
    methods = ["guarded", "plain", "winsorised", "trained winsorised"]
    text = ""
    for what in ("loss", "accuracy"):
        columns = {
            kind: (f"guard/{kind}, {what}: ", what == "accuracy", ".3f")
            for kind in ("none", *KINDS)
        }
        text += f"\n{what}\n\n{table(compared(rows, columns, methods))}\n"
    trained = {
        what: (f"guard/2 % wrong in training, {what}: ", what == "accuracy", ".3f")
        for what in ("loss", "accuracy")
    }
    lines = compared(rows, trained, ["guarded, clipped background", *methods])
    text += f"\n2 % wrong cells in training\n\n{table(lines)}\n"
    alarms = [f"{kind} {mean(rows, f'guard/{kind}, alarm auroc'):.3f}" for kind in KINDS]
    changed = mean(rows, "guard/none, decisions changed")
    return text + (
        f"\nAlarm, AUROC: {', '.join(alarms)}\nClean rows: {changed:.2%} of decisions change\n"
    )


def pooled_pair(rows: Rows) -> str:
    """Write the table of what ignorance and conflict are not good for."""
    uses = {
        "learning": ("accuracy of active learning", ["margin", "conflict", "ignorance", "random"]),
        "routing": ("accuracy after routing", ["entropy", "ignorance, conflict"]),
        "labels": ("average precision, labels", ["self-confidence", "conflict", "ignorance"]),
    }
    text = ""
    for use, (title, scores) in uses.items():
        columns = {title: (f"pair/{use}: ", True, ".3f")}
        text += f"\n{table(compared(rows, columns, scores))}\n"
    errors = [f"{name} {mean(rows, f'pair/errors: {name}'):+.3f}" for name in _PAIR]
    return text + f"\nPartial rank correlation with errors: {', '.join(errors)}\n"


def categories(rows: Rows) -> str:
    """Write the tables of missing categories."""
    methods = ["conditional", "vacuous", "frequencies", "most frequent", "complete"]
    columns = {
        f"{kind}, {what}": (f"categories/{kind}, {what}: ", what == "accuracy", ".3f")
        for kind in ("nominal", "all")
        for what in ("loss", "accuracy")
    }
    scores = {
        kind: (f"categories/{kind}, overturn, auroc: ", True, ".3f") for kind in ("nominal", "all")
    }
    errors = [
        f"{kind} {mean(rows, f'categories/{kind}, overturn, calibration error'):.3f}"
        for kind in ("nominal", "all")
    ]
    return (
        f"\n{len(rows)} data sets\n\n{table(compared(rows, columns, methods))}\n\n"
        f"{table(compared(rows, scores, ['overturn', '1 − max-softmax']))}\n\n"
        f"Calibration error: {', '.join(errors)}\n"
    )


def agreement(rows: Rows) -> str:
    """Write the largest differences over all data sets."""
    lines = [
        {
            "answer": name,
            "data sets": str(len(figures(rows, f"agreement/{name}"))),
            "difference": f"{max(figures(rows, f'agreement/{name}').values()):.1e}",
        }
        for name in dict.fromkeys(name for row in rows for name in row["agreement"])
    ]
    return f"\n{table(lines)}\n"
