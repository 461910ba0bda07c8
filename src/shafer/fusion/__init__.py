"""Pooling what several models, sensors or experts say: evidence in, evidence out.

``combine`` is the door. Dempster's rule and the cautious rule stay inside the family of mass
functions that :class:`shafer.Evidence` holds, at O(K); discounting and Yager's rule give mixtures
of such evidence (``MixedEvidence``), exact for any number of classes; everything else goes through
all 2^K sets (``FiniteEvidence``) and is for small frames. ``conflict_between`` and ``influence``
say who disagrees with whom and who matters. May import ``evidence`` and below; knows no framework.
"""

from shafer.fusion.combination import combine
from shafer.fusion.conflict import SourceConflict, conflict_between
from shafer.fusion.finite import FiniteEvidence
from shafer.fusion.influence import SourceInfluence, influence
from shafer.fusion.mixture import MixedEvidence
from shafer.fusion.prior import prior_evidence, without_prior
from shafer.fusion.reading import FusedEvidence

__all__ = [
    "FiniteEvidence",
    "FusedEvidence",
    "MixedEvidence",
    "SourceConflict",
    "SourceInfluence",
    "combine",
    "conflict_between",
    "influence",
    "prior_evidence",
    "without_prior",
]
