"""Reports on a model's evidence: an HTML page, a table for the terminal, one instance as text.

``study.py`` holds what a report is about, ``overview.py`` its figures, ``case_table.py`` the table,
``terminal_view.py`` one instance, ``instance_sentence.py`` the sentence about it, ``page.py`` the
page, ``what_if.py`` its sliders, ``grouped_study.py`` its groups of many components, ``asking/``
what to do about a row, ``page_data/`` its data. ``templates/`` has one file for each
section of the page.
May import ``models``, ``datasets``, ``evidence`` and below; never ``paper``. ``page.py`` needs
jinja2, and is loaded on first use.
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
