"""Tables of the figures about images, for docs/background/benchmarks/image_maps.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MEASURES = (
    "deletion, mean image",
    "insertion, mean image",
    "deletion, blur",
    "insertion, blur",
    "pointing",
    "positive share",
)
Rows = list[dict[str, Any]]


def confirmed_tables(rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Yield a table for each split and network: methods by measures, with intervals."""
    scored = [row for row in rows if "measure" in row]
    for split in dict.fromkeys(row["split"] for row in scored):
        for network in dict.fromkeys(row["network"] for row in scored):
            part = [row for row in scored if (row["split"], row["network"]) == (split, network)]
            yield f"{network}, {split}", _methods_by_measures(part)


def _methods_by_measures(rows: Rows) -> Rows:
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        half = (row["interval"][1] - row["interval"][0]) / 2
        line = lines.setdefault(row["method"], {"method": row["method"]})
        line[row["measure"]] = f"{row['mean']:.3f} ± {half:.3f}"
    known = [m for m in MEASURES if any(m in line for line in lines.values())]
    return [
        {"method": line["method"], **{m: line.get(m, "") for m in known}} for line in lines.values()
    ]


def time_table(rows: Rows) -> Rows:
    """Return methods by networks, in milliseconds per image."""
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        if "ms" in row:
            line = lines.setdefault(row["method"], {"method": row["method"]})
            line[row["network"]] = row["ms"]
    return list(lines.values())
