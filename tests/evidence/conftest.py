from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shafer


@pytest.fixture
def pool() -> Any:
    rng = np.random.default_rng(0)
    return shafer.least_commitment(
        rng.normal(size=(3, 4)), rng.normal(size=3), classes=["a", "b", "c"], names=list("wxyz")
    )


@pytest.fixture
def X() -> Any:
    return np.random.default_rng(1).normal(size=(6, 4)).round(1)
