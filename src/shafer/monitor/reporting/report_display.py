"""Reports of a monitor over time, as arrays for ``MonitorDisplay``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from shafer._text import listed
from shafer._typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from shafer.monitor.reporting.monitor_report import MonitorReport
    from shafer.plots import MonitorDisplay


@final
@dataclass(frozen=True, eq=False)
class BatchArrays:
    """Batches over time as arrays, as ``MonitorDisplay`` stores them.

    Attributes
    ----------
    shifts : array of shape (G, T)
    moved : boolean array of shape (G, T)
    alarms : boolean array of shape (T,)
    component_names, batch_names : lists of strings
        Components that moved most often come first, then those with the largest shifts.
    quantities : dict from name to array of shape (T,)
    unit : str
    """

    shifts: FloatArray
    moved: BoolArray
    alarms: BoolArray
    component_names: list[str]
    batch_names: list[str]
    quantities: dict[str, FloatArray]
    unit: str


def arrays_of(reports: list[MonitorReport], names: Any) -> BatchArrays:
    """Return batches as arrays, in the order of time."""
    if not reports:
        raise ValueError("reports must hold at least one MonitorReport; got none.")
    components = [check.name for check in reports[0].checks if check.kind == "component"]
    for report in reports[1:]:
        other = [check.name for check in report.checks if check.kind == "component"]
        if other != components:
            raise ValueError(
                f"reports must come from one monitor; got components [{listed(components)}] and "
                f"[{listed(other)}]."
            )
    numbers = range(1, len(reports) + 1)
    batches = [str(name) for name in (numbers if names is None else names)]
    if len(batches) != len(reports):
        raise ValueError(f"names must hold {len(reports)} names; got {len(batches)}.")
    n = len(components)
    classes = reports[0].classes.tolist()
    pair = f"log-odds: + for {classes[1]}, − for {classes[0]}"
    shifts = np.array([[check.shift for check in report.checks[:n]] for report in reports]).T
    moved = np.array([report.adjusted_p[:n] <= report.alpha for report in reports]).T
    order = component_order(shifts, moved)
    return BatchArrays(
        shifts[order],
        moved[order],
        np.array([report.alarm for report in reports]),
        [components[g] for g in order],
        batches,
        _quantities(reports, n),
        pair if len(classes) == 2 else "log-odds of the most moved pair",
    )


def component_order(shifts: FloatArray, moved: BoolArray) -> list[int]:
    """Return the components, those that moved most often first, then by size."""
    size = np.abs(shifts).max(axis=1)
    return [int(g) for g in np.lexsort((-size, -moved.sum(axis=1)))]


def display_of(reports: list[MonitorReport], names: Any) -> MonitorDisplay:
    """Return the Display of batches."""
    from shafer.plots import MonitorDisplay  # matplotlib is an extra

    held = arrays_of(reports, names)
    return MonitorDisplay(
        held.shifts,
        held.component_names,
        held.batch_names,
        moved=held.moved,
        alarms=held.alarms,
        quantities=held.quantities,
        unit=f"shift, {held.unit}",
    )


def _quantities(reports: list[MonitorReport], n: int) -> dict[str, Any]:
    """Return share of decisions moved, then the quantities of the batches, NaN where not known."""
    found: dict[str, Any] = {
        "decisions moved": np.array([r.decisions_moved / r.n_rows for r in reports])
    }
    names = dict.fromkeys(check.name for report in reports for check in report.checks[n:])
    for name in names:
        values = [{c.name: c.batch for c in r.checks[n:]}.get(name, np.nan) for r in reports]
        found[name] = np.array(values)
    constant = ("unseen categories", "gaps")
    return {k: v for k, v in found.items() if k not in constant or np.nanmax(v) > 0.0}
