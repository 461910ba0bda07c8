from __future__ import annotations

from collections.abc import Iterator

import pytest

from shafer.paper.network import one_thread


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep tests that run side by side from fighting over the cores."""
    with one_thread():
        yield
