"""The rows of a report as texts, for pages and terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from shafer.monitor.reporting.monitor_report import MonitorReport


def number(value: float | None, decimals: int = 3) -> str:
    """Write a number with some decimals; a dash if there is none."""
    if value is None or value != value:
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}".replace("-", "−")
    return text if any(digit in "123456789" for digit in text) else text.lstrip("−")


def signed_number(value: float | None) -> str:
    """Write a number with its sign and three decimals."""
    if value is None or value != value or np.isinf(value):
        return number(value)
    text = f"{value:+.3f}".replace("-", "−")
    return text if text[1:] != "0.000" else "0.000"


def chance(value: float | None) -> str:
    """Write a p-value; tiny ones as a bound."""
    if value is not None and value == value and value < 1e-4:
        return "<0.0001"
    return number(value, 4 if value is not None and value < 0.01 else 2)


def text_rows(report: MonitorReport) -> list[dict[str, Any]]:
    """Return the checks as texts: what moved first, components before quantities."""
    columns = report.columns()
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    order = sorted(
        range(len(rows)), key=lambda i: (rows[i]["kind"] == "batch", not rows[i]["moved"], i)
    )
    return [_texts(rows[i]) for i in order]


def _texts(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row["name"],
        "reference": number(row["reference"]),
        "batch": number(row["batch"]),
        "shift": signed_number(row["shift"]),
        "classes": "" if row["class"] is None else f"{row['class']} over {row['over']}",
        "spread": "–" if row["spread"] != row["spread"] else f"×{row['spread']:.2f}",
        "ks": number(row["ks"], 2),
        "psi": number(row["psi"], 2),
        "adjusted_p": chance(row["adjusted_p"]),
        "moved": row["moved"],
        "decisions": "" if row["decisions"] is None else f"{int(row['decisions']):,}",
    }
