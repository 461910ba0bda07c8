"""Watching a model in operation: which component moved, and how many decisions moved with it.

``Monitor`` compares batches with reference rows, ``MonitorStream`` tests rows one after another.
``report_display.py`` and ``monitor_page.py`` show reports over time. May import ``models``,
``plots`` and everything below.
"""

from shafer.monitor.batch_checks import BatchCheck
from shafer.monitor.monitor import Monitor
from shafer.monitor.monitor_report import MonitorReport
from shafer.monitor.monitor_stream import MonitorStream

__all__ = ["BatchCheck", "Monitor", "MonitorReport", "MonitorStream"]
