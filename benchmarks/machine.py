"""Describe the machine of a benchmark, and save its results."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def describe() -> dict[str, Any]:
    """Name the processor, its cores, the versions and the commit."""
    import numpy
    import sklearn

    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
    }


def record(name: str, machine: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Save the last run of a benchmark under its name."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    print(f"Saved in {path}.")


def table(rows: list[dict[str, Any]]) -> str:
    """Write rows as a Markdown table, with the columns of all rows."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [columns, ["-" * width for width in widths], *cells]
    return "\n".join(
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )
