"""Costs of inputs as the user gives them: ``name=number``, or a table of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from shafer._text import listed
from shafer.cli.table_files import read_table

_COLUMNS = ("input", "cost")


def read_costs(given: Iterable[str]) -> dict[str, float] | None:
    """Return input -> cost; None if no costs were given.

    Parameters
    ----------
    given : iterable of strings
        Each is ``name=number``, or the path of a CSV or Parquet file with the columns ``input``
        and ``cost``.
    """
    costs: dict[str, float] = {}
    for text in given:
        own = _one_cost(text) if "=" in text and not Path(text).exists() else _of_file(Path(text))
        twice = sorted(costs.keys() & own.keys())
        if twice:
            raise ValueError(f"--costs gives {listed(twice)} twice. Give each input one cost.")
        costs |= own
    return costs or None


def _one_cost(text: str) -> dict[str, float]:
    name, _, number = text.rpartition("=")
    return {name.strip(): _cost(number, name.strip(), "--costs")}


def _of_file(path: Path) -> dict[str, float]:
    if not path.exists():
        raise ValueError(
            f"--costs must be a cost such as age=2.5, or a table of costs; got {path}, which is "
            "not a file."
        )
    frame = read_table(path)
    lacking = [name for name in _COLUMNS if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"{path} lacks the column(s) {listed(lacking)}. A table of costs has the columns input "
            "and cost."
        )
    names = [str(name) for name in frame["input"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} gives {listed(twice)} twice. Give each input one cost.")
    cells = zip(names, frame["cost"], strict=True)
    return {name: _cost(cost, name, str(path)) for name, cost in cells}


def _cost(cost: object, name: str, where: str) -> float:
    try:
        number = float(str(cost))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0.0):
        raise ValueError(
            f"{where} gives {str(cost)!r} as the cost of {name!r}. A cost must be a number > 0."
        )
    return number
