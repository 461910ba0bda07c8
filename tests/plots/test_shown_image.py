from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from shafer.plots.images import RESCALED, read_image

GREY = np.linspace(0.0, 1.0, 35).reshape(5, 7)


@pytest.mark.parametrize(
    "image",
    [
        GREY,
        GREY[:, :, None],
        GREY[None],
        GREY[None, None],
        np.round(GREY * 255).astype(np.uint8),
        GREY * 255,
        (GREY * 255).astype(np.float32),
        np.round(GREY * 255).astype(np.int64),
        np.round(GREY * 65535).astype(np.uint16),
        np.repeat(GREY[:, :, None], 3, axis=2),
        np.repeat(GREY[None], 3, axis=0),
        np.concatenate([np.repeat(GREY[:, :, None], 3, axis=2), np.ones((5, 7, 1))], axis=2),
        GREY.tolist(),
    ],
)
def test_all_forms_are_one_image(image: Any) -> None:
    read = read_image(image)
    assert read.size == (5, 7)
    assert_allclose(read.grey, GREY, atol=0.003)
    assert_allclose(read.colours, np.repeat(GREY[:, :, None], 3, axis=2), atol=0.003)
    assert read.note == ""


def test_tensors() -> None:
    import torch

    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        tensor = torch.from_numpy(GREY).to(dtype)[None].requires_grad_()
        assert_allclose(read_image(tensor).grey, GREY, atol=0.01)


def test_colours_keep_their_channels() -> None:
    image = np.zeros((5, 6, 3), dtype=np.uint8)
    image[..., 0] = 255
    for given_image in (image, np.moveaxis(image, 2, 0)):
        assert_allclose(read_image(given_image).colours[0, 0], [1.0, 0.0, 0.0])


def test_transparent_is_white() -> None:
    image = np.zeros((5, 6, 4))
    image[0, 0, 3] = 1.0
    colours = read_image(image).colours
    assert_allclose(colours[0, 0], 0.0)
    assert_allclose(colours[1:], 1.0)


def test_normalised_images() -> None:
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    image = np.random.default_rng(0).uniform(size=(9, 8, 3))
    normal = (image - mean) / std
    undone = read_image(np.moveaxis(normal, 2, 0), normalised=(mean, std))
    assert_allclose(undone.colours, image, atol=1e-12)
    assert undone.note == ""
    rescaled = read_image(normal)
    assert rescaled.note == RESCALED
    assert rescaled.colours.min() == 0.0
    assert rescaled.colours.max() == 1.0
    assert_allclose(read_image((GREY - 0.3) / 0.5, normalised=(0.3, 0.5)).grey, GREY, atol=1e-12)
    with pytest.raises(ValueError, match="one number for each of the 1 channel"):
        read_image(GREY, normalised=([0.1, 0.2], [1.0, 1.0]))
    with pytest.raises(ValueError, match="pair \\(mean, std\\)"):
        read_image(GREY, normalised=0.5)


@pytest.mark.parametrize("top", [2.0, 16.0, 1000.0])
@pytest.mark.parametrize("dtype", [float, int])
def test_other_ranges_are_rescaled(top: float, dtype: type) -> None:
    read = read_image((GREY * top).round().astype(dtype))
    assert read.note == RESCALED
    assert_allclose(read.grey, (GREY * top).round() / top)
    dark = read_image(np.full((3, 5), 16, dtype=np.uint8))
    assert dark.note == ""
    assert_allclose(dark.grey, 16 / 255)


@pytest.mark.parametrize("image", [[[0.5]], [[[7]]], [[[1, 2, 3]]], np.zeros((1, 1, 4)), [[True]]])
def test_a_single_pixel(image: Any) -> None:
    read = read_image(image)
    assert read.size == (1, 1)
    assert np.isfinite(read.colours).all()


def test_ambiguous_channels() -> None:
    image = np.zeros((3, 5, 3))
    image[0] = 1.0
    with pytest.raises(ValueError, match="channels='first' or channels='last'"):
        read_image(image)
    assert read_image(image, channels="last").size == (3, 5)
    assert read_image(image, channels="first").size == (5, 3)
    assert_allclose(read_image(image, channels="first").colours[0, 0], [1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros(784), "got \\(784,\\). Reshape it"),
        (np.zeros((5, 3, 28, 28)), "one image of the batch, as in images\\[row\\]"),
        (np.zeros((28, 3, 28)), "channels seem to be in the middle"),
        (np.zeros((28, 28, 7)), "Choose three channels"),
        (np.zeros((0, 5)), "image must have the shape"),
        (np.full((3, 3), np.nan), "9 NaN or infinite"),
        ("photo.png", "read it first"),
        (None, "must be an array or a tensor"),
        (np.zeros((2, 2), dtype=complex), "must be an array or a tensor"),
    ],
)
def test_wrong_images(image: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_image(image)


def test_wrong_channels() -> None:
    with pytest.raises(ValueError, match="channels must be 'first' or 'last'"):
        read_image(GREY, channels="middle")
    with pytest.raises(ValueError, match="image must have the shape"):
        read_image(np.zeros((5, 7, 3)), channels="first")


@given(
    arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(1, 6), st.integers(5, 9)),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    )
)
def test_any_numbers_become_brightness(image: np.ndarray) -> None:
    read = read_image(image)
    assert ((read.colours >= 0.0) & (read.colours <= 1.0)).all()
