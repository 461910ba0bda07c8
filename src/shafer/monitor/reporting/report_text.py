"""A monitor's report in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shafer._text import shortened

if TYPE_CHECKING:
    from shafer.monitor.comparing.batch_checks import BatchCheck
    from shafer.monitor.reporting.monitor_report import MonitorReport

_MOST, _MOST_QUANTITIES = 12, 6  # lines


def report_lines(report: MonitorReport) -> list[str]:
    """Return the answer, then what moved, then the quantities of the batch."""
    by_name = {(check.kind, check.name): check for check in report.checks}
    lines = [headline(report)]
    for name in report.moved[:_MOST]:
        lines.append("  " + component_line(by_name["component", name], report))
    if len(report.moved) > _MOST:
        lines.append(f"  and {len(report.moved) - _MOST} more components")
    quantities = report.moved_quantities
    lines += [
        f"  {quantity_line(by_name['batch', name])}" for name in quantities[:_MOST_QUANTITIES]
    ]
    if len(quantities) > _MOST_QUANTITIES:
        lines.append(f"  and {len(quantities) - _MOST_QUANTITIES} more quantities of the batch")
    if report.moved:
        lines.append(decision_sentence(report))
    return lines


def headline(report: MonitorReport) -> str:
    """Return the answer in one line."""
    about = (
        f"{report.n_rows:,} rows compared with {report.n_reference:,} reference rows, "
        f"chance of a false alarm at most {report.alpha:g}"
    )
    if not report.alarm:
        return f"No alarm ({about})."
    total = sum(check.kind == "component" for check in report.checks)
    n = len(report.moved)
    if n == 0:
        return f"ALARM: no component moved by itself, but the batch as a whole did ({about})."
    return f"ALARM: {n} of {total} components moved ({about})."


def component_line(check: BatchCheck, report: MonitorReport) -> str:
    """Return how a component moved, and the decisions that moved with it."""
    moved = report.component_decisions[check.name]
    spread = "" if check.spread != check.spread else f", spread ×{check.spread:.2f}"
    return (
        f"{shortened(check.name)}: {_signed(check.shift)} for {check.class_} over {check.over}"
        f"{spread}, KS {check.ks:.2f}, PSI {_index(check.psi)}; {_decisions(moved, report.n_rows)}"
    )


def quantity_line(check: BatchCheck) -> str:
    """Return how a quantity of the batch moved."""
    return f"{shortened(check.name)}: {check.reference:.3g} before, {check.batch:.3g} in the batch"


def decision_sentence(report: MonitorReport) -> str:
    """Return how many decisions moved with all components that moved."""
    what = "the component" if len(report.moved) == 1 else "these components together"
    if report.decisions_moved == 0:
        return (
            f"No decision moved: with the reference distribution of {what}, all "
            f"{report.n_rows:,} rows would have the same most probable class."
        )
    return (
        f"{report.decisions_moved:,} of {report.n_rows:,} decisions moved: with the reference "
        f"distribution of {what}, these rows would have another most probable class."
    )


def _index(psi: float) -> str:
    """Write the stability index; it is infinite if a bin is empty."""
    return "inf (a bin of the reference is empty now)" if psi == float("inf") else f"{psi:.2f}"


def _decisions(moved: int, n: int) -> str:
    return "no decision moved" if moved == 0 else f"{moved:,} of {n:,} decisions moved"


def _signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")
