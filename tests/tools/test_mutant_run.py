"""A mutant runs in a copy of the tree, against the tests that run the changed line."""

from __future__ import annotations

import sys
from pathlib import Path

import coverage
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from covering_tests import CoveringTests
from mutant_records import Records
from mutant_run import Outcome, Tree
from mutant_sites import Mutant, mutants_of

PATH = "src/shafer/toy/twice.py"
SOURCE = """\
from functools import cache

FACTOR = 2


def twice(x):
    return FACTOR * x


def made():
    return 5


@cache
def kept():
    return 6


def later(x):
    def inner():
        return 7

    return inner() + x


def unused():
    return 8
"""
OWN_TEST = """\
from shafer.toy.twice import kept, later, twice

AT_IMPORT = later(1)

def test_twice():
    assert twice(3) == {}

def test_kept_is_a_number():
    assert kept()

def test_later():
    assert later(0) == 7
"""
OTHER_TEST = """\
import time
import pytest
from shafer.toy.twice import kept, made, twice

@pytest.fixture(scope="module")
def five():
    return made()

def test_five_is_a_number(five):
    time.sleep(0.1)
    assert five

def test_five(five):
    assert five == 5

def test_kept():
    time.sleep(0.2)
    assert kept() == 6

def test_slow():
    time.sleep(0.3)
    assert twice(2) == 4
"""


def make(root: Path, expected: int = 6) -> Path:
    for path, text in {
        "src/shafer/__init__.py": "",
        PATH: SOURCE,
        "tests/toy/test_twice.py": OWN_TEST.format(expected),
        "tests/toy/test_other.py": OTHER_TEST,
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--import-mode=importlib']\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tree, CoveringTests]:
    """Return a copy of a small tree, and what its tests run."""
    folder = tmp_path_factory.mktemp("toy")
    tree = Tree.copy(make(folder / "original"), folder / "copy")
    records = Records(folder / "store", folder / "original", "toy")
    records.trace(tree)
    return tree, records.covering()


def mutant(before: str) -> Mutant:
    return next(m for m in mutants_of(SOURCE, PATH) if m.before == before)


def names(tests: list[str]) -> list[str]:
    return [test.removeprefix("tests/toy/") for test in tests]


@pytest.mark.parametrize(
    ("before", "outcome"),
    [
        ("return FACTOR * x", Outcome.KILLED),
        ("return 6", Outcome.KILLED),
        ("return 8", Outcome.SURVIVED),
    ],
)
def test_outcomes(toy: tuple[Tree, CoveringTests], before: str, outcome: Outcome) -> None:
    tree, covering = toy
    assert tree.outcome(mutant(before), covering) is outcome
    assert (tree.root / PATH).read_text() == SOURCE


def test_own_tests_come_first_then_the_shortest(toy: tuple[Tree, CoveringTests]) -> None:
    _, covering = toy
    assert names(covering.of(mutant("return FACTOR * x"))) == [
        "test_twice.py::test_twice",
        "test_other.py::test_slow",
    ]


def test_a_fixture_counts_for_every_test_of_its_module(toy: tuple[Tree, CoveringTests]) -> None:
    _, covering = toy
    tests = names(covering.of(mutant("return 5")))
    assert {"test_other.py::test_five_is_a_number", "test_other.py::test_five"} <= set(tests)
    assert all(test.startswith("test_other.py") for test in tests)


def test_a_cached_result_counts_for_every_test(toy: tuple[Tree, CoveringTests]) -> None:
    _, covering = toy
    assert names(covering.of(mutant("return 6"))) == [
        "test_twice.py::test_kept_is_a_number",
        "test_other.py::test_kept",
    ]


@pytest.mark.parametrize("before", ["FACTOR = 2", "return 7", "return 8"])
def test_lines_without_tests_of_their_own(toy: tuple[Tree, CoveringTests], before: str) -> None:
    """A line that runs at import, or that is never seen to run, gets every test of the folder."""
    _, covering = toy
    tests = covering.of(mutant(before))
    assert sorted(tests) == sorted(covering.seconds)
    assert [test for test in names(tests)[:3] if not test.startswith("test_twice.py")] == []
    assert covering.duration(tests) > 0.6


def test_tests_must_pass_without_a_change(tmp_path: Path) -> None:
    tree = Tree.copy(make(tmp_path / "original", expected=7), tmp_path / "copy")
    records = Records(tmp_path / "store", tmp_path / "original", "toy")
    for _ in range(2):  # a failed run is not taken for a finished one
        with pytest.raises(RuntimeError, match="toy fail without any change(.|\n)*assert twice"):
            records.trace(tree)


def test_records_last_until_a_file_changes(tmp_path: Path) -> None:
    root, store = make(tmp_path / "original"), tmp_path / "store"
    records = Records(store, root, "toy")
    records.trace(Tree.copy(root, tmp_path / "copy"))
    records.put(mutant("return 5"), Outcome.KILLED)
    again = Records(store, root, "toy")
    assert again.get(mutant("return 5")) == "killed"
    again.trace(Tree(tmp_path / "gone"))  # known already: runs nothing
    assert again.covering().seconds == records.covering().seconds
    (root / "tests/toy/test_new.py").write_text("")
    assert Records(store, root, "toy").get(mutant("return 5")) is None


def test_tests_that_are_ended_from_outside(tmp_path: Path) -> None:
    root = make(tmp_path / "original")
    stopping = "import os, signal\ndef test_stop(): os.kill(os.getpid(), signal.SIGTERM)\n"
    tree, lines = Tree.copy(root, tmp_path / "copy"), coverage.CoverageData(str(tmp_path / "none"))
    (tree.root / "tests/toy/test_stop.py").write_text(stopping)
    covering = CoveringTests({"tests/toy/test_stop.py::test_stop": 0.1}, lines)
    assert tree.outcome(mutant("return 5"), covering) is Outcome.STOPPED
