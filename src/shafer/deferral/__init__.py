"""Giving the hard rows to a person, with a promise about the errors among the others.

``promise`` is what is promised, ``search`` finds the threshold that keeps it, ``control`` holds the
thresholds of all groups with their promise. ``deferring`` is what the methods ``control_error`` and
``predict_or_defer`` do, ``prediction`` their answer, ``reasons`` why a row was deferred. ``curve``
shows what each share of decided rows would cost, ``columns`` writes answers into tables. May
import ``explain`` below the explainer, and no other capability.
"""

from __future__ import annotations

from shafer.deferral.control import DeferralControl
from shafer.deferral.prediction import DeferringPrediction

__all__ = ["DeferralControl", "DeferringPrediction"]
