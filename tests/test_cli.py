from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pyarrow
import pytest
import skops.io
from click.testing import CliRunner, Result
from pyarrow import parquet
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import shafer
from shafer.cli import main
from shafer.datasets import load_heart


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def refused(message: str, *arguments: Any) -> None:
    """Assert one clear line and exit code 2, and no traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
    line = result.output[result.output.index("Error:") :]
    assert line.count("\n") == 1, line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A heart table, a pipeline trained on it, and the same model as a pickle."""
    heart = load_heart(as_frame=True)
    frame = heart.frame
    frame["famhist"] = np.where(frame["famhist"] > 0, "Present", "Absent")
    frame.to_csv(tmp_path / "heart.csv", index=False)
    frame.to_parquet(tmp_path / "heart.parquet")
    X = frame.drop(columns=["chd", "famhist"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, frame["chd"])
    skops.io.dump(model, tmp_path / "model.skops")
    joblib.dump(model, tmp_path / "model.joblib")
    return tmp_path


# -- report ----------------------------------------------------------------------------------------


def test_report(tmp_path: Path) -> None:
    result = run("report", "--out", tmp_path / "deep" / "page.html", "--rows", "0,17,40:42")
    assert result.exit_code == 0, result.output
    for word in ("p(chd)", "[bel, pl]", "ignorance", "for chd: ", "against: ", "asked for"):
        assert word in result.output
    assert "Heart disease" in (tmp_path / "deep" / "page.html").read_text()
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["page.html"]


def test_report_into_a_folder(tmp_path: Path) -> None:
    assert run("report", "--out", tmp_path / "out").exit_code == 0
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["report.html"]


@pytest.mark.parametrize("name", ["heart.csv", "heart.parquet"])
def test_report_trains_and_says_so(folder: Path, name: str) -> None:
    out = folder / "r.html"
    result = run("report", "--data", folder / name, "--target", "chd", "--out", out)
    assert result.exit_code == 0, result.output
    page = out.read_text()
    for text in (result.output, page):
        assert "No model was given, so a logistic regression was trained on all 462 rows" in text
        assert "held-out rows, by 5-fold cross-validation" in text
    assert '"choices":["Present","Absent"]' in page  # categories have a menu


def test_report_on_a_model(folder: Path) -> None:
    out = folder / "r.html"
    data = ("--data", folder / "heart.csv", "--out", out)
    for model in (
        ("--model", folder / "model.skops"),
        ("--model", folder / "model.joblib", "--trust-pickle"),
        ("--model", folder / "model.skops", "--train", folder / "heart.parquet"),
    ):
        result = run("report", *model, *data, "--target", "chd")
        assert result.exit_code == 0, result.output
        assert "Whether it was trained on them is not known here" in result.output
    result = run("report", "--model", folder / "model.skops", *data)
    assert result.exit_code == 0, result.output
    assert "error on" not in result.output


def test_an_evidential_classifier_brings_its_own_means(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X = frame[["age", "ldl"]]
    model = shafer.EvidentialClassifier(LogisticRegression()).fit(X, frame["chd"])
    skops.io.dump(model, folder / "own.skops")
    frame[:20].to_csv(folder / "few.csv", index=False)
    out = folder / "scored.csv"
    result = run("score", folder / "few.csv", "--model", folder / "own.skops", "--out", out)
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(pd.read_csv(out)["belief_1"], model.evidence(X[:20]).belief[:, 1])


def test_a_model_trained_on_arrays(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")[["age", "ldl", "chd"]]
    frame.to_csv(folder / "two.csv", index=False)
    model = LogisticRegression().fit(frame[["age", "ldl"]].to_numpy(), frame["chd"])
    skops.io.dump(model, folder / "array.skops")
    arguments = ("--model", folder / "array.skops", "--data", folder / "two.csv")
    result = run("explain", *arguments, "--target", "chd", "--row", 3)
    assert result.exit_code == 0, result.output
    assert "age 58" in result.output
    refused("The model takes 2 columns", "explain", *arguments)


# -- explain ---------------------------------------------------------------------------------------


def test_explain(folder: Path) -> None:
    result = run("explain", "--row", 17)
    assert result.exit_code == 0
    assert "typea 78" in result.output
    result = run("explain", "--data", folder / "heart.csv", "--target", "chd", "--row", 0)
    assert result.exit_code == 0, result.output
    assert "famhist Present" in result.output


# -- score -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scored.csv", "scored.csv.gz", "scored.parquet"])
def test_score_in_chunks(folder: Path, name: str) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    model = skops.io.load(folder / "model.skops")
    X = frame[model.feature_names_in_]
    ev = shafer.Explainer(model, X, groups="source")(X)
    out = folder / name
    arguments = ("--model", folder / "model.skops", "--out", out, "--chunk", 100)
    result = run("score", folder / "heart.csv", *arguments)
    assert result.exit_code == 0, result.output
    scored = pd.read_parquet(out) if name.endswith("parquet") else pd.read_csv(out)
    assert scored["row"].tolist() == list(range(462))
    np.testing.assert_allclose(scored["belief_1"], ev.belief[:, 1], atol=1e-12)
    np.testing.assert_allclose(scored["plausibility_0"], ev.plausibility[:, 0], atol=1e-12)
    np.testing.assert_allclose(scored["ignorance"], ev.ignorance, atol=1e-12)
    np.testing.assert_allclose(scored["conflict"], ev.conflict, atol=1e-12)
    assert scored["decision"].tolist() == ev.to_frame()["decision"].tolist()


def test_score_does_not_depend_on_the_chunks(tmp_path: Path) -> None:
    """Columns that look different in each chunk: integers, gaps, texts, truth values."""
    rng = np.random.default_rng(0)
    n = 90
    frame = pd.DataFrame(
        {
            "size": np.where(np.arange(n) < 30, rng.integers(0, 9, n), rng.random(n)),
            "code": [f"{i % 3:03d}" if i < 60 else f"A{i % 3}" for i in range(n)],
            "flag": ["true", "false", "true"] * 30,
            "gap": [""] * 30 + ["1.5", "2.5", ""] * 20,
            "y": ["no", "yes"] * 45,
        }
    )
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    tables = []
    for chunk in (7, 30, 1000):
        out = tmp_path / f"{chunk}.parquet"
        options = ("--train", tmp_path / "train.csv", "--target", "y", "--chunk", chunk)
        result = run("score", tmp_path / "new.csv", *options, "--out", out)
        assert result.exit_code == 0, result.output
        tables.append(pd.read_parquet(out))
    pd.testing.assert_frame_equal(tables[0], tables[1])
    pd.testing.assert_frame_equal(tables[0], tables[2])
    assert tables[0]["belief_no"].nunique() > 10


def test_a_failing_score_leaves_nothing(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv").astype({"age": object})
    frame.loc[300, "age"] = "old"
    frame.to_csv(folder / "bad.csv", index=False)
    before = sorted(p.name for p in folder.iterdir())
    options = ("--train", folder / "heart.csv", "--target", "chd", "--chunk", 100)
    refused(
        "Column 'age' must hold numbers, as it did in training; row 300 has 'old'",
        *("score", folder / "bad.csv", *options, "--out", folder / "scored.csv"),
    )
    frame = pd.read_csv(folder / "heart.csv")
    frame.loc[250, "age"] = np.nan
    frame.to_csv(folder / "bad.csv", index=False)
    model = ("--model", folder / "model.skops", "--train", folder / "heart.csv")
    refused(
        "Rows 200 to 299",
        *("score", folder / "bad.csv", *model, "--chunk", 100, "--out", folder / "scored.parquet"),
    )
    assert sorted(p.name for p in folder.iterdir()) == before


def test_score_keeps_the_data(folder: Path) -> None:
    data = folder / "heart.csv"
    refused("another file", "score", data, "--model", folder / "model.skops", "--out", data)
    refused("Scoring needs --model", "score", data, "--out", folder / "s.csv")
    refused("a table must be", "score", data, "--model", folder / "model.skops", "--out", "s.txt")


# -- what is wrong is said in one line -----------------------------------------------------------


class Unknown(LogisticRegression):
    """A type skops does not know."""


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("expected rows such as 3,7,9 or 0:100; got 'a,b'", ["report", "--rows", "a,b"]),
        ("rows must lie between 0 and 461; got 9999.", ["report", "--rows", "9999"]),
        ("rows must lie between 0 and 461; got 5:5", ["report", "--rows", "5:5"]),
        ("--out must be an .html file or a folder", ["report", "--out", "report.pdf"]),
        ("No such option", ["report", "--nonsense"]),
        ("There is no file nowhere.csv", ["report", "--data", "nowhere.csv", "--target", "y"]),
        ("There is no file", ["report", "--data", "d.csv", "--model", "nowhere.skops"]),
        ("--target needs --data", ["report", "--target", "y"]),
        ("--model needs --data", ["explain", "--model", "model.skops"]),
        ("no column 'z'; it has 'sbp', 'tobacco'", ["D", "--target", "z"]),
        ("needs --target, the column to predict", ["D"]),
        ("row must lie between 0 and 461; got 462", ["explain", "--row", "462"]),
        ("is no skops file", ["D", "--model", "heart.skops"]),
        ("may run any code", ["D", "--model", "model.joblib"]),
        ("a model must be a .skops file", ["D", "--model", "heart.csv"]),
        ("--trust", ["D", "--model", "unknown.skops"]),
        ("lacks 1 column(s) that the model needs: 'age'", ["D2", "--model", "model.skops"]),
        ("which the model does not know", ["D", "--model", "model.skops", "--target", "famhist"]),
        ("not classes", ["D", "--target", "tobacco"]),
        ("has no rows", ["report", "--data", "empty.csv", "--target", "y"]),
        ("cannot be read", ["report", "--data", "nothing.csv", "--target", "y"]),
        ("cannot be read", ["report", "--data", "broken.parquet", "--target", "y"]),
        ("a table must be", ["report", "--data", "model.skops", "--target", "y"]),
        ("has 1 missing value(s), the first in row 1", ["M", "--target", "y"]),
        ("must have 2 to 1000 classes; it has 1", ["report", "--data", "one.csv", "--target", "y"]),
        ("no column with values besides", ["report", "--data", "bare.csv", "--target", "y"]),
        ("DummyClassifier", ["D", "--model", "dummy.skops"]),
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
        ("two columns 'x'", ["report", "--data", "twice.parquet", "--target", "y"]),
        ("two columns 'y'", ["report", "--data", "twice.csv", "--target", "y"]),
        ("two columns 'y'", ["score", "twice.csv", "--model", "model.skops", "--out", "s.csv"]),
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


def test_trusting_a_type(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    skops.io.dump(Unknown().fit(frame[["age"]], frame["chd"]), folder / "u.skops")
    name = skops.io.get_untrusted_types(file=folder / "u.skops")[0]
    arguments = ("--model", folder / "u.skops", "--data", folder / "heart.csv")
    refused(f"--trust {name}", "explain", *arguments)
    result = run("explain", *arguments, "--trust", name)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", ["report", "explain", "score", "paper"])
def test_help_has_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"shafer {command} " in result.output
    assert "\\b" not in result.output


@pytest.mark.parametrize("command", ["report", "explain", "score"])
def test_examples_have_lines_of_their_own(command: str) -> None:
    lines = [line.strip() for line in run(command, "--help").output.splitlines()]
    after = lines[lines.index("Examples:") + 1 :]
    assert len(after) >= 2
    assert all(line.startswith(f"shafer {command}") for line in after)


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier((3,), max_iter=20, random_state=0),
        CalibratedClassifierCV(LinearSVC(), method="sigmoid", ensemble=False, cv=3),
    ],
    ids=["mlp", "calibrated"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_plain_models_of_scikit_learn_need_no_trust(folder: Path, model: Any) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X = StandardScaler().set_output(transform="pandas").fit_transform(frame[["age", "ldl"]])
    X.to_csv(folder / "x.csv", index=False)
    skops.io.dump(model.fit(X, frame["chd"]), folder / "m.skops")
    result = run("explain", "--model", folder / "m.skops", "--data", folder / "x.csv")
    assert result.exit_code == 0, result.output


def test_infinite_inputs_are_shown(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")[["age", "ldl", "chd"]]
    model = HistGradientBoostingClassifier(max_iter=3).fit(frame[["age", "ldl"]], frame["chd"])
    skops.io.dump(model, folder / "h.skops")
    few = frame[:9].assign(ldl=[np.inf, -np.inf, *range(7)])
    few.to_csv(folder / "inf.csv", index=False)
    name = skops.io.get_untrusted_types(file=folder / "h.skops")[0]
    options = ("--model", folder / "h.skops", "--trust", name, "--data", folder / "inf.csv")
    result = run("report", *options, "--target", "chd", "--out", folder / "r.html")
    assert result.exit_code == 0, result.output
    assert '"∞"' in (folder / "r.html").read_text("utf-8")


def test_cells_beyond_the_header_may_be_empty(tmp_path: Path) -> None:
    """A comma at the end of each line is a frequent slip, and does no harm."""
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a,\n2,b,\n" * 5)
    result = run("explain", "--data", tmp_path / "t.csv", "--target", "y", "--row", 1)
    assert result.exit_code == 0, result.output
    assert "x 2" in result.output


def shell(*arguments: Any, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "shafer", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, **environment}
    )


def test_letters_a_terminal_does_not_have() -> None:
    done = shell("explain", "--row", 17, PYTHONIOENCODING="cp1252")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("cp1252")
    assert "typea 78         +0.44  ########################" in text
    assert "obesity 32.73    -0.26" in text
    assert "\ufffd" not in text


def test_a_narrow_terminal() -> None:
    done = shell("explain", "--row", 17, COLUMNS="60", PYTHONIOENCODING="utf-8")
    assert max(map(len, done.stdout.decode().splitlines())) <= 60


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
def test_an_ended_run_leaves_nothing(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    pd.concat([frame] * 200).to_csv(folder / "long.csv", index=False)
    before = sorted(folder.iterdir())
    options = ["--model", "model.skops", "--out", "scored.csv", "--chunk", "50"]
    command = [sys.executable, "-m", "shafer", "score", "long.csv", *options]
    running = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while sorted(folder.iterdir()) == before and time.monotonic() < deadline:
        time.sleep(0.01)  # until the file beside the output is there
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 143
    assert sorted(folder.iterdir()) == before


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "shafer.report.page", raising=False)
    monkeypatch.delattr("shafer.report.page", raising=False)
    refused("pip install 'shafer[report]'", "report", "--out", tmp_path / "r.html")


def test_module_and_version() -> None:
    command = [sys.executable, "-m", "shafer", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"shafer, version {shafer.__version__}\n"
