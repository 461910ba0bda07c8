"""The mass function of every row: readings of classes and of sets of classes, and risks.

``Masses`` is the abstract class. ``PooledMasses`` has closed forms for any number of classes,
``DiscountedMasses`` and ``MixedMasses`` are made of it, ``TableMasses`` holds all 2^K masses.
Classes are known by their positions; evidence puts labels on top. May import ``_kernels``,
``_checks``, ``errors`` and ``_typing``.
"""

from shafer._masses.discounted import DiscountedMasses
from shafer._masses.masses import Masses
from shafer._masses.mixed import MixedMasses
from shafer._masses.pooled import PooledMasses
from shafer._masses.table import TableMasses

__all__ = [
    "DiscountedMasses",
    "Masses",
    "MixedMasses",
    "PooledMasses",
    "TableMasses",
]
