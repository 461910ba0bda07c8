"""Run pytest in a process of its own: once to trace the unchanged code, then for every mutant.

``trace DATA SECONDS PATH...`` runs the tests in the paths. It writes a coverage file that knows
which test runs each line and, if all tests pass, a JSON file with the seconds of each.
``run TESTS`` runs the tests listed in a JSON file, in that order, up to the first failure.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from pathlib import Path

import coverage
import pytest

OPTIONS = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")


def module_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


class Tracer:
    """Writes down which test runs each line, and how long it takes.

    What runs before and after a test may be shared with others (a fixture of the module), so it
    counts for all tests of the module.
    """

    def __init__(self, lines: coverage.Coverage) -> None:
        self.lines = lines
        self.seconds = Counter[str]()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Start a test as if it were the first."""
        clear_caches()
        self.lines.switch_context(module_of(item.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """From here on, lines are run by the test itself."""
        self.lines.switch_context(item.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """From here on, lines are run by the module's fixtures."""
        self.lines.switch_context(module_of(item.nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the seconds of setup, call and teardown."""
        self.seconds[report.nodeid] += report.duration


class Chosen:
    """Keeps the chosen tests only, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select and sort."""
        chosen = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])


def clear_caches() -> None:
    """Forget cached results: the lines behind them would count for the first test only."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("shafer", "tests")):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def trace(data: str, seconds: str, *paths: str) -> int:
    """Run the tests in the paths and write what each of them runs."""
    lines = coverage.Coverage(data_file=data, config_file=False, source=["src"])
    lines.set_option("run:relative_files", True)
    tracer = Tracer(lines)
    lines.start()
    code = pytest.main([*OPTIONS, *paths], plugins=[tracer])
    lines.stop()
    lines.save()
    if code == pytest.ExitCode.OK:
        Path(seconds).write_text(json.dumps(tracer.seconds))
    return int(code)


def run(file: str) -> int:
    """Run the tests listed in a file."""
    tests = json.loads(Path(file).read_text())
    modules = sorted({module_of(test) for test in tests})
    return int(pytest.main([*OPTIONS, *modules], plugins=[Chosen(tests)]))


if __name__ == "__main__":
    sys.exit({"trace": trace, "run": run}[sys.argv[1]](*sys.argv[2:]))
