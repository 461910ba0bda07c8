from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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


@pytest.fixture(params=["evidence", "torch", "discounted"])
def kind(request: pytest.FixtureRequest) -> Callable[[shafer.Evidence], Any]:
    """Turn evidence into another kind with the same numbers: torch tensors, or a discount of 0."""

    def torch(evidence: shafer.Evidence) -> shafer.Evidence:
        import torch

        weights = torch.tensor(np.array(evidence.weights), requires_grad=True)
        names = evidence.component_names
        return shafer.Evidence.from_weights(weights, classes=evidence.classes, names=names)

    def discounted(evidence: shafer.Evidence) -> Any:
        return evidence.discounted(1.0)  # fully reliable

    return {"evidence": lambda e: e, "torch": torch, "discounted": discounted}[request.param]


def inside_figure(display: Any) -> None:
    """Draw, and fail if a limit is not finite or if a text leaves the figure."""
    figure = display.figure_
    figure.canvas.draw()
    for axes in figure.axes:
        assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
        renderer = figure.canvas.get_renderer()
        texts = [*axes.texts, *axes.get_yticklabels(), axes.title, axes.xaxis.label]
        for text in (text for text in texts if text.get_visible() and text.get_text()):
            box = text.get_window_extent(renderer)
            assert np.isfinite(box.extents).all(), text.get_text()
            assert figure.bbox.x0 - 2 <= box.x0, text.get_text()
            assert box.x1 <= figure.bbox.x1 + 2, text.get_text()
            assert figure.bbox.y0 - 2 <= box.y0, text.get_text()
            assert box.y1 <= figure.bbox.y1 + 2, text.get_text()


def apart(texts: list[Any]) -> None:
    """Fail if two texts lie on each other."""
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            up = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert min(across, up) <= 1.0, "two texts overlap"


@pytest.fixture
def drawn_well() -> Callable[..., None]:
    """Give the check that a picture is whole: finite limits, texts inside, tick names apart."""

    def check(display: Any) -> None:
        inside_figure(display)
        for axes in display.figure_.axes:
            apart(axes.get_yticklabels())

    return check


@pytest.fixture
def make() -> Callable[..., shafer.Evidence]:
    """Make evidence of any size, with names that need care."""

    def evidence(n: int = 5, components: int = 4, classes: int = 3) -> shafer.Evidence:
        random = np.random.default_rng(classes * 1000 + components)
        weights = random.normal(size=(n, components, classes)) / np.sqrt(components)
        return shafer.Evidence.from_weights(
            weights - weights.mean(axis=2, keepdims=True),
            classes=[f"class {k} <$&>" for k in range(classes)],
            names=[f"a_component__with_a_$long$_name_{g}" for g in range(components)],
        )

    return evidence
