"""Calibration on held-out rows: conformal prediction sets and temperature scaling.

May import ``decision.rules``, ``kernels`` and what is below.
"""
