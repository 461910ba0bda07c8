"""The mass function of every row, as decision rules read it: beliefs, plausibilities, risks.

``Masses`` is the abstract class. ``PooledMasses`` has closed forms for any number of classes,
``DiscountedMasses`` and ``MixedMasses`` are made of it, ``TableMasses`` holds all 2^K masses.
May import ``kernels``, ``_validation``, ``_errors`` and ``_typing``; knows no class labels.
"""

from shafer._masses.discounted import DiscountedMasses
from shafer._masses.masses import Masses
from shafer._masses.mixed import MixedMasses, mixture
from shafer._masses.pooled import PooledMasses
from shafer._masses.table import TableMasses

__all__ = [
    "DiscountedMasses",
    "Masses",
    "MixedMasses",
    "PooledMasses",
    "TableMasses",
    "mixture",
]
