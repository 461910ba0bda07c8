"""The command line: random tables give a result, or one line of error and exit code 2."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from shafer.cli import main

HEADERS = (
    "age", "Größe", "体重", "a b", "", " ", "x", "x", "0", "1.5", "nan", '"', "a,b", "target",
    "y\tz", "Unnamed: 0", "class", "-", "=1+1", "é" * 40, "\u202eabc", "None", "True",
)  # fmt: skip
CELLS = (
    "", " ", "0", "1", "-1", "3.14", "1e308", "-1e308", "1e400", "inf", "-inf", "nan", "NaN", "NA",
    "None", "null", "True", "false", "yes", "no", "2021-01-01", "12:30", "1,5", "1_000", "0x1f",
    "ü", "🙂", "\x00", "a" * 300, '"', "'", "=cmd", "9" * 40, "1 2",
)  # fmt: skip
LABELS = (("yes", "no"), ("0", "1"), ("a", "b", "c"), ("ja", "nein", ""), ("1.0", "0"), ("ü", "ß"))


def commands(seed: int) -> int:
    """Run score, explain and report on random tables."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        header = _header(rng)
        target = "y" if rng.random() < 0.9 else str(rng.choice(header))
        table, other = folder / "train.csv", folder / "new.csv"
        table.write_bytes(_table(rng, header))
        other.write_bytes(_table(rng, header if rng.random() < 0.7 else _header(rng)))
        out = folder / str(rng.choice(["out.csv", "out.parquet", "out.csv.gz"]))
        row = int(rng.integers(0, 12))
        _run("score", other, "--train", table, "--target", target, "--out", out)
        _run("explain", "--data", table, "--target", target, "--row", row)
        if rng.random() < 0.1:
            page = folder / "page.html"
            _run("report", "--data", table, "--target", target, "--out", page, "--rows", row)
    return 2


def check_table(content: bytes) -> None:
    """Explain the first row of a table of any bytes."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "table.csv"
        path.write_bytes(content)
        _run("explain", "--data", path, "--target", "y")


def _header(rng: np.random.Generator) -> list[str]:
    """Draw column names: mostly plain ones and a class column y."""
    odd = rng.choice(HEADERS, int(rng.choice([0, 0, 1, 2]))).tolist()
    names = [f"x{j}" for j in range(int(rng.integers(1, 4)))] + odd
    return [*names, "y"] if rng.random() < 0.95 else names


def _table(rng: np.random.Generator, header: list[str]) -> bytes:
    """Write a table, most of whose cells are numbers and whose last column is a class."""
    n = int(rng.choice([0, 1, 2, 12, 12, 12, 40, 40]))
    cells = rng.normal(size=(n, len(header))).round(3).astype(str).astype(object)
    odd = rng.random(cells.shape) < rng.choice([0.0, 0.01, 0.1])
    cells[odd] = rng.choice(CELLS, int(odd.sum()))
    if header[-1:] == ["y"] and n:
        cells[:, -1] = rng.choice(LABELS[int(rng.integers(len(LABELS)))], n)
    separator, end, encoding = ",", "\n", "utf-8"
    if rng.random() < 0.2:
        separator = str(rng.choice([",", ";", "\t"]))
        end = str(rng.choice(["\n", "\r\n", "\r"]))
        encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    lines = [separator.join(map(_quoted, row)) for row in [header, *cells]]
    if rng.random() < 0.1:
        lines.insert(int(rng.integers(len(lines) + 1)), separator * int(rng.integers(9)))
    return end.join(lines).encode(encoding, "replace")


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set('",;\t\n') else cell


def _run(*arguments: Any) -> None:
    """Run a command and check how it ends."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    told = f"shafer {' '.join(map(str, arguments))}\n{result.output[-400:]}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{type(result.exception).__name__}: {told}") from result.exception
    assert result.exit_code in (0, 2), f"exit code {result.exit_code}: {told}"
    assert "Traceback" not in result.output, told
    if result.exit_code == 2:
        line = result.output[result.output.index("Error:") :]
        assert line.count("\n") == 1, f"more than one line: {told}"
