"""Fixtures shared by the whole suite."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# scikit-learn skips its array-API checks without this; it must be set before SciPy is loaded.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Two workers whose OpenMP threads wait for each other take minutes over a small boosted model.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Threads that wait sleep. The other worker needs the processor.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# `make coverage` requires 95 % of the folders with the mathematics. These tests reach it. To trace
# all the others too would take two minutes.
MATHEMATICS = {
    "belief",
    "conformal",
    "decision",
    "evidence",
    "fusion",
    "kernels",
    "masses",
    "metrics",
}
ITS_CALLERS = {"deferral", "texts", "torch", "test_text_display.py"}
# Random cases run the same lines again and again, and tracing makes the drawing of them slow too.
RANDOM = {"test_against_oracle.py"}

# `pytest --core`: tests in which another library, Python or the system can change the result. They
# run with the lowest and the newest libraries, and on other systems. The rest is arithmetic, or
# needs an engine, a browser or the documentation.
TESTS = Path(__file__).parent
CORE = {
    *("cli", "datasets", "estimators", "export", "kernels", "models", "plots", "report", "rows"),
    *("saving", "scale", "scorecards"),
    *("evidence/test_file.py", "evidence/test_table.py", "evidence/test_reasons.py"),
    *("test_golden.py", "test_public_api.py"),
}
NOT_CORE = {
    *("scale/test_on_dask.py", "scale/test_on_ray.py", "scale/test_on_spark.py"),
    "plots/test_gallery.py",  # pixels, which differ with matplotlib and FreeType
}

GOLDEN = TESTS / "golden"

# The same examples on every machine: a failure in CI is a failure at the desk.
settings.register_profile(
    "shafer", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shafer")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--core", action="store_true", help="only what other libraries can change")


@pytest.hookimpl(tryfirst=True)  # before pytest-mpl reads it
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--core"):
        config.option.mpl = False  # pictures are drawn, not compared


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption("--core") or not collection_path.is_relative_to(TESTS):
        return None
    name = collection_path.relative_to(TESTS).as_posix()
    folders = {str(p) for entry in CORE for p in Path(entry).parents}
    inside = any(name == entry or name.startswith(entry + "/") for entry in CORE)
    return None if (inside or name in folders) and name not in NOT_CORE else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin("_cov"):  # without --cov
        return
    files = {item.path for item in items}
    traced = {path for path in files if _is_traced(path.relative_to(config.rootpath))}
    for item in items:
        if item.path not in traced:
            item.add_marker(pytest.mark.no_cover)


def _is_traced(path: Path) -> bool:
    names = set(path.parts)
    return not names.isdisjoint(MATHEMATICS | ITS_CALLERS) and names.isdisjoint(RANDOM)


@pytest.fixture(autouse=True)
def _torch_keeps_one_thread() -> Iterator[None]:
    """Undo what numba does to torch.

    Both use one OpenMP library. The first compiled kernel of numba that runs in parallel sets the
    number of threads for torch too, and training a small network then takes fifty times as long.
    """
    yield
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() > 1:
        torch.set_num_threads(1)


def _case(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(path.read_text())
    case["exact"] = json.loads((GOLDEN / "exact" / path.name).read_text())
    return case


@pytest.fixture(params=sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    """One model: what the author's R code prints, and under "exact" the 800-digit truth."""
    return _case(request.param)
