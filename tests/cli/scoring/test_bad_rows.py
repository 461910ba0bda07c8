"""``shafer score --on-error``: rows that cannot be scored, where they go, and the exit code."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shafer
from shafer.scale.bad_rows import divided, first_bad, with_column

from ..running import refused, run

MODEL = ("--model", "model.skops")


@pytest.fixture
def broken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Sixty rows with ids, of which three are bad in three ways; the working folder has them."""
    monkeypatch.chdir(folder)
    frame = pd.read_csv("heart.csv").iloc[:60].drop(columns=["chd", "famhist"])
    frame.insert(0, "patient", [f"=p{i}" for i in range(60)])
    frame.to_csv("whole.csv", index=False)
    frame = frame.astype({"age": object})
    frame.loc[7, "age"] = "old"
    frame.loc[41, "ldl"] = np.nan
    frame.loc[50, "sbp"] = np.inf
    frame.to_csv("broken.csv", index=False)
    return frame


def test_bad_rows_stop_or_are_left_out_or_put_aside(broken: pd.DataFrame) -> None:
    first = "broken.csv, row 7 (patient =p7): Column 'age' must hold numbers, as in training; it"
    call = ("score", "broken.csv", *MODEL, "--id", "patient", "--chunk", 20, "--out", "out.csv")
    refused(f"{first} has 'old'. Correct the row, or leave such rows out with --on-error", *call)
    assert not Path("out.csv").exists()
    assert run("score", "whole.csv", *call[2:-1], "whole.out.csv").exit_code == 0
    expected = Path("whole.out.csv").read_text().splitlines()

    skipped = run(*call, "--on-error", "skip")
    assert skipped.exit_code == 1, skipped.output
    assert f"57 rows. 3 rows were left out; the first: {first} has 'old'." in skipped.output
    found = Path("out.csv").read_text().splitlines()
    assert found == [line for i, line in enumerate(expected) if i not in (8, 42, 51)]
    assert not Path("out.quarantine.csv").exists()

    aside = run(*call, "--on-error", "quarantine")
    assert aside.exit_code == 1, aside.output
    assert "They are in out.quarantine.csv." in aside.output
    assert Path("out.csv").read_text().splitlines() == found
    side = pd.read_csv("out.quarantine.csv", dtype=str, keep_default_na=False)
    assert side["error_row"].tolist() == ["7", "41", "50"]
    assert set(side["error_file"]) == {"broken.csv"}
    assert side["error_reason"].tolist() == [
        "Column 'age' must hold numbers, as in training; it has 'old'.",
        "Column 'ldl' is missing (NaN), and the model cannot take NaN.",
        "Column 'sbp' is infinite, and StandardScaler cannot take infinity.",
    ]
    given = pd.read_csv("broken.csv", dtype=str, keep_default_na=False).iloc[[7, 41, 50]]
    assert side["patient"].tolist() == ["'=p7", "'=p41", "'=p50"]  # no formulas
    cells = side.drop(columns=["error_file", "error_row", "error_reason", "patient"])
    assert cells.to_numpy().tolist() == given.drop(columns="patient").to_numpy().tolist()


def test_a_corrected_side_file_is_scored_like_the_rows_themselves(broken: pd.DataFrame) -> None:
    call = (*MODEL, "--keep", "patient", "--on-error", "quarantine", "--out")
    assert run("score", "broken.csv", *call, "out.csv").exit_code == 1
    side = pd.read_csv("out.quarantine.csv", dtype=str, keep_default_na=False)
    whole = pd.read_csv("whole.csv", dtype=str, keep_default_na=False).iloc[[7, 41, 50]]
    for name in ("age", "ldl", "sbp"):
        side[name] = whole[name].to_list()
    side.to_csv("corrected.csv", index=False)
    result = run("score", "corrected.csv", *call, "again.parquet")
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv("again.quarantine.csv")) == 0
    expected = run("score", "whole.csv", *call, "whole.parquet")
    assert expected.exit_code == 0, expected.output
    some = pd.read_parquet("whole.parquet").iloc[[7, 41, 50]].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        pd.read_parquet("again.parquet").drop(columns="row"),
        some.drop(columns="row"),
        check_exact=True,
    )
    assert some["patient"].tolist() == ["=p7", "=p41", "=p50"]


