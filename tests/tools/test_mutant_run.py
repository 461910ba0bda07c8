"""A mutant runs in a copy of the tree, against the tests that run the changed line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from covering_tests import FILES, CoveringTests, Trace, homes_of
from mutant_records import Records
from mutant_run import Outcome, Server, Tree
from mutant_sites import Mutant, mutants_of
from mutants import FOLDERS

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
def server() -> Iterator[Server]:
    server = Server(heavy=())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield server
    server.close()


def copied(original: Path, root: Path, server: Server) -> Tree:
    return replace(Tree.copy(original, root), server=server)


def traced(records: Records, tree: Tree) -> CoveringTests:
    ended = [records.trace(file, tree, 60.0) for file in records.files]
    assert all(ended)
    return records.covering()


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, server: Server) -> tuple[Tree, CoveringTests]:
    """Return a copy of a small tree, and what its tests run."""
    folder = tmp_path_factory.mktemp("toy")
    tree = copied(make(folder / "original"), folder / "copy", server)
    return tree, traced(Records(folder / "store", folder / "original", ["toy"]), tree)


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
    assert tree.outcome(mutant(before), covering).outcome is outcome
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


def test_tests_that_fail_without_a_change_are_left_out(tmp_path: Path, server: Server) -> None:
    root = make(tmp_path / "original", expected=7)
    (root / "tests/toy/test_missing.py").write_text("import no_such_package\n")
    (root / "tests/toy/test_skipped.py").write_text(
        "import pytest\ndef test_here(): pytest.skip('not here')\n"
    )
    tree = copied(root, tmp_path / "copy", server)
    covering = traced(Records(tmp_path / "store", root, ["toy"]), tree)
    assert covering.left_out == {
        "tests/toy/test_twice.py::test_twice": "failed",
        "tests/toy/test_missing.py": "not imported",
        "tests/toy/test_skipped.py::test_here": "skipped",
    }
    assert names(covering.of(mutant("return FACTOR * x"))) == ["test_other.py::test_slow"]


def test_a_failure_has_to_be_the_mutant_s(tmp_path: Path, server: Server) -> None:
    """A test that fails after other tests, with or without the change, kills nothing."""
    root = make(tmp_path / "original")
    (root / "tests/toy/test_order.py").write_text(
        "import sys\nfrom shafer.toy.twice import unused\n"
        "def test_here():\n    assert unused() or True\n    sys.seen = True\n"
        "def test_other():\n    assert unused() or True\n    assert not hasattr(sys, 'seen')\n"
    )
    tree = copied(root, tmp_path / "copy", server)
    here, other = (f"tests/toy/test_order.py::test_{name}" for name in ("here", "other"))
    trace = Trace({here: 0.1, other: 0.2}, {}, tmp_path / "none")
    stage = tree.stage(mutant("return 8"), [here, other], lambda tests: 0.1)
    assert stage.outcome is Outcome.SURVIVED
    assert CoveringTests((trace,)).duration([here, other]) == pytest.approx(0.3)


def test_an_endless_loop_is_a_timeout(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mutant_run.SHORTEST_TIMEOUT", 1.0)
    root = make(tmp_path / "original")
    test = "tests/toy/test_loop.py::test_loop"
    (root / "tests/toy/test_loop.py").write_text(
        "from shafer.toy.twice import made\ndef test_loop():\n    while made() != 5: pass\n"
    )
    tree = copied(root, tmp_path / "copy", server)
    ended = tree.stage(mutant("return 5"), [test], lambda tests: 0.1)
    assert ended.outcome is Outcome.TIMEOUT
    assert tree.stage(mutant("return 8"), [test], lambda tests: 0.1).outcome is Outcome.SURVIVED


def test_records_last_until_a_file_changes(tmp_path: Path, server: Server) -> None:
    root, store = make(tmp_path / "original"), tmp_path / "store"
    records = Records(store, root, ["toy"])
    covering = traced(records, copied(root, tmp_path / "copy", server))
    records.put(mutant("return 5"), Outcome.KILLED)
    again = Records(store, root, ["toy"])
    assert again.get(mutant("return 5")) == "killed"
    # Known already: runs nothing.
    assert traced(again, Tree(tmp_path / "gone")).seconds == covering.seconds
    (root / "tests/toy/test_new.py").write_text("")
    assert Records(store, root, ["toy"]).get(mutant("return 5")) is None


def test_tests_that_are_ended_from_outside(tmp_path: Path, server: Server) -> None:
    root = make(tmp_path / "original")
    stopping = "import os, signal\ndef test_stop(): os.kill(os.getpid(), signal.SIGTERM)\n"
    (root / "tests/toy/test_stop.py").write_text(stopping)
    tree, test = copied(root, tmp_path / "copy", server), "tests/toy/test_stop.py::test_stop"
    stage = tree.stage(mutant("return 5"), [test], lambda tests: 0.1)
    assert stage.outcome is Outcome.STOPPED


def test_every_folder_of_the_table_exists() -> None:
    root = Path(__file__).parents[2]
    assert {path.parts[-2] for path in root.glob("src/shafer/*/__init__.py")} >= set(FOLDERS) - {
        FILES
    }
    assert all((root / home).is_dir() for folder in FOLDERS for home in homes_of(folder))
