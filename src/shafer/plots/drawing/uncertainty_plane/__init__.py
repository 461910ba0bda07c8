"""What ``UncertaintyDisplay`` draws: points or hexagons, lines of equal probability, axes.

May import ``plots.drawing``, ``evidence`` and below.
"""
