"""Run pytest in a fork: for every test file to trace the unchanged code, then for every mutant.

The program imports the packages it is given, those that most tests need. It then forks for each
request, one JSON object in a line: to import them again for each mutant would take longer than its
tests do.

``trace DATA TESTS SECONDS FILE`` runs a test file. It writes a coverage file that knows which test
runs each line, and a JSON file with the seconds of each test that passes and with the others.
``run TESTS FAILED`` runs the tests listed in a JSON file, in that order, up to the first failure,
and writes its name to the file FAILED.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import coverage
import pytest

# The last one: a plugin of pytest may have been imported with the packages below.
OPTIONS = (
    *("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
# What tests import besides the package. numba is not here: it reads the folder of its cache when
# it is imported.
HEAVY = (
    "scipy.stats",
    "scipy.optimize",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.datasets",
    "sklearn.pipeline",
    "sklearn.compose",
    "sklearn.neural_network",
    "pandas",
    "pyarrow.parquet",
    "matplotlib.pyplot",
    "torch",
)
MEMORY = 12 * 2**30  # bytes of address space, besides what the packages take


def module_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


class Tracer:
    """Writes down which test runs each line, and how long it takes.

    What runs before and after a test may be shared with others (a fixture of the module), so it
    counts for all tests of the module.
    """

    def __init__(self, lines: coverage.Coverage, ends: float) -> None:
        self.lines, self.ends = lines, ends
        self.seconds = Counter[str]()
        self.left_out: dict[str, str] = {}

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Stop where the time is up: what was not run is not used."""
        if time.monotonic() > self.ends:
            item.session.shouldstop = "the time is up"

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
        if report.outcome != "passed":
            self.left_out[report.nodeid] = report.outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what cannot be imported."""
        if report.failed:
            self.left_out[report.nodeid] = "not imported"


class Chosen:
    """Keeps the chosen tests only, in their order, and the name of the first that fails."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}
        self.failed: str | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select and sort."""
        chosen = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first failure."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid


def clear_caches() -> None:
    """Forget cached results: the lines behind them would count for the first test only."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("shafer", "tests")):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def trace(data: str, tests: str, seconds: str, file: str) -> int:
    """Run a test file and write what each of its tests runs."""
    lines = coverage.Coverage(data_file=data, config_file=False, source=["src"])
    lines.set_option("run:relative_files", True)
    tracer = Tracer(lines, time.monotonic() + float(seconds))
    lines.start()
    code = pytest.main([*OPTIONS, file], plugins=[tracer])
    lines.stop()
    lines.save()
    passed = {test: took for test, took in tracer.seconds.items() if test not in tracer.left_out}
    Path(tests).write_text(json.dumps({"seconds": passed, "left_out": tracer.left_out}))
    return int(code)


def run(tests: str, failed: str) -> int:
    """Run the tests listed in a file, up to the first failure."""
    chosen = Chosen(json.loads(Path(tests).read_text()))
    modules = sorted({module_of(test) for test in chosen.place})
    code = pytest.main(["-x", *OPTIONS, *modules], plugins=[chosen])
    Path(failed).write_text(json.dumps(chosen.failed))
    return int(code)


def serve(heavy: list[str]) -> None:
    """Fork for each request; answer with the process number, and in the end its exit status."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the packages print does not get into the answers
    for name in heavy:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            answers.close()
            _child(**json.loads(line))
        print(child, file=answers, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)


def _child(arguments: list[str], root: str, log: str, environment: dict[str, str]) -> None:
    """Become a process of its own, in a tree of its own, and end it."""
    code = 70
    try:
        os.setsid()
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        os.chdir(root)
        os.environ.update(environment)
        sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
        code = {"trace": trace, "run": run}[arguments[0]](*arguments[1:])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1:])
