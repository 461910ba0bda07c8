"""A short, fixed part of ``make fuzz``."""

from __future__ import annotations

import pytest

from .areas import AREAS


@pytest.mark.parametrize("name", AREAS)
def test_first_seeds(name: str) -> None:
    area = AREAS[name]
    assert sum(area.check(seed) for seed in range(area.short)) >= area.short
