"""A model on bins as a scorecard: ``bins`` reads the bins, ``table`` writes the points.

May import ``explain`` and what is below.
"""

from __future__ import annotations

from shafer.scorecards.table import scorecard

__all__ = ["scorecard"]
