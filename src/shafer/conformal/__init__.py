"""Prediction sets that hold the true class as often as promised.

``scores`` are the three ways to rank classes, ``split`` and ``cross`` the two ways to calibrate a
threshold, ``columns`` writes sets into tables. All else is arrays only. May import ``decision`` and what is below.
"""
