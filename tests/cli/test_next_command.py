"""``shafer next``: whom to measure what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from pandas.testing import assert_frame_equal
from sklearn.tree import DecisionTreeClassifier

import shafer

from .running import refused, run


@pytest.fixture
def gaps(folder: Path) -> Path:
    """The heart table with a tenth of its inputs missing."""
    frame = pd.read_csv(folder / "heart.csv")
    holes = np.random.default_rng(0).random(frame.shape) < 0.1
    holes[:, [frame.columns.get_loc("chd"), frame.columns.get_loc("famhist")]] = False
    frame.mask(holes).to_csv(folder / "gaps.csv", index=False)
    return folder


def explained(folder: Path) -> tuple[shafer.Explainer, pd.DataFrame]:
    model = skops.io.load(folder / "model.skops")
    columns = list(model.feature_names_in_)
    explainer = shafer.Explainer(model, pd.read_csv(folder / "heart.csv")[columns])
    return explainer, pd.read_csv(folder / "gaps.csv")[columns]


def command(folder: Path, *more: object, data: str = "gaps.csv") -> list[object]:
    model = ["--model", folder / "model.skops", "--train", folder / "heart.csv"]
    return ["next", folder / data, *model, *more]


@pytest.mark.parametrize("ending", ["csv", "parquet", "csv.gz"])
def test_the_plan_within_a_budget(gaps: Path, ending: str) -> None:
    out = gaps / f"plan.{ending}"
    result = run(*command(gaps, "--budget", 50, "--costs", "ldl=2.5", "--out", out))
    assert result.exit_code == 0, result.output
    found = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out)
    explainer, X = explained(gaps)
    true = explainer.ask.next_measurements(X, 50, costs={"ldl": 2.5}, backend="pandas")
    true = true.drop(columns="index")
    assert_frame_equal(found, true)
    total = f"{len(true)} measurements in {true['row'].nunique()} rows, cost {true['cost'].sum():g}"
    assert f"Within a budget of 50: {total}" in result.output
    assert f"Written to {out}: {len(true)} rows." in result.output
    first = true.iloc[0]
    line = next(text for text in result.output.splitlines() if text.split()[:1] == ["1"])
    assert line.split()[1:4] == [str(first["row"]), first["input"], f"{first['information']:.4f}"]


def test_the_next_inputs_of_each_row(gaps: Path) -> None:
    out = gaps / "each.csv"
    result = run(*command(gaps, "--top", 2, "--out", out))
    assert result.exit_code == 0, result.output
    explainer, X = explained(gaps)
    true = explainer.ask.next_inputs(X, 2, backend="pandas").drop(columns="index")
    assert_frame_equal(pd.read_csv(out), true)
    assert f"{true['row'].nunique()} of 462 rows lack an input" in result.output
    assert "Within a budget" not in result.output


def test_costs_in_a_table(gaps: Path) -> None:
    pd.DataFrame({"input": ["age", "ldl"], "cost": [4.0, 2.5]}).to_csv(
        gaps / "costs.csv", index=False
    )
    one = run(*command(gaps, "--budget", 20, "--costs", gaps / "costs.csv"))
    other = run(*command(gaps, "--budget", 20, "--costs", "age=4", "--costs", "ldl=2.5"))
    assert one.exit_code == other.exit_code == 0, one.output
    assert one.output == other.output


def test_a_model_trained_here(gaps: Path) -> None:
    result = run("next", gaps / "gaps.csv", "--train", gaps / "heart.csv", "--target", "chd")
    assert result.exit_code == 0, result.output
    assert "rows lack an input" in result.output


def test_a_saved_explainer_needs_no_training_data(gaps: Path) -> None:
    explainer, X = explained(gaps)
    skops.io.dump(explainer, gaps / "explainer.skops")
    data, out = gaps / "inputs.csv", gaps / "plan.csv"
    X.to_csv(data, index=False)
    result = run("next", data, "--model", gaps / "explainer.skops", "--budget", 9, "--out", out)
    assert result.exit_code == 0, result.output
    true = explainer.ask.next_measurements(X, 9, backend="pandas").drop(columns="index")
    assert_frame_equal(pd.read_csv(out), true)


def test_nothing_is_missing(gaps: Path) -> None:
    result = run(*command(gaps, "--budget", 5, data="heart.csv"))
    assert result.exit_code == 0, result.output
    assert result.output.strip() == "Nothing to measure: no input is missing in these 462 rows."


def test_a_budget_too_small(gaps: Path) -> None:
    result = run(*command(gaps, "--budget", 0.5))
    assert result.exit_code == 0, result.output
    assert "Within a budget of 0.5, nothing can be measured" in result.output


def test_errors(gaps: Path) -> None:
    refused("budget must be a number > 0", *command(gaps, "--budget", 0))
    refused("budget must be a number > 0", *command(gaps, "--budget", "nan"))
    refused("gives '-1' as the cost of 'age'", *command(gaps, "--costs", "age=-1"))
    refused("gives 'cheap' as the cost of 'age'", *command(gaps, "--costs", "age=cheap"))
    refused("'age' twice", *command(gaps, "--costs", "age=1", "--costs", "age=2"))
    refused("costs names 'height'", *command(gaps, "--costs", "height=1"))
    refused("a cost such as age=2.5", *command(gaps, "--costs", "nowhere.csv"))
    refused("lacks the column(s) 'input', 'cost'", *command(gaps, "--costs", gaps / "heart.csv"))
    refused("A table must be a .csv", *command(gaps, "--out", gaps / "plan.txt"))
    refused("another file than the data", *command(gaps, "--out", gaps / "gaps.csv"))
    refused("does not exist", *command(gaps, data="nowhere.csv"))
    data = gaps / "gaps.csv"
    refused("shafer next needs --model", "next", data)
    refused("with --train", "next", data, "--model", gaps / "model.skops")


def test_costs_given_twice_in_a_table(gaps: Path) -> None:
    pd.DataFrame({"input": ["age", "age"], "cost": [4.0, 2.5]}).to_csv(
        gaps / "costs.csv", index=False
    )
    refused("'age' twice", *command(gaps, "--costs", gaps / "costs.csv"))


def test_other_models_cannot_be_asked(gaps: Path) -> None:
    frame = pd.read_csv(gaps / "heart.csv").drop(columns=["famhist"])
    X = frame.drop(columns=["chd"])
    tree = DecisionTreeClassifier(max_depth=2).fit(X, frame["chd"])
    skops.io.dump(tree, gaps / "tree.skops")
    out = gaps / "plan.csv"
    result = run(
        *["next", gaps / "gaps.csv", "--model", gaps / "tree.skops", "--train", gaps / "heart.csv"],
        *["--trust", "sklearn.tree._tree.Tree", "--out", out],
    )
    assert result.exit_code == 2
    assert not out.exists()


def test_no_file_is_left_behind(gaps: Path) -> None:
    (gaps / "plan.csv").write_text("old")
    refused("costs names", *command(gaps, "--costs", "height=1", "--out", gaps / "plan.csv"))
    assert (gaps / "plan.csv").read_text() == "old"
