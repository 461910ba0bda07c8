"""Reports on a model's evidence: an HTML page, a table for the terminal, one instance as text.

``study`` holds what a report is about, ``default_study`` the bundled one, ``table`` its rows as
named columns. ``sentences`` has the sentences and figures of both forms: ``terminal`` writes them
as text, ``page`` as HTML, with the data of ``payload`` and the sliders of ``what_if/``. ``records``
has the rows of the page, and ``packing`` writes their columns.
``templates/`` has one file for each section of the page. May import ``models``, ``datasets``,
``evidence`` and below; never ``paper``. ``page`` needs jinja2, and is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shafer.report.default_study import heart_study
from shafer.report.study import Study, make_study
from shafer.report.terminal import Case, case_table, notable_cases, summary

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
