"""What ``SummaryDisplay`` draws: the weights of many rows, as rows of points.

May import ``plots.drawing``, ``evidence`` and below.
"""
