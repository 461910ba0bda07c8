from __future__ import annotations

from typing import Any

import pytest

from shafer.datasets import load_heart


@pytest.fixture(scope="module")
def heart() -> Any:
    return load_heart()
