"""Standard errors of weights of evidence: of a linear head, of a table of draws, of other models.

Every kind implements ``WeightErrors``. May import ``weight_sources`` and what is below.
"""

from shafer.evidence.weight_errors.component_sums import ComponentSums
from shafer.evidence.weight_errors.linear_errors import LinearErrors
from shafer.evidence.weight_errors.sampled_errors import SampledErrors
from shafer.evidence.weight_errors.table_errors import TableErrors
from shafer.evidence.weight_errors.weight_errors import WeightErrors

__all__ = ["ComponentSums", "LinearErrors", "SampledErrors", "TableErrors", "WeightErrors"]
