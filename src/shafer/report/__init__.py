"""What the evidence says about some instances: an HTML page, a table and one instance as text.

May import ``models``, ``datasets``, ``evidence`` and below; never ``paper``. ``page.py`` needs
jinja2 and plotly, and is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shafer.report.case_table import Case, case_table, notable_cases, summary
from shafer.report.heart_example import heart_study
from shafer.report.study import Study, make_study

if TYPE_CHECKING:
    from shafer.report.page import render, write_report

__all__ = [
    "Case",
    "Study",
    "case_table",
    "heart_study",
    "make_study",
    "notable_cases",
    "render",
    "summary",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in ("render", "write_report"):
        from shafer.report import page

        return getattr(page, name)
    raise AttributeError(f"module 'shafer.report' has no attribute {name!r}")
