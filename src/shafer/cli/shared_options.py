"""Options that several commands share, and how they are read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from shafer.cli.clean_errors import Refused, ended_cleanly, refusing

_F = TypeVar("_F", bound=Callable[..., Any])
_PART = re.compile(r"(\d+)|(\d*):(\d*)")
_PATH = click.Path(path_type=Path)


def examples(*lines: str) -> str:
    """Write examples for the end of a help text, a line each; click would join them."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def model_options(command: _F) -> _F:
    """Add --model, --trust, --trust-pickle, --train and --target."""
    for option in reversed(
        [
            click.option("--model", "model_path", type=_PATH, help="A trained model (skops)."),
            click.option(
                "--train",
                "train_path",
                type=_PATH,
                help="Training data (CSV or Parquet): sets the means that evidence is measured "
                "from; without --model, a logistic regression is trained on it.",
            ),
            click.option("--target", help="The column with the classes."),
            click.option(
                "--trust",
                "trusted",
                multiple=True,
                metavar="TYPE",
                help="A type in the model file that you trust, such as "
                "xgboost.sklearn.XGBClassifier.",
            ),
            click.option(
                "--trust-pickle",
                is_flag=True,
                help="Load a pickle or joblib file, which may run any code.",
            ),
        ]
    ):
        command = option(command)
    return command


def read_rows(_: click.Context, __: click.Parameter, value: str | None) -> list[slice] | None:
    """Read rows such as ``0:100``, ``3,7,9`` or ``:10,42``."""
    if value is None:
        return None
    parts = []
    for text in value.split(","):
        found = _PART.fullmatch(text.strip())
        if found is None:
            raise Refused(f"--rows: expected rows such as 3,7,9 or 0:100; got {value!r}.")
        one, start, stop = found.groups()
        if one is not None:
            parts.append(slice(int(one), int(one) + 1))
        else:
            parts.append(slice(int(start or 0), int(stop) if stop else None))
    return parts


def rows_among(parts: list[slice] | None, n: int) -> list[int] | None:
    """Return the row numbers that are meant, checked against the number of rows."""
    if parts is None:
        return None
    rows: dict[int, None] = {}
    for part in parts:
        stop = n if part.stop is None else part.stop
        outside = [row for row in (part.start, stop - 1) if not 0 <= row < n]
        if outside or stop <= part.start:
            given = f"{part.start}:{stop}" if stop != part.start + 1 else f"{part.start}"
            raise ValueError(f"rows must lie between 0 and {n - 1}; got {given}.")
        rows.update(dict.fromkeys(range(part.start, stop)))
    return list(rows)


def loaded(
    model_path: Path | None, trusted: tuple[str, ...], trust_pickle: bool
) -> tuple[Any, str] | None:
    """Load the model that was asked for, with the name of its file."""
    from shafer.cli.model_files import load_model

    if model_path is None:
        return None
    return load_model(model_path, trusted, trust_pickle), model_path.name


@contextmanager
def careful() -> Iterator[None]:
    """Refuse in one line, and leave out warnings that are no news to the user here."""
    with ended_cleanly(), refusing(), warnings.catch_warnings():
        # Models trained on arrays are given frames, for the names of their columns.
        warnings.filterwarnings("ignore", message="X has feature names")
        warnings.filterwarnings("ignore", message="Found unknown categories")
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than")
        yield
