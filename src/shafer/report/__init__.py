"""What the evidence says about some instances, as text and as files.

May import ``models``, ``datasets``, ``evidence`` and below; never ``paper``.
"""

from shafer.report.heart import heart_report
from shafer.report.text import Case, case_table, notable_cases

__all__ = ["Case", "case_table", "heart_report", "notable_cases"]
