"""Finite belief functions in full: all 2**K subsets of a frame of up to 16 labels.

This is the theory in readable form. The tests compare the closed forms of the rest of shafer with
it. Public: `Frame`, the frozen `MassFunction`, the combination rules, measures and
orders below. The mathematics on plain arrays, indexed by bitmask with label k at bit k, is in the
modules `transforms`, `weights`, `products`, `probabilities`, `structure` and `discounting`.

May import NumPy, `shafer.errors`, `shafer._typing` and `shafer._checks`; never
`shafer._kernels`, whose results the tests compare with it.
"""

from shafer.belief.combination import (
    bold,
    cautious,
    conjunctive,
    dempster,
    disjunctive,
    dubois_prade,
    yager,
)
from shafer.belief.frame import Frame
from shafer.belief.mass import MassFunction
from shafer.belief.measures import (
    degree_of_conflict,
    entropy,
    information,
    nonspecificity,
    weight_of_conflict,
)
from shafer.belief.orderings import is_pl_more_committed, is_q_more_committed, is_w_more_committed

__all__ = [
    "Frame",
    "MassFunction",
    "bold",
    "cautious",
    "conjunctive",
    "degree_of_conflict",
    "dempster",
    "disjunctive",
    "dubois_prade",
    "entropy",
    "information",
    "is_pl_more_committed",
    "is_q_more_committed",
    "is_w_more_committed",
    "nonspecificity",
    "weight_of_conflict",
    "yager",
]
