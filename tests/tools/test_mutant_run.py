"""A mutant runs in a copy of the tree, against the tests of its folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from mutant_run import Outcome, Tree
from mutant_sites import Mutant, mutants_of

SOURCE = "def twice(x):\n    return 2 * x\n\n\ndef unused():\n    return 1\n"
TEST = "from shafer.toy.twice import twice\n\n\ndef test_twice():\n    assert twice(3) == {}\n"
PATH = "src/shafer/toy/twice.py"


def make(root: Path, expected: int) -> Tree:
    original = root / "original"
    for path, text in {
        "src/shafer/__init__.py": "",
        PATH: SOURCE,
        "tests/toy/test_twice.py": TEST.format(expected),
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }.items():
        (original / path).parent.mkdir(parents=True, exist_ok=True)
        (original / path).write_text(text)
    return Tree.copy(original, root / "copy")


def mutant(before: str) -> Mutant:
    return next(m for m in mutants_of(SOURCE, PATH) if m.before == before)


def test_outcomes(tmp_path: Path) -> None:
    tree = make(tmp_path, 6)
    assert tree.outcome(mutant("return 2 * x")) is Outcome.KILLED
    assert tree.outcome(mutant("return 1")) is Outcome.SURVIVED
    for root in ("original", "copy"):
        assert (tmp_path / root / PATH).read_text() == SOURCE


def test_tests_must_pass_without_a_change(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="The tests of toy fail without any change"):
        make(tmp_path, 7).outcome(mutant("return 1"))
