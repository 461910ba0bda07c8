"""Every wrong use ends in one clear line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pyarrow
import pytest
import skops.io
from pyarrow import parquet
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from shafer._terminal import refusing

from .running import refused


class Unknown(LogisticRegression):
    """A type skops does not know."""


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("--rows must be rows such as 3,7,9 or 0:100; got 'a,b'", ["report", "--rows", "a,b"]),
        ("--rows must lie between 0 and 461; got 9999.", ["report", "--rows", "9999"]),
        ("rows must lie between 0 and 461; got 5:5", ["report", "--rows", "5:5"]),
        ("--out must be an .html file or a folder", ["report", "--out", "report.pdf"]),
        ("No such option", ["report", "--nonsense"]),
        ("nowhere.csv does not exist", ["report", "--data", "nowhere.csv", "--target", "y"]),
        ("nowhere.skops does not exist", ["report", "--data", "d.csv", "--model", "nowhere.skops"]),
        ("--target needs --data", ["report", "--target", "y"]),
        ("--model needs --data", ["explain", "--model", "model.skops"]),
        ("no column 'z'; it has 'sbp', 'tobacco'", ["D", "--target", "z"]),
        ("needs --target, the column to predict", ["D"]),
        ("row must lie between 0 and 461; got 462", ["explain", "--row", "462"]),
        ("is not loaded: it is not a complete zip archive", ["D", "--model", "heart.skops"]),
        ("may run any code", ["D", "--model", "model.joblib"]),
        ("must be a .shafer or .skops file, or a .pkl", ["D", "--model", "heart.csv"]),
        ("--trust", ["D", "--model", "unknown.skops"]),
        ("lacks 1 column(s) that the model needs: 'age'", ["D2", "--model", "model.skops"]),
        ("which the model does not know", ["D", "--model", "model.skops", "--target", "famhist"]),
        ("not classes", ["D", "--target", "tobacco"]),
        ("has no rows", ["report", "--data", "empty.csv", "--target", "y"]),
        ("cannot be read", ["report", "--data", "nothing.csv", "--target", "y"]),
        ("cannot be read", ["report", "--data", "broken.parquet", "--target", "y"]),
        ("A table must be", ["report", "--data", "model.skops", "--target", "y"]),
        ("has 1 missing value(s), the first in row 1", ["M", "--target", "y"]),
        ("must have 2 to 1000 classes; it has 1", ["report", "--data", "one.csv", "--target", "y"]),
        ("no column with values besides", ["report", "--data", "bare.csv", "--target", "y"]),
        ("DummyClassifier", ["D", "--model", "dummy.skops", "--means-from-data"]),
        ("folder.csv is a folder", ["report", "--data", "folder.csv", "--target", "y"]),
        ("folder.csv is a folder", ["D", "--model", "folder.csv"]),
        ("more cells than its header", ["report", "--data", "shifted.csv", "--target", "y"]),
        ("separated by ';'", ["report", "--data", "semicolon.csv", "--target", "y"]),
        ("latin.csv cannot be read: it is not UTF-8", ["L", "--target", "y"]),
        ("short.csv.gz cannot be read: it ends too early", ["S", "--target", "y"]),
        ("torn.csv.gz cannot be read", ["report", "--data", "torn.csv.gz", "--target", "y"]),
        ("numbers such as inf, not classes", ["I", "--target", "y"]),
        ("Column 'x' of huge.csv holds 1e+300 in row 1", ["H", "--target", "y"]),
        ("cannot be written: a part of its path", ["report", "--out", "heart.csv/r.html"]),
        ("cannot be written: a part of its path", ["C", "--out", "heart.csv/s.csv"]),
        ("latin.csv cannot be read", ["LS", "--out", "s.csv"]),
        ("two columns named 'x'", ["report", "--data", "twice.parquet", "--target", "y"]),
        ("two columns named 'y'", ["report", "--data", "twice.csv", "--target", "y"]),
        (
            "two columns named 'y'",
            ["score", "twice.csv", "--model", "model.skops", "--out", "s.csv"],
        ),
    ],
)
def test_wrong_use(
    message: str, arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    frame = pd.read_csv("heart.csv")
    frame.drop(columns="age").to_csv("d2.csv", index=False)
    Path("heart.skops").write_text("no zip file")
    skops.io.dump(Unknown().fit(frame[["age"]], frame["chd"]), "unknown.skops")
    skops.io.dump(DummyClassifier().fit(frame[["age"]], frame["chd"]), "dummy.skops")
    Path("empty.csv").write_text("x,y\n")
    Path("nothing.csv").write_text("")
    Path("broken.parquet").write_text("PAR?")
    Path("missing.csv").write_text("x,y\n1,a\n2,\n3,b\n")
    Path("one.csv").write_text("x,y\n1,a\n2,a\n")
    Path("bare.csv").write_text("x,y\n,a\n,b\n")
    Path("folder.csv").mkdir()
    Path("shifted.csv").write_text("x,y\n1,a,9\n2,b,9\n")
    Path("semicolon.csv").write_text("x;y\n1;a\n2;b\n")
    Path("latin.csv").write_bytes("é,y\n1,a\n2,b\n".encode("latin-1"))
    packed = gzip.compress(Path("heart.csv").read_bytes())
    Path("short.csv.gz").write_bytes(packed[:-2000])
    Path("torn.csv.gz").write_bytes(packed[:40] + b"\xff" * 20 + packed[60:])
    Path("infinite.csv").write_text("x,y\n1,0\n2,1\n3,inf\n")
    Path("huge.csv").write_text("x,y\n1,a\n1e300,b\n")
    columns = [pyarrow.array([1, 2]), pyarrow.array([3, 4]), pyarrow.array(["a", "b"])]
    parquet.write_table(pyarrow.table(columns, names=["x", "x", "y"]), "twice.parquet")
    Path("twice.csv").write_text("x,y,y\n1,a,a\n2,b,b\n")
    short = {
        "C": ["score", "heart.csv", "--model", "model.skops"],
        "H": ["report", "--data", "huge.csv"],
        "I": ["report", "--data", "infinite.csv"],
        "L": ["report", "--data", "latin.csv"],
        "LS": ["score", "latin.csv", "--model", "model.skops"],
        "S": ["report", "--data", "short.csv.gz"],
        "D": ["report", "--data", "heart.csv"],
        "D2": ["report", "--data", "d2.csv"],
        "M": ["report", "--data", "missing.csv"],
    }
    before = sorted(folder.iterdir())
    refused(message, *short.get(arguments[0], arguments[:1]), *arguments[1:])
    assert sorted(folder.iterdir()) == before


def test_a_reader_that_stops_is_no_error() -> None:
    """As ``head`` does: click ends quietly, which it cannot if the error has become a text."""
    with pytest.raises(BrokenPipeError), refusing():
        raise BrokenPipeError
