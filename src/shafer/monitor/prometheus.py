"""Reports of a monitor in the text format of Prometheus."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from shafer._text import label_value
from shafer.monitor.report import MonitorReport

_BATCH = {
    "alarm": "Whether anything moved.",
    "rows": "Rows of the batch.",
    "reference_rows": "Rows of the reference.",
    "moved_components": "Components that moved.",
    "decisions_moved": "Decisions that moved with the components that moved.",
}
_CHECK = {
    "moved": ("Whether the component or quantity moved.", "moved"),
    "shift": ("Mean of the batch less that of the reference.", "shift"),
    "ks": ("Statistic of Kolmogorov and Smirnov.", "ks"),
    "psi": ("Population stability index.", "psi"),
    "adjusted_p": ("p-value, adjusted for all checks of the batch.", "adjusted_p"),
}


def prometheus_text(reports: Sequence[MonitorReport], names: Sequence[str]) -> str:
    """Return reports as metrics, for the textfile collector of the node exporter.

    Parameters
    ----------
    reports : sequence of MonitorReport
    names : sequence of strings
        Of the batches, each once: the label ``batch``.
    """
    lines = list(_lines(reports, names))
    lines += _family("last_run_timestamp_seconds", "When the monitor ran.")
    lines.append(f"shafer_monitor_last_run_timestamp_seconds {time.time():.3f}")
    return "\n".join(lines) + "\n"


def _lines(reports: Sequence[MonitorReport], names: Sequence[str]) -> Iterator[str]:
    pairs = list(zip(names, reports, strict=True))
    for metric, told in _BATCH.items():
        yield from _family(metric, told)
        for name, report in pairs:
            yield _sample(metric, {"batch": name}, _of_batch(report)[metric])
    for metric, (told, column) in _CHECK.items():
        yield from _family(metric, told)
        for name, report in pairs:
            columns = report.columns()
            rows = zip(columns["kind"], columns["name"], columns[column], strict=True)
            for kind, of, value in rows:
                yield _sample(metric, {"batch": name, "kind": kind, "name": of}, value)


def _of_batch(report: MonitorReport) -> dict[str, Any]:
    return {
        "alarm": report.alarm,
        "rows": report.n_rows,
        "reference_rows": report.n_reference,
        "moved_components": len(report.moved),
        "decisions_moved": report.decisions_moved,
    }


def _family(metric: str, told: str) -> list[str]:
    return [f"# HELP shafer_monitor_{metric} {told}", f"# TYPE shafer_monitor_{metric} gauge"]


def _sample(metric: str, labels: dict[str, str], value: Any) -> str:
    shown = ",".join(f'{name}="{label_value(text)}"' for name, text in labels.items())
    return f"shafer_monitor_{metric}{{{shown}}} {_number(value)}"


def _number(value: Any) -> str:
    number = math.nan if value is None else float(value)
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    return "NaN" if math.isnan(number) else f"{number:g}" if number.is_integer() else repr(number)
