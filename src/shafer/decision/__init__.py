"""Decision rules on arrays of belief and plausibility. Knows no models, no Evidence.

May import ``kernels``, ``belief``, ``_validation``, ``_errors`` and ``_typing``.
"""

from shafer.decision.rules import PRECISE_RULES, RULES, choose_largest, interval_dominance

__all__ = ["PRECISE_RULES", "RULES", "choose_largest", "interval_dominance"]
