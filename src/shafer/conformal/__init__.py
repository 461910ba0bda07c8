"""Prediction sets that hold the true class as often as promised.

``scores`` are the three ways to rank classes, ``split`` and ``cross`` the two ways to calibrate a
threshold; both work on arrays. ``columns`` writes the sets into tables. May import what is below
``explain``.
"""
