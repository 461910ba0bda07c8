from __future__ import annotations

import base64
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

import shafer
from shafer.evidence import GridLayout, RegionLayout
from shafer.report import Study, make_study
from shafer.report.payload import STORED, image_entries, images_payload


def _study(X: Any, layout: Any, cells: int = 4, n_classes: int = 3) -> Study:
    weights = np.random.default_rng(0).normal(size=(len(X), cells, n_classes))
    ev = shafer.Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))
    return make_study(lambda rows: replace(ev, layout=layout), X)


def _numbers(text: str, kind: str = "<i2") -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


def _picture(entry: dict[str, Any]) -> Image.Image:
    return Image.open(BytesIO(base64.b64decode(entry["src"].split(",")[1])))


def test_weights_and_pictures() -> None:
    X = np.random.default_rng(1).uniform(size=(3, 1, 12, 16))
    study = _study(X, GridLayout(2, 2))
    assert images_payload(study)["images"]["size"] == [2, 2]
    entry = image_entries(study, [2])[2]["image"]
    stored = _numbers(entry["w"]).reshape(3, 4).T / 32767 * entry["most"]
    assert_allclose(stored, study.undiscounted.weights[2], atol=1e-4)
    own = study.undiscounted.components.ignorance[2]
    assert_allclose(_numbers(entry["ignorance"]) / 32767, own, atol=1e-4)
    picture = _picture(entry)
    assert picture.mode == "L"
    assert_allclose(np.asarray(picture) / 255, X[2, 0], atol=0.003)


@pytest.mark.parametrize(
    ("X", "size", "mode"),
    [
        (np.ones((2, 3, 300, 200)) * [[[[0.2]], [[0.5]], [[0.9]]]], (50, 75), "RGB"),
        (np.random.default_rng(0).normal(size=(2, 3, 20, 30)), (30, 20), "RGB"),
        (np.zeros((2, 1, 1, 1)), (1, 1), "L"),
    ],
)
def test_large_small_and_normalised_pictures(X: Any, size: tuple[int, int], mode: str) -> None:
    entry = image_entries(_study(X, GridLayout(2, 2)), [1])[1]["image"]
    picture = _picture(entry)
    assert picture.size == size
    assert picture.mode == mode
    assert ("rescaled" in entry["note"]) == bool(X.min() < 0)


def test_inputs_that_are_not_pictures() -> None:
    entry = image_entries(_study(np.zeros((2, 6, 8, 8)), GridLayout(2, 2)), [0])[0]["image"]
    assert entry["src"] is None
    assert entry["note"] == "The input of this row is not a picture."


def test_many_classes_keep_the_most_probable() -> None:
    study = _study(np.zeros((2, 1, 8, 8)), GridLayout(2, 2), n_classes=40)
    entry = image_entries(study, [0])[0]["image"]
    best = np.argsort(-study.undiscounted.probability[0])[:STORED]
    assert sorted(entry["k"]) == sorted(best.tolist())
    assert len(_numbers(entry["w"])) == STORED * 4


def test_segmentations() -> None:
    labels = np.arange(2 * 8 * 8).reshape(2, 8, 8) % 3
    names = ("a", "b", "c")
    shared = _study(np.zeros((2, 1, 8, 8)), RegionLayout(labels[1], names), cells=3)
    head = images_payload(shared)["images"]
    assert np.array_equal(_numbers(head["labels"], "<u2"), labels[1].ravel())
    own = _study(np.zeros((2, 1, 8, 8)), RegionLayout(labels, names), cells=3)
    assert images_payload(own)["images"]["labels"] is None
    entry = image_entries(own, [1])[1]["image"]
    assert np.array_equal(_numbers(entry["labels"], "<u2"), labels[1].ravel())


def test_tables_have_none() -> None:
    study = _study(np.zeros((2, 4)), None)
    assert images_payload(study) == {"images": None}
    assert image_entries(study, [0, 1]) == {0: {}, 1: {}}
