"""The mass function of every row, as decision rules read it: beliefs, plausibilities, risks.

May import ``kernels``, ``_validation``, ``_errors`` and ``_typing``; knows no class labels.
"""

from shafer.opinion.pooled_opinion import Opinion

__all__ = ["Opinion"]
