"""Bundled, offline data sets. May import what is below ``evidence``; nothing here downloads."""

from shafer.datasets.gaussian import gaussian_posterior, make_gaussian
from shafer.datasets.heart import load_heart

__all__ = ["gaussian_posterior", "load_heart", "make_gaussian"]
