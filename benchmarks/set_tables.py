"""Tables of the benchmark of prediction sets, for docs/background/benchmarks/sets.md."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from machine import table

OURS = ("plausibility", "dominance")


def kinds(rows: list[dict[str, Any]]) -> list[str]:
    """Return the kinds of models, in order of appearance."""
    return list(dict.fromkeys(row["model"] for row in rows))


def average(rows: list[dict[str, Any]], part: str, method: str, key: str) -> float:
    """Average a figure over the data sets where the method ran."""
    return float(np.mean([row[part][method][key] for row in rows if method in row[part]]))


def conformal_table(rows: list[dict[str, Any]]) -> str:
    """Write the conformal sets: sizes and coverages, and the size ratio to LAC's."""
    lines = []
    for method in list(dict.fromkeys(method for row in rows for method in row["conformal"])):
        ran = [row for row in rows if method in row["conformal"]]
        line: dict[str, Any] = {"sets": method, "on": len(ran)}
        line["coverage"] = f"{average(ran, 'conformal', method, 'coverage'):.4f}"
        for key, title in (
            ("size", "size"),
            ("filled", "none empty"),
            ("equal", "equal coverage"),
        ):
            if all(key in row["conformal"][method] for row in ran):
                size = average(ran, "conformal", method, key)
                ratio = size / average(ran, "conformal", "LAC", key)
                line[title], line[f"{title} / LAC"] = f"{size:.3f}", f"{ratio:.4f}"
        lines.append(line)
    return table(lines)


def rules_table(rows: list[dict[str, Any]]) -> str:
    """Write the set rules: u65 and u80, for each kind of model and both."""
    lines = []
    for method in rows[0]["rules"]:
        line: dict[str, Any] = {"sets": method}
        for utility, size in (("u65", "size"), ("u80", "size80")):
            for kind in kinds(rows):
                some = [row for row in rows if row["model"] == kind]
                line[f"{utility}, {kind}"] = f"{average(some, 'rules', method, utility):.4f}"
            line[utility] = f"{average(rows, 'rules', method, utility):.4f}"
            line[f"size for {utility}"] = f"{average(rows, 'rules', method, size):.3f}"
        lines.append(line)
    return table(lines)


def data_table(rows: list[dict[str, Any]]) -> str:
    """Write each data set with the figures that are compared."""
    lines = []
    for row in rows:
        ours, lac = row["conformal"]["plausibility, component"], row["conformal"]["LAC"]
        lines.append(
            {key: row[key] for key in ("data", "n", "J", "K", "model")}
            | {
                "accuracy": f"{row['accuracy']:.3f}",
                "1−pl size": f"{ours['size']:.3f}",
                "LAC size": f"{lac['size']:.3f}",
                "1−pl coverage": f"{ours['coverage']:.3f}",
                "LAC coverage": f"{lac['coverage']:.3f}",
            }
        )
    return table(lines)


def ratios(rows: list[dict[str, Any]], key: str) -> str:
    """Write on how many data sets each of our scores stays within 1.01 × LAC's size."""
    lines = []
    for method in (name for name in rows[0]["conformal"] if name.startswith(OURS)):
        each = [row["conformal"][method][key] / row["conformal"]["LAC"][key] for row in rows]
        lines.append(
            {
                "sets": method,
                "median ratio": f"{np.median(each):.4f}",
                "largest": f"{max(each):.3f}",
                "within 1.01": f"{np.mean(np.array(each) <= 1.01):.2f}",
            }
        )
    return table(lines)


def print_tables(rows: list[dict[str, Any]]) -> None:
    """Print the tables of docs/background/benchmarks/sets.md."""
    for kind in kinds(rows):
        some = [row for row in rows if row["model"] == kind]
        print(f"\nConformal sets at 90 %, {kind}\n\n{conformal_table(some)}")
    print(f"\nConformal sets at 90 %, both models\n\n{conformal_table(rows)}")
    many = [row for row in rows if row["K"] > 2]
    if many:
        print(f"\nThe same, three classes or more\n\n{conformal_table(many)}")
    print(f"\nSize beside LAC's at equal coverage, by data set\n\n{ratios(rows, 'equal')}")
    print(f"\nSet rules\n\n{rules_table(rows)}")
    print(f"\nData\n\n{data_table(rows)}")
    if any(row["refused"] for row in rows):
        print(f"\nRefused\n\n{refusals_table(rows)}")


def refusals_table(rows: list[dict[str, Any]]) -> str:
    """Write why MAPIE made no sets, and for how many data sets."""
    said = Counter((method, text) for row in rows for method, text in row["refused"].items())
    return table(
        [
            {"method": m, "times": n, "message": " ".join(t.split()).split(".")[0]}
            for (m, t), n in said.items()
        ]
    )
