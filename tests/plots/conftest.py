from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

import shafer

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if a Display shows its figure, and close what it opened."""
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("show was called"))
    yield
    pyplot.close("all")


@pytest.fixture
def binary() -> shafer.evidence.LinearPool:
    """Two features, two classes; both weights are zero at the cut-offs 50 and 7."""
    return shafer.least_commitment(
        [0.06, 0.2], -4.4, [50.0, 7.0], classes=["no", "yes"], names=["age", "ldl"]
    )


@pytest.fixture(params=[2, 3, 10, 100])
def pool(request: pytest.FixtureRequest) -> shafer.evidence.LinearPool:
    """Three features and K classes."""
    n_classes = request.param
    random = np.random.default_rng(n_classes)
    coef = random.normal(size=(n_classes, 3))
    classes = [f"class {k} <$&>" for k in range(n_classes)]
    if n_classes == 2:
        coef = coef[1:]
    return shafer.least_commitment(coef, np.zeros(len(coef)), classes=classes)
