"""What may stand for evidence wherever it is only read."""

from __future__ import annotations

from typing import TypeAlias

from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence

AnyEvidence: TypeAlias = Evidence | DiscountedEvidence
