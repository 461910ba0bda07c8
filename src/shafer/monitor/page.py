"""Reports of a monitor as one HTML file that works offline, without scripts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import shafer
from shafer._files.atomic import replacing
from shafer._files.templates import html_templates
from shafer.monitor.report import (
    BatchArrays,
    arrays_of,
    number,
    report_lines,
    signed_number,
    text_rows,
)

if TYPE_CHECKING:
    from shafer.monitor.report import MonitorReport

_MOST = 200  # components in the table over time


def render_page(
    reports: Sequence[MonitorReport],
    names: Sequence[str] | None,
    title: str,
    about: Sequence[str] = (),
) -> str:
    """Return the page as HTML; all names are escaped.

    Parameters
    ----------
    reports : sequence of MonitorReport
        In the order of time.
    names : sequence of strings, optional
        Names of the batches.
    title : str
    about : sequence of strings
        Sentences on the model and the data.
    """
    held = arrays_of(list(reports), names)
    n_alarms = int(held.alarms.sum())
    answer = f"No alarm in {len(reports)} batch(es)."
    if n_alarms:
        where = [name for name, alarm in zip(held.batch_names, held.alarms, strict=True) if alarm]
        answer = f"Alarm in {n_alarms} of {len(reports)} batch(es): {', '.join(where)}."
    batches = [
        {"name": name, "alarm": report.alarm, "lines": report_lines(report)}
        | {"rows": text_rows(report)}
        for name, report in zip(held.batch_names, reports, strict=True)
    ]
    return (
        html_templates("shafer.monitor")
        .get_template("monitor.html.jinja")
        .render(
            title=title,
            answer=answer,
            alarms=n_alarms,
            about=list(about),
            unit=held.unit,
            batches=batches,
            heat=_heat(held),
            quantities=_quantities(held, reports),
            version=shafer.__version__,
        )
    )


def _heat(held: BatchArrays) -> list[dict[str, Any]]:
    largest = float(np.abs(held.shifts).max()) or 1.0
    rows = []
    for g in range(min(_MOST, len(held.shifts))):
        cells = [
            {
                "text": signed_number(float(shift)),
                "moved": bool(moved),
                "side": "for" if shift > 0 else "against",
                "depth": f"{0.75 * abs(float(shift)) / largest:.3f}",
            }
            for shift, moved in zip(held.shifts[g], held.moved[g], strict=True)
        ]
        rows.append({"name": held.component_names[g], "cells": cells})
    return rows


def _quantities(held: BatchArrays, reports: Sequence[MonitorReport]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "cells": [
                {"text": number(float(value)), "moved": name in report.moved_quantities}
                for value, report in zip(values, reports, strict=True)
            ],
        }
        for name, values in held.quantities.items()
    ]


def write_page(html: str, path: str | os.PathLike[str]) -> None:
    """Write a page. If something fails, no file is left behind."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(html.encode())
