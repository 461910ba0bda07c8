"""Fixtures shared by the whole suite."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# scikit-learn skips its array-API checks without this; it must be set before SciPy is loaded.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Two workers whose OpenMP threads wait for each other take minutes over a small boosted model.
os.environ.setdefault("OMP_NUM_THREADS", "1")

GOLDEN = Path(__file__).parent / "golden"

# The same examples on every machine: a failure in CI is a failure at the desk.
settings.register_profile(
    "shafer", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shafer")


def _case(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(path.read_text())
    case["exact"] = json.loads((GOLDEN / "exact" / path.name).read_text())
    return case


@pytest.fixture(params=sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    """One model: what the author's R code prints, and under "exact" the 800-digit truth."""
    return _case(request.param)
