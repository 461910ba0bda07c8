"""The mass function of every row, as decision rules read it: beliefs, plausibilities, risks.

``Opinion`` is the abstract class. ``PooledOpinion`` has closed forms for any number of classes,
``DiscountedOpinion`` and ``MixedOpinion`` are made of it, ``TableOpinion`` holds all 2^K masses.
May import ``kernels``, ``_validation``, ``_errors`` and ``_typing``; knows no class labels.
"""

from shafer._masses.discounted import DiscountedOpinion
from shafer._masses.masses import Opinion
from shafer._masses.mixed import MixedOpinion, mixture
from shafer._masses.pooled import PooledOpinion
from shafer._masses.table import TableOpinion

__all__ = [
    "DiscountedOpinion",
    "MixedOpinion",
    "Opinion",
    "PooledOpinion",
    "TableOpinion",
    "mixture",
]
