"""Bundled, offline data sets. May import what is below ``evidence``; nothing here downloads."""

from shafer.datasets.heart import load_heart

__all__ = ["load_heart"]
