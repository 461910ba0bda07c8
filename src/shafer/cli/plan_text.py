"""A plan of measurements as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shafer._text import cells
from shafer.cli.measurement_plan import MeasurementPlan
from shafer.report.terminal_text import label, padded

_MOST_LINES = 30
_FEW_LINES = 10  # of the rows, below the measurements within a budget
_LONGEST = 32
_UNIT = (
    "Information is how far the probabilities would change on average, in nats, if the input were "
    "known."
)


def plan_text(plan: MeasurementPlan, budget: float | None, out: str | None) -> str:
    """Return the plan: the measurements within the budget, then the next inputs of each row.

    Parameters
    ----------
    plan : MeasurementPlan
    budget : float, optional
    out : str, optional
        The file that has the whole table.
    """
    if not len(plan.each):
        return f"Nothing to measure: no input is missing in these {plan.n_rows:,} rows."
    parts = []
    if plan.bought is not None and budget is not None:
        parts.append(_bought(plan.bought, budget, out))
    alone = plan.bought is None
    most = _MOST_LINES if alone else _FEW_LINES
    parts.append(_each(plan.each, plan.n_rows, most, out if alone else None))
    return "\n\n".join([*parts, _UNIT])


def _bought(frame: Any, budget: float, out: str | None) -> str:
    if not len(frame):
        return (
            f"Within a budget of {budget:g}, nothing can be measured that would tell anything "
            "about the class."
        )
    rows = frame["row"].nunique()
    total = float(frame["cost"].sum())
    title = (
        f"Within a budget of {budget:g}: {_count(len(frame), 'measurement')} in "
        f"{_count(rows, 'row')}, cost {total:g}"
    )
    header = ["order", "row", "input", "information", "cost", "between"]
    body = [
        [
            str(line["rank"]),
            str(line["row"]),
            label(str(line["input"]), _LONGEST),
            f"{line['information']:.4f}",
            f"{line['cost']:g}",
            f"{label(str(line['class']), _LONGEST)} and {label(str(line['against']), _LONGEST)}",
        ]
        for line in frame.head(_MOST_LINES).to_dict("records")
    ]
    return "\n".join(
        [title, *_table(header, body), *_more(len(frame), _MOST_LINES, "measurements", out)]
    )


def _each(frame: Any, n_rows: int, most: int, out: str | None) -> str:
    lacking = frame["row"].nunique()
    title = f"Next inputs of each row: {lacking:,} of {n_rows:,} rows lack an input"
    body = []
    for row, lines in frame.groupby("row", sort=True):
        named = [
            f"{label(str(name), _LONGEST)} {gain:.4f}"
            for name, gain in zip(lines["input"], lines["information"], strict=True)
        ]
        body.append([str(row), ", ".join(named)])
        if len(body) == most:
            break
    header = ["row", "inputs, the best first, with their information"]
    return "\n".join([title, *_table(header, body), *_more(lacking, most, "rows", out)])


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _more(n: int, most: int, what: str, out: str | None) -> list[str]:
    if n <= most:
        return []
    where = "" if out is None else f" in {out}"
    return [f"  and {n - most:,} more {what}{where}"]


def _table(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(cells, column)) for column in zip(header, *body, strict=True)]
    return ["  " + "  ".join(map(padded, line, widths)).rstrip() for line in (header, *body)]
