"""A monitor's report for the terminal: the answer, and a table."""

from __future__ import annotations

from shafer._text import shortened
from shafer.monitor import MonitorReport
from shafer.monitor.reporting.report_rows import text_rows
from shafer.monitor.reporting.report_text import report_lines

_COLUMNS = {
    "name": "",
    "shift": "shift",
    "classes": "classes",
    "spread": "spread",
    "ks": "KS",
    "psi": "PSI",
    "adjusted_p": "adjusted p",
    "decisions": "decisions",
}
_MOST = 40  # rows that did not move


def monitor_text(report: MonitorReport) -> str:
    """Return the summary, and a table with what moved first."""
    rows = text_rows(report)
    quiet = [row for row in rows if not row["moved"]]
    left_out = {id(row) for row in quiet[_MOST:]}
    shown = [row for row in rows if id(row) not in left_out]
    cells = [[shortened(str(row[key]), 40) for key in _COLUMNS] for row in shown]
    marks = ["!" if row["moved"] else " " for row in shown]
    lines = [" ", *marks]
    table = [list(_COLUMNS.values()), *cells]
    widths = [max(len(line[k]) for line in table) for k in range(len(_COLUMNS))]
    text = [
        f"{mark} " + "  ".join(_padded(line, widths)).rstrip()
        for mark, line in zip(lines, table, strict=True)
    ]
    if left_out:
        text.append(f"  and {len(left_out)} more that did not move")
    return "\n".join([*report_lines(report), "", *text])


def _padded(line: list[str], widths: list[int]) -> list[str]:
    first, *others = [
        cell.ljust(width) if k in (0, 2) else cell.rjust(width)
        for k, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
    return [first, *others]
