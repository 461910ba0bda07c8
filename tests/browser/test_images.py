"""Images in the report: the picture, and the evidence of its locations over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shafer
from shafer.datasets import load_fashion, load_fashion_network
from shafer.report import Study, make_study


def _study(**options: Any) -> Study:
    import torch

    def as_input(images: Any) -> Any:
        return torch.from_numpy(images / 255.0).float()[:, None]

    fashion, background = load_fashion(), load_fashion("train")
    explainer = shafer.Explainer(
        load_fashion_network(),
        as_input(background.images[:50]),
        components="locations",
        classes=fashion.target_names,
        prior="own",
        **options,
    )
    return make_study(explainer, as_input(fashion.images[:9]), fashion.target[:9], title="Garments")


@pytest.fixture(scope="module")
def garments() -> Study:
    return _study()


def _contrast(study: Study, row: int, a: int, b: int) -> np.ndarray:
    labels = study.evidence.classes.tolist()
    return np.asarray(study.undiscounted.contrast(labels[a], labels[b])[row])


def _map(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.eval_on_selector("#map", "map => ({ ...map.dataset })")
    return found


def _colours(page: Any, name: str, cells: int) -> np.ndarray:
    """The colours at the centres of an even grid of cells, (cells, cells, 3)."""
    found = page.evaluate(
        """([name, cells]) => {
          const { width, height } = document.getElementById(name);
          const context = document.getElementById(name).getContext("2d");
          const { data } = context.getImageData(0, 0, width, height);
          const at = (part, size) => Math.floor((part + 0.5) * size / cells);
          const places = [...Array(cells).keys()];
          return places.map((i) => places.map((j) => {
            const start = 4 * (at(i, height) * width + at(j, width));
            return [...data.slice(start, start + 3)];
          }));
        }""",
        [name, cells],
    )
    return np.array(found, dtype=float)


def _changed_pixels(page: Any) -> int:
    """How many pixels of the map differ from the last call."""
    found: int = page.eval_on_selector(
        "#map",
        """map => {
          const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
          const before = window.before ?? data;
          window.before = data;
          let count = 0;
          for (let at = 0; at < data.length; at += 4) count += data[at] !== before[at];
          return count;
        }""",
    )
    return found


def test_the_map_is_that_of_the_bars(garments: Study, open_report: Any) -> None:
    opened = open_report(garments)
    page = opened.page
    opened.show(7)
    labels = garments.evidence.classes.tolist()
    scale = np.abs(np.asarray(garments.undiscounted.weights[7])).max() * 2e-3
    for a, b in ((0, 6), (5, 9), (9, 5)):
        opened.compare(a, b)
        contrast = _contrast(garments, 7, a, b)[:49]
        shown = _map(page)
        assert abs(float(shown["for"]) - np.maximum(contrast, 0).sum()) < scale
        assert abs(float(shown["against"]) - np.maximum(-contrast, 0).sum()) < scale
        assert int(shown["best"]) == int(contrast.argmax())
        assert f"{labels[a]} over {labels[b]}" in page.inner_text("#map-title")
        logits = np.asarray(garments.undiscounted.logits[7])
        total = page.inner_text("#map-note").split("log-odds ")[1].split(" ")[0]
        assert abs(float(total.replace("−", "-")) - (logits[a] - logits[b])) < 0.05
    page.wait_for_function("document.getElementById('picture').width === 336")
    assert np.array_equal(_colours(page, "picture", 28)[..., 0], load_fashion().images[7])
    colours = _colours(page, "map", 7).reshape(49, 3)
    blue = colours[:, 2] - colours[:, 0]
    assert blue[contrast.argmax()] > 20  # blue for, orange against
    assert blue[contrast.argmin()] < -20
    box = page.locator("#map").bounding_box()
    page.locator("#map").hover(position={"x": box["width"] / 14, "y": box["height"] / 2})
    where, value = page.inner_text("#map-cell").split(": ")
    assert where == "row 3, column 0"
    assert abs(float(value.replace("−", "-")) - contrast[21]) < 0.02
    assert opened.complaints == []


def test_other_kinds_of_maps(garments: Study, open_report: Any) -> None:
    opened = open_report(garments)
    page = opened.page
    opened.show(3)
    own = np.asarray(garments.undiscounted[3].components.ignorance[0])[:49]
    page.select_option("#map-kind", "ignorance")
    shown = _map(page)
    assert shown["kind"] == "ignorance"
    assert int(shown["best"]) == int(np.argmax(np.round(own * 32767)))
    assert "Ignorance" in page.inner_text("#map-title")
    page.select_option("#map-kind", "disagreement")
    assert "Conflict" in page.inner_text("#map-title")
    assert _changed_pixels(page) == 0
    page.check("#map-grid")
    assert _changed_pixels(page) == 2 * 6 * 336 - 36  # six lines each way, which cross
    assert "images" in page.inner_text("#what-if-note")
    assert opened.complaints == []


def test_judging_first_shows_the_image_alone(garments: Study, open_report: Any) -> None:
    opened = open_report(
        garments, judge_first=True, color_scheme="dark", viewport={"width": 360, "height": 740}
    )
    page = opened.page
    assert page.is_visible("#picture")
    assert not page.is_visible("#map")
    opened.compare(9, 5)
    assert page.is_visible("#map")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_regions(open_report: Any) -> None:
    strips = np.repeat(np.arange(4), 7)[:, None] + np.zeros(28, dtype=int)
    study = _study(groups=strips)
    opened = open_report(study)
    opened.show(5)
    opened.compare(9, 5)
    contrast = _contrast(study, 5, 9, 5)[:4]
    assert int(_map(opened.page)["best"]) == int(contrast.argmax())
    colours = _colours(opened.page, "map", 28)
    blue = (colours[..., 2] - colours[..., 0]).mean(axis=1)
    assert np.array_equal(np.sign(blue[3::7]), np.sign(contrast))
    assert opened.complaints == []


def test_tables_have_no_picture(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    assert opened.page.locator("#image").count() == 0
    assert opened.page.evaluate("shafer.data.images") is None