def test_bad_rows_of_parquet_keep_their_types_and_numbers(broken: pd.DataFrame) -> None:
    frame = broken.assign(age=pd.to_numeric(broken["age"], errors="coerce"))
    frame.to_parquet("broken.parquet", row_group_size=8)
    call = ("score", "broken.parquet", *MODEL, "--on-error", "quarantine", "--out", "out.parquet")
    assert run(*call).exit_code == 1
    numbered = frame.assign(patient=range(500, 560))
    numbered.to_parquet("numbered.parquet")
    refused(
        "numbered.parquet, row 50 (patient 550): Column 'sbp' is infinite",
        *("score", "numbered.parquet", *MODEL, "--id", "patient", "--out", "x.parquet"),
    )
    assert pd.read_parquet("out.parquet")["row"].tolist() == [
        row for row in range(60) if row not in (7, 41, 50)
    ]
    side = pd.read_parquet("out.quarantine.parquet")
    assert side["error_row"].tolist() == [7, 41, 50]
    pd.testing.assert_frame_equal(
        side.drop(columns=["error_file", "error_row", "error_reason"]),
        frame.iloc[[7, 41, 50]].reset_index(drop=True),
    )
    again = run(
        "score", "out.quarantine.parquet", *MODEL, "--out", "x.parquet", "--on-error", "skip"
    )
    assert again.exit_code == 2
    assert "None of 3 rows can be scored: out.quarantine.parquet, row 0: Column" in again.output
    assert not Path("x.parquet").exists()


def test_a_folder_with_bad_rows(broken: pd.DataFrame, folder: Path) -> None:
    (folder / "data").mkdir()
    broken.iloc[:30].to_csv("data/0.csv", index=False)
    broken.iloc[30:].to_csv("data/1.csv", index=False)
    call = ("score", "data", *MODEL, "--out", "out", "--on-error", "quarantine")
    result = run(*call)
    assert result.exit_code == 1, result.output
    assert "3 rows were left out; the first: " in result.output
    assert "They are in out/_quarantine." in result.output
    assert len(pd.read_parquet("out")) == 57
    side = [pd.read_csv(path) for path in sorted(Path("out/_quarantine").iterdir())]
    assert [frame["error_row"].tolist() for frame in side] == [[7], [11, 20]]  # of their files
    again = run(*call)
    assert again.exit_code == 1
    assert "All parts were there already" in again.output
    for name in ("0", "1"):
        frame = pd.read_csv(f"data/{name}.csv")
        frame.assign(ldl="none").to_csv(f"data/{name}.csv", index=False)
    refused("None of 60 rows can be scored", *call[:-3], "other", *call[-2:])
    assert not Path("other").exists()


def test_a_repaired_file_leaves_the_parts_of_others(broken: pd.DataFrame, folder: Path) -> None:
    """The run stops at a bad row. Its file is corrected; those of the others are not repeated."""
    whole = pd.read_csv("whole.csv", dtype=str)
    (folder / "data").mkdir()
    for i in range(3):
        whole.iloc[i * 20 : (i + 1) * 20].to_csv(f"data/{i}.csv", index=False)
    good = Path("data/2.csv").read_text()
    Path("data/2.csv").write_text(good.replace("\n=p40,", "\n=p40,x"))
    call = ("score", "data", *MODEL, "--id", "patient", "--out", "out")
    refused("data/2.csv, row 0 (patient =p40): Column", *call)
    growing = Path(".out.unfinished")
    before = {path.name: path.stat().st_mtime_ns for path in growing.glob("part-*")}
    assert len(before) == 2
    Path("data/2.csv").write_text(good)
    # The first file has a new row, so all later rows have other numbers; their ids are the same.
    more = pd.concat([whole.iloc[:20], whole.iloc[:1].assign(patient="=new")])
    more.to_csv("data/0.csv", index=False)
    result = run(*call, "--summary", "run.json")
    assert result.exit_code == 0, result.output
    after = {path.name: path.stat().st_mtime_ns for path in Path("out").glob("part-*")}
    assert [after[name] == before[name] for name in sorted(before)] == [False, True]
    found = pd.read_parquet("out")
    assert found["patient"].tolist() == [*more["patient"], *whole["patient"].iloc[20:]]
    record = json.loads(Path("run.json").read_text())
    assert (record["parts"], record["kept_parts"], record["rows"]) == (3, 1, 61)
    assert record == {**record, "status": "done", "exit_code": 0, "bad_rows": 0}


