"""Watching a model in operation: which component moved, and how many decisions moved with it.

``Monitor`` compares batches with reference rows, ``MonitorStream`` tests rows one after another.
Rooms, from the bottom: ``sample_tests`` (arrays alone), ``rows``, ``comparing``, ``reporting``,
``streaming``. May import ``models``, ``plots`` and everything below.
"""

from shafer.monitor.compare import BatchCheck
from shafer.monitor.monitor import Monitor
from shafer.monitor.report import MonitorReport
from shafer.monitor.stream import MonitorStream

__all__ = ["BatchCheck", "Monitor", "MonitorReport", "MonitorStream"]
