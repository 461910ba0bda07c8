"""What ``RegionDisplay`` draws over a plane of two features: values, level curves, regions, names.

May import ``plots.drawing``, ``evidence`` and below.
"""
