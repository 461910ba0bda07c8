"""The mass function of every row, as decision rules read it: beliefs, plausibilities, risks.

``Opinion`` is the abstract class. ``PooledOpinion`` has closed forms for any number of classes,
``DiscountedOpinion`` and ``MixedOpinion`` are made of it, ``TableOpinion`` holds all 2^K masses.
May import ``kernels``, ``_validation``, ``_errors`` and ``_typing``; knows no class labels.
"""

from shafer.opinion.discounted_opinion import DiscountedOpinion
from shafer.opinion.mixed_opinion import MixedOpinion, mixture
from shafer.opinion.opinion import Opinion
from shafer.opinion.pooled_opinion import PooledOpinion
from shafer.opinion.table_opinion import TableOpinion

__all__ = [
    "DiscountedOpinion",
    "MixedOpinion",
    "Opinion",
    "PooledOpinion",
    "TableOpinion",
    "mixture",
]
