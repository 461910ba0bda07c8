"""What ``WaterfallDisplay`` draws: steps and bars, gauges above them, and words.

May import ``plots.drawing``, ``evidence`` and below.
"""
