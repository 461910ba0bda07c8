"""A stream over time, as arrays for ``MonitorDisplay``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shafer._typing import BoolArray
from shafer.monitor.reporting.report_display import component_order

if TYPE_CHECKING:
    from shafer.monitor.streaming.monitor_stream import MonitorStream
    from shafer.plots import MonitorDisplay


def stream_display(stream: MonitorStream) -> MonitorDisplay:
    """Return the Display of the martingales after each update."""
    from shafer.plots import MonitorDisplay

    seen, logs = stream.history
    if len(seen) == 0:
        raise ValueError("The stream has no rows yet. Call update(X) first.")
    state = stream.state
    crossed = state.crossed[:, None]
    moved: BoolArray = (crossed >= 0) & (crossed < seen)
    evidence = np.maximum(logs.T - np.log(len(state.names)), 0.0)
    order = component_order(evidence, moved)
    return MonitorDisplay(
        evidence[order],
        [state.names[c] for c in order],
        [f"{n:,}" for n in seen.tolist()],
        moved=moved[order],
        alarms=np.asarray(moved.any(axis=0)),
        unit=f"evidence of change; alarm at {-np.log(state.alpha):.1f}",
        batch_name="rows seen",
        signed=False,
    )
