"""``--id`` and ``--keep``: rows keep their ids, which never reach the model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.scale.ids import check_ids

from .running import refused, run

N = 60
RANDOM = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "patient": [f"{i:03d}" for i in range(N)],
        "number": [9007199254740993 + i for i in range(N)],
        "visit": [str(i % 2) for i in range(N)],
        "pair": [f"p{i // 2}" for i in range(N)],
        "age": RANDOM.normal(50, 9, N).round(2),
        "ldl": RANDOM.normal(5, 1, N).round(2),
    }
)
Y = np.where(ROWS["age"] + RANDOM.normal(0, 5, N) > 50, "ill", "well")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ids")
    ROWS.to_csv(folder / "rows.csv", index=False)
    ROWS.to_parquet(folder / "rows.parquet", row_group_size=7)
    (folder / "many").mkdir()
    for i in range(2):
        ROWS[30 * i : 30 * i + 30].to_parquet(folder / "many" / f"{i}.parquet")
    X = ROWS[["age", "ldl"]]
    model = LogisticRegression().fit(X, Y)
    shafer.Explainer(model, X).save(folder / "m.shafer")
    shafer.Explainer(LogisticRegression().fit(X.to_numpy(), Y), X.to_numpy()).save(
        folder / "array.shafer"
    )
    ROWS.assign(y=Y).to_csv(folder / "train.csv", index=False)
    return folder


def _scored(files: Path, data: str, out: str, *options: object) -> pd.DataFrame:
    model = ("--model", files / "m.shafer") if "--train" not in options else ()
    result = run("score", files / data, *model, "--out", files / out, *options)
    assert result.exit_code == 0, result.output
    return pd.read_parquet(files / out) if "csv" not in out else pd.read_csv(files / out, dtype=str)


@pytest.mark.parametrize("data", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("out", ["s.csv", "s.parquet"])
def test_ids_stay_as_they_are_written(files: Path, data: str, out: str) -> None:
    options = ("--id", "patient", "--keep", "number", "--keep", "age", "--chunk", 9)
    scored = _scored(files, data, out, *options)
    expected = ["patient", "number", "age", "answer", "probability_ill", "probability_well"]
    assert scored.columns.tolist() == expected
    assert scored["patient"].tolist() == ROWS["patient"].tolist()
    assert scored["number"].astype(str).tolist() == ROWS["number"].astype(str).tolist()
    assert scored["age"].astype(float).tolist() == ROWS["age"].tolist()
    if out.endswith("parquet") and data.endswith("parquet"):
        assert scored["number"].dtype == np.int64


def test_ids_of_many_files_and_of_several_columns(files: Path) -> None:
    scored = _scored(files, "many", "folder", "--id", "pair", "--id", "visit")
    assert scored.columns[:3].tolist() == ["pair", "visit", "answer"]
    assert scored["pair"].tolist() == ROWS["pair"].tolist()


def test_ids_are_no_inputs(files: Path) -> None:
    """Neither of a model that is trained here, nor of one that does not know its columns."""
    train = ("--train", files / "train.csv", "--target", "y", "--reasons", 4)
    ids = ("--id", "patient", "--id", "number", "--drop", "visit", "--drop", "pair")
    trained = _scored(files, "rows.csv", "t.parquet", *train, *ids)
    assert set(trained["reason_1"].dropna()) <= {"age", "ldl"}
    plain = _scored(files, "rows.csv", "p.parquet")
    data = files / "array.csv"
    ROWS[["patient", "age", "ldl"]].to_csv(data, index=False)
    options = ("--model", files / "array.shafer", "--out", files / "a.parquet")
    refused("and those that name rows with --id", "score", data, *options)
    result = run("score", data, *options, "--id", "patient")
    assert result.exit_code == 0, result.output
    found = pd.read_parquet(files / "a.parquet")
    np.testing.assert_allclose(found["probability_ill"], plain["probability_ill"], atol=1e-12)


def test_ids_that_are_refused(files: Path) -> None:
    given = ("score", files / "rows.csv", "--model", files / "m.shafer", "--out", files / "no.csv")
    refused("--id who cannot be used: ", *given, "--id", "who")
    refused("--keep who cannot be used: ", *given, "--keep", "who")
    refused("rows 0 and 1 of ", *given, "--id", "pair")
    refused("have the same id 'p0'. Name columns that tell all rows apart", *given, "--id", "pair")
    refused("the model was trained on this column. Use --keep age", *given, "--id", "age")
    ROWS.assign(patient=["", *ROWS["patient"][1:]]).to_csv(files / "gap.csv", index=False)
    gap = ("score", files / "gap.csv", *given[2:], "--id", "patient")
    refused("row 0 of", *gap)
    refused("has no id. Fill it in", *gap)
    ROWS.rename(columns={"patient": "answer"}).to_csv(files / "taken.csv", index=False)
    refused(
        "has a column 'answer', and so have the scores",
        *("score", files / "taken.csv", *given[2:], "--id", "answer"),
    )
    assert not (files / "no.csv").exists()


def test_equal_ids_in_two_files_are_found(files: Path) -> None:
    paths = [files / "many" / "0.parquet", files / "many" / "0.parquet"]
    with pytest.raises(ValueError, match="rows 0 and 30 of .* have the same id '000'"):
        check_ids(paths, ["patient"])


def test_help_and_guide_name_every_column(files: Path) -> None:
    """The lists in the help of ``score`` and in the guide are those of the code."""
    X = ROWS[["age", "ldl"]]
    explainer = shafer.Explainer(
        LogisticRegression().fit(X, Y), X, errors="laplace", moderate="laplace+discount"
    )
    explainer.conformalize(X, Y, 0.8).control_error(X, Y, 0.4)
    names = shafer.scale.schema(explainer, reasons=1, evidence=True).names
    plain = {re.sub("_(ill|well)$", "", name) for name in names}
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "report.md").read_text()
    missing = [name for name in plain if f"`{name}`" not in guide and f"`{name}_…`" not in guide]
    assert missing == []
    said = re.sub(r"\s+", " ", run("score", "--help").output)
    left = {name for name in plain if not re.search(rf"\b{name.replace('_', ' ')}\b", said)}
    left = {name for name in left if not re.search(rf"\b{name}\b", said)}
    assert left <= {"weight_of_conflict", "epistemic_ignorance", "reason_1_lower", "reason_1_upper"}
    assert not re.search("decision|reasons_for|--defer", said)


def test_rows_by_id_in_every_command(files: Path) -> None:
    data = ("--data", files / "rows.csv", "--model", files / "m.shafer", "--id", "patient")
    shown = run("explain", *data, "--row", "017")
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("rows.csv, 017\n")
    first = run("explain", *data).output
    assert first == run("explain", *data, "--row", ROWS["patient"][0]).output
    by_number = run("explain", *data[:4], "--row", "17").output
    assert by_number.split("\n")[2:] == shown.output.split("\n")[2:]
    refused("--row 999 is not an id of", "explain", *data, "--row", "999")
    refused("counted from 0; got 'pat'. For an id, name", "explain", *data[:4], "--row", "pat")
    page = files / "page.html"
    report = run("report", *data, "--out", page)
    assert report.exit_code == 0, report.output
    assert '"017"' in page.read_text()
    report = run("report", *data, "--out", page, "--rows", "017, 003")
    assert report.exit_code == 0, report.output
    assert "\n017 " in report.output
    assert "\n003 " in report.output
    assert run("report", *data, "--out", page, "--rows", "0:2").exit_code == 0
    refused("--rows 999 is not an id of", "report", *data, "--out", page, "--rows", "999")
    refused("got '017,x'. For ids, name", "report", *data[:4], "--rows", "017,x")
    gaps = ROWS.assign(age=ROWS["age"].where(ROWS.index != 3))
    gaps.to_csv(files / "gaps.csv", index=False)
    model = ("--model", files / "m.shafer", "--id", "patient")
    plan = run("next", files / "gaps.csv", *model, "--keep", "pair", "--out", files / "plan.csv")
    assert plan.exit_code == 0, plan.output
    assert "  003  age" in plan.output
    written = pd.read_csv(files / "plan.csv", dtype=str)
    assert written[["patient", "pair", "input"]].to_numpy().tolist() == [["003", "p1", "age"]]
    data = files / "rows.csv"
    watched = run("monitor", data, data, *model)
    assert watched.exit_code == 0, watched.output
    refused("have the same id", "monitor", data, data, *model[:2], "--id", "pair")