def test_parts_move_when_a_file_is_divided_otherwise(
    broken: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file becomes longer: the part of the second has another number, and is kept."""
    monkeypatch.setattr("shafer.scale.plan._ROWS", 20)
    whole = pd.read_csv("whole.csv")
    (folder / "data").mkdir()
    whole.iloc[:10].to_parquet("data/0.parquet", row_group_size=10)
    whole.iloc[20:40].to_parquet("data/1.parquet", row_group_size=10)
    whole.iloc[40:].assign(age="old").to_parquet("data/2.parquet", row_group_size=10)
    call = ("score", "data", *MODEL, "--id", "patient", "--out", "out")
    refused("data/2.parquet, row 0 (patient =p40): Column 'age' must hold numbers", *call)
    growing = Path(".out.unfinished")
    kept = (growing / "part-00001.parquet").read_bytes()
    whole.iloc[:20].to_parquet("data/0.parquet", row_group_size=5)
    more = pd.concat(
        [whole.iloc[:20], whole.iloc[:15].assign(patient=[f"n{i}" for i in range(15)])]
    )
    more.to_parquet("data/0.parquet", row_group_size=5)
    whole.iloc[40:].to_parquet("data/2.parquet", row_group_size=10)
    result = run(*call)
    assert result.exit_code == 0, result.output
    assert (Path("out") / "part-00002.parquet").read_bytes() == kept
    ids = pd.read_parquet("out")["patient"].tolist()
    assert ids == [*more["patient"], *whole["patient"].iloc[20:]]


def test_all_files_changed(broken: pd.DataFrame, folder: Path) -> None:
    (folder / "data").mkdir()
    broken.to_csv("data/0.csv", index=False)
    call = ("score", "data", *MODEL, "--out", "out")
    refused("data/0.csv, row 7: Column 'age'", *call)
    os.utime("data/0.csv", ns=(0, 0))
    refused("was begun for other input files: all of them changed", *call)


# The log, the record of a run, and the exit codes.


def test_a_log_of_json_lines(broken: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shafer.scale.run_log._EVERY", 0.01)
    observe = shafer.Explainer.observe

    def slow(*args: Any, **options: Any) -> Any:
        time.sleep(0.03)
        return observe(*args, **options)

    monkeypatch.setattr(shafer.Explainer, "observe", slow)
    call = ("score", "whole.csv", *MODEL, "--out", "out.csv", "--chunk", 20)
    result = run(*call, "--log-format", "json")
    assert result.exit_code == 0, result.output
    events = [json.loads(line) for line in result.stderr.splitlines()]
    assert result.stdout == ""
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1], set(kinds[1:-1])) == ("start", "done", {"progress"})
    assert events[-2]["total"] == events[-1]["rows"] == 60
    assert all({"time", "message"} <= event.keys() for event in events)
    text = run(*call)
    assert "shafer: 20 of 60 rows, " in text.stderr
    assert "rows per second, about " in text.stderr
    bad = run("score", "broken.csv", *call[2:], "--log-format", "json")
    assert bad.exit_code == 2
    [*_, last] = map(json.loads, bad.stderr.splitlines())
    assert (last["event"], last["exit_code"]) == ("error", 2)
    assert "row 7: Column 'age'" in last["message"]


def test_the_record_of_a_run(broken: pd.DataFrame, folder: Path) -> None:
    from hashlib import sha256

    call = ("score", "broken.csv", *MODEL, "--out", "out.csv", "--summary", "logs/run.json")
    assert run(*call, "--on-error", "skip", "--evidence").exit_code == 1
    record = json.loads(Path("logs/run.json").read_text())
    for part, path in ((record["inputs"][0], "broken.csv"), (record["outputs"][0], "out.csv")):
        assert part["sha256"] == sha256(Path(path).read_bytes()).hexdigest()
        assert part["bytes"] == Path(path).stat().st_size
    model = sha256(Path("model.skops").read_bytes()).hexdigest()
    assert record["files"]["--model"]["sha256"] == model
    assert record["options"] == {"on_error": "skip", "evidence": True}
    assert record["versions"]["shafer"] == shafer.__version__
    assert record["versions"]["numpy"] == np.__version__
    told = (record["status"], record["exit_code"], record["rows"], record["bad_rows"])
    assert told == ("done", 1, 57, 3)
    assert 0.0 < record["seconds"] < 600.0
    assert run(*call).exit_code == 2
    record = json.loads(Path("logs/run.json").read_text())
    assert (record["status"], record["exit_code"]) == ("error", 2)
    assert "row 7: Column 'age'" in record["message"]
    (folder / "data").mkdir()
    os.rename("whole.csv", "data/0.csv")
    assert run("score", "data", *MODEL, "--out", "out").exit_code == 0
    record = json.loads(Path("out/_run.json").read_text())
    whole = Path("out/part-00000.parquet").read_bytes()
    assert record["outputs"][0]["sha256"] == sha256(whole).hexdigest()
    assert "sha256" not in record["inputs"][0]
    written = Path("out/_run.json").read_bytes()
    assert run("score", "data", *MODEL, "--out", "out").exit_code == 0
    assert Path("out/_run.json").read_bytes() == written  # that of the run that wrote the parts


def test_the_exit_code_1_is_never_an_error(
    broken: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ("score", "whole.csv", *MODEL, "--out", "out.csv")
    for error, code in ((KeyError("broken"), 2), (KeyboardInterrupt(), 130)):

        def stopped(*_: Any, error: BaseException = error, **__: Any) -> Any:
            raise error

        monkeypatch.setattr(shafer.Explainer, "observe", stopped)
        assert run(*call).exit_code == code


# Cells of CSV files that a spreadsheet would run.


def test_cells_that_start_a_formula_are_escaped_and_read_back(folder: Path) -> None:
    texts = [
        "=1+1",
        "-5",
        "+3.5e2",
        "-2+3",
        "@x",
        "'=y",
        "+49 170",
        "-",
        "\t=1",
        "plain",
        "'k",
    ]
    frame = pd.read_csv(folder / "heart.csv").iloc[: len(texts)]
    frame.assign(key=texts, debt=-1.5).to_csv(folder / "new.csv", index=False)
    call = ("score", folder / "new.csv", "--model", folder / "model.skops")
    call = (*call, "--keep", "key", "--keep", "debt", "--out")
    written = folder / "scored.csv"
    assert run(*call, written).exit_code == 0
    cells = pd.read_csv(written, dtype=str, keep_default_na=False)
    assert cells["key"].tolist() == [
        "'=1+1", "-5", "+3.5e2", "'-2+3", "'@x", "'=y", "'+49 170", "-", "'\t=1", "plain", "'k",
    ]  # fmt: skip
    assert set(cells["debt"]) == {"-1.5"}
    assert run(*call, folder / "raw.csv", "--raw-csv").exit_code == 0
    raw = pd.read_csv(folder / "raw.csv", dtype=str, keep_default_na=False)
    assert raw["key"].tolist() == texts
    # Read by this library, the cells are those of the user again.
    frame.assign(key=cells["key"]).to_csv(folder / "again.csv", index=False)
    again = ("score", folder / "again.csv", *call[2:6], "--out", folder / "again.parquet")
    assert run(*again).exit_code == 0
    found = pd.read_parquet(folder / "again.parquet")["key"].tolist()
    assert found == [text.removeprefix("'") if text == "'=y" else text for text in texts]
    assert run(*again[:-1], folder / "raw.parquet", "--raw-csv").exit_code == 0
    assert pd.read_parquet(folder / "raw.parquet")["key"].tolist() == cells["key"].tolist()
    frame.assign(**{"=sum": 1}).to_csv(folder / "header.csv", index=False)
    header = ("score", folder / "header.csv", *call[2:4], "--keep", "=sum", "--out")
    refused("The column name '=sum' starts a formula", *header, folder / "h.csv")
    assert run(*header, folder / "h.csv", "--raw-csv").exit_code == 0


# The rows that fail, among those that do not.


@pytest.mark.parametrize("bad", [[], [0], [9], [3, 4, 5], list(range(10))])
@pytest.mark.parametrize("error", [ValueError, TypeError, "named", "misnamed"])
def test_exactly_the_rows_that_fail_alone_are_bad(bad: list[int], error: Any) -> None:
    calls = []

    def score(rows: Any) -> list[int]:
        calls.append(len(rows))
        places = [k for k, row in enumerate(rows.tolist()) if row in bad]
        if not places:
            return list(rows.tolist())
        if error == "named":
            raise shafer.BadRowsError("x", places, [f"row {rows[k]}" for k in places], None)
        if error == "misnamed":  # as from a library that looks at other rows
            raise shafer.BadRowsError("x", [places[0], 99], ["a", "b"], None)
        raise error(f"row {rows[places[0]]}")

    every = np.arange(10)
    found = divided(score, every)
    good = [row for row in range(10) if row not in bad]
    assert (found.good.tolist(), found.result) == (good, good or None)
    assert sorted(found.bad) == bad
    if error != "misnamed":
        assert found.bad == {row: f"row {row}" for row in bad}
    if error == "named":
        assert len(calls) <= 4  # also if there are many
    if bad:
        with pytest.raises((ValueError, TypeError)) as caught:
            score(every)
        one = first_bad(score, every, caught.value)
        assert one is not None
        assert one[0] == bad[0]


def test_rows_that_fail_only_together_are_not_bad() -> None:
    def score(rows: Any) -> int:
        if len(rows) > 3:
            raise ValueError("too many")
        return len(rows)

    with pytest.raises(ValueError, match="too many"):
        divided(score, np.arange(10))
    assert first_bad(score, np.arange(10), ValueError("too many")) is None


def test_the_column_of_a_quoted_cell() -> None:
    names, cells = ["a", "b"], ["x", "old"]
    text = "could not convert string to float: 'old'"
    assert with_column(text, names, cells) == f"Column 'b': {text}"
    assert with_column(text, names, ["old", "old"]) == text  # of which one is it?
    assert with_column("'b' has 'old'", names, cells) == "'b' has 'old'"
