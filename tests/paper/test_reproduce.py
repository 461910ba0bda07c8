from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from shafer.cli import main
from shafer.paper import reproduce, run
from shafer.paper.findings import verdict

FIGURES = (
    "binary-views",
    "contours",
    "decision-regions",
    "epochs",
    "gaussian-data",
    "gaussian-masses",
    "generalised",
    "heart-data",
    "heart-masses",
    "heart-planes",
    "heart-weights",
    "hidden-unit",
    "hidden-units",
    "multinomial-views",
)


def _without_time(path: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(path.read_text())
    results.pop("seconds")
    return results


def test_quick_run(tmp_path: Path) -> None:
    first, second = tmp_path / "deep" / "first", tmp_path / "second"
    result = CliRunner().invoke(main, ["paper", "--quick", "--seed", "7", "--out", str(first)])
    assert result.exit_code == 0, result.output
    assert "cut-offs at age 49.67" in result.stdout
    assert "the paper's number lies" in result.stdout
    assert "figures: 100%" in result.stderr
    expected = {f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")}
    assert {path.name for path in first.iterdir()} == expected | {"index.html", "results.json"}
    _check_keys(json.loads((first / "results.json").read_text()))
    _check_page((first / "index.html").read_text())
    reproduce(str(second), quick=True, seed=7)
    assert _without_time(first / "results.json") == _without_time(second / "results.json")
    for name in ("heart-planes.png", "decision-regions.svg"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def _check_keys(results: dict[str, Any]) -> None:
    heart, gaussian = results["heart"], results["gaussian"]
    assert set(heart["cutoffs"]) == {"age", "ldl"}
    assert [len(row) for row in heart["mp"]] == [2, 2]
    assert [len(row) for row in heart["id"]] == [2, 2, 2]
    for name in ("bayes_error", "mp_error", "id_error", "pairs", "triples"):
        assert {"paper", "median", "low", "high"} <= set(gaussian[name])
        assert 0 <= gaussian[name]["low"] <= gaussian[name]["median"] <= gaussian[name]["high"]
    assert results["seconds"] > 0


def _check_page(html: str) -> None:
    assert html.count("data:image/png;base64,") == len(FIGURES)
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', html)  # nothing outside the page
    numbers = {int(number) for number in re.findall(r"Figure (\d+)", html)}
    assert numbers == set(range(1, 13))
    gaps = re.findall(r"the largest difference\s+is (\S+)\.", html)
    assert len(gaps) == 2
    assert max(map(float, gaps)) < 1e-14
    for words in ("A quick run", "Table 4", "prefers-color-scheme: dark"):
        assert words in html


def test_lambda_is_selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def blank(figure: Figure, folder: Path, name: str) -> None:  # a quick run tests the pictures
        (folder / f"{name}.png").write_bytes(b"")

    monkeypatch.setattr(run, "save_figure", blank)
    results = reproduce(tmp_path, quick=True, select_lambda=True)
    selection = results["gaussian"]["selection"]
    assert results["gaussian"]["penalty"] == selection["penalty"]
    assert results["gaussian"]["epochs"] == selection["epochs"]
    assert "Choosing λ" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(10, 20, "in the range"), (18, 20, "below the range"), (10, 12, "above the range")],
)
def test_verdict(low: float, high: float, words: str) -> None:
    row = {"paper": 17.5, "low": low, "high": high, "paper_in_range": low <= 17.5 <= high}
    assert verdict(row) == f"the paper's number lies {words}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--out'"),
        (["--out", __file__], "is a file"),
        (["--out", "x", "--seed", "-1"], "-1 is not in the range"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["paper", *arguments])
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, True])
def test_wrong_seed(tmp_path: Path, seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be an integer from 0"):
        reproduce(tmp_path, seed=seed)


@pytest.mark.parametrize("module", ["torch", "matplotlib"])
def test_a_missing_extra_is_named(tmp_path: Path, module: str) -> None:
    code = f"""
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from shafer.cli import main
main(["paper", "--out", {str(tmp_path)!r}])
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"Error: This command needs {module}; "
        "run: pip install '.[paper]' in a copy of the repository\n"
    )
