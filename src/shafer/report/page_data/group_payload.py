"""The data of the groups in which many components are shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shafer.report.grouped_study import GroupedStudy
from shafer.report.overview import overview
from shafer.report.page_data.component_payload import components_payload
from shafer.report.page_data.error_payload import row_errors
from shafer.report.page_data.row_payload import row_columns, stored_weights

_DIFFERENT = ("decided", "ignorance", "disagreement", "weightOfDisagreement")


def groups_payload(grouped: GroupedStudy | None) -> dict[str, Any]:
    """Return what the page needs to show groups in the place of components, or None."""
    if grouped is None:
        return {"groups": None}
    return {
        "groups": {
            **components_payload(grouped.study),
            "members": grouped.members,
            "overview": asdict(overview(grouped.study)),
        }
    }


def group_entries(
    grouped: GroupedStudy | None, rows: list[int], *, store: bool
) -> dict[int, dict[str, Any]]:
    """Return what differs in the entry of each row; nothing if components are shown alone.

    Parameters
    ----------
    grouped : GroupedStudy, optional
    rows : list of int
    store : bool
        Whether the page has no sliders, so that weights are stored.
    """
    if grouped is None:
        return {row: {} for row in rows}
    study = grouped.study
    columns = row_columns(study, rows)
    errors = row_errors(study.undiscounted, rows)
    every = set(range(len(grouped.members)))
    entries: dict[int, dict[str, Any]] = {}
    for at, row in enumerate(rows):
        entry: dict[str, Any] = {name: columns[name][at] for name in _DIFFERENT}
        if store:
            entry["stored"] = stored_weights(study, row, every)
        if errors is not None:
            entry["errors"] = errors.of(row, None)
        entries[row] = {"grouped": entry}
    return entries
