"""Combining the evidence of several models, sensors or experts.

``combine`` does it. Dempster's rule and the cautious rule stay inside the family of mass
functions that :class:`shafer.Evidence` holds, at O(K); discounting and Yager's rule give mixtures
of such evidence (``MixedEvidence``), exact for any number of classes; everything else goes through
all 2^K sets (``FiniteEvidence``) and is for small frames. ``conflict_between`` and ``influence``
say who disagrees with whom and who matters. May import ``evidence`` and below; knows no framework.
"""

from shafer.fusion.combine import combine, prior_evidence, without_prior
from shafer.fusion.finite_evidence import FiniteEvidence
from shafer.fusion.influence import SourceConflict, SourceInfluence, conflict_between, influence
from shafer.fusion.mixed_evidence import MixedEvidence

__all__ = [
    "FiniteEvidence",
    "MixedEvidence",
    "SourceConflict",
    "SourceInfluence",
    "combine",
    "conflict_between",
    "influence",
    "prior_evidence",
    "without_prior",
]
