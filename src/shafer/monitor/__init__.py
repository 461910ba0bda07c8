"""Watching a model in operation: which component moved, and how many decisions moved with it.

``monitor`` compares batches with the rows of ``reference``, by the tests of ``shift_tests``
(arrays alone) and ``compare``; ``stream`` tests rows one after another. ``report`` is what was
found, ``page`` writes it as HTML, ``file`` stores monitors, ``options`` are checked once. May
import ``models``, ``plots`` and everything below.
"""

from shafer.monitor.compare import BatchCheck
from shafer.monitor.monitor import Monitor
from shafer.monitor.report import MonitorReport
from shafer.monitor.stream import MonitorStream

__all__ = ["BatchCheck", "Monitor", "MonitorReport", "MonitorStream"]
