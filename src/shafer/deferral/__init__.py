"""Giving the hard rows to a person, with a promise about the errors among the others.

``search`` finds the largest share of answered rows that keeps a promise, ``curve`` what each share
would cost, ``control`` is the promise as kept and announced, ``reasons`` says why a row was
deferred, ``deferring`` is the face that classifiers and explainers share, ``columns`` writes it
into tables. May import ``explain`` below the explainer, and no other capability.
"""

from __future__ import annotations

from shafer.deferral.control import DeferralControl
from shafer.deferral.prediction import DeferringPrediction

__all__ = ["DeferralControl", "DeferringPrediction"]
