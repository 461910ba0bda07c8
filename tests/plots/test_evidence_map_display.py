"""Maps of images, and the images beneath them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib import pyplot
from matplotlib.colors import rgb_to_hsv
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import shafer
from shafer.evidence import GridLayout, RegionLayout
from shafer.plots import EvidenceMapDisplay
from shafer.plots.images import FOR_AND_AGAINST, RESCALED, SILENT, read_image

IMAGE = np.linspace(0.0, 1.0, 12 * 16).reshape(12, 16)
CLASSES = ["shoe", "boot", "bag"]


def _evidence(cells: int, n_classes: int = 3, *, size: float = 1.0, n: int = 2) -> shafer.Evidence:
    weights = np.random.default_rng(0).normal(size=(n, cells, n_classes)) * size
    weights -= weights.mean(axis=2, keepdims=True)
    return shafer.Evidence.from_weights(weights, classes=CLASSES[:n_classes])


def _drawn(display: EvidenceMapDisplay, at: int = 0) -> np.ndarray:
    """The pixels of a map."""
    return np.asarray(display.axes_[at].images[0].get_array())


def _axes(display: EvidenceMapDisplay) -> list[Any]:
    """All axes of the figure; a colour bar beside one row lies inside the last of them."""
    return [part for ax in display.figure_.axes for part in (ax, *ax.child_axes)]


def _texts(display: EvidenceMapDisplay) -> str:
    axes = _axes(display)
    parts = [(ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) for ax in axes]
    ends = [text.get_text() for ax in axes for text in ax.texts]
    return "\n".join([*(text for part in parts for text in part), *ends])


def test_values_are_contrasts_row_by_row() -> None:
    ev = _evidence(12)
    display = EvidenceMapDisplay.from_evidence(
        ev, 1, IMAGE, class_="bag", over="shoe", shape=(3, 4)
    )
    assert_allclose(display.values(), ev.contrast("bag", "shoe")[1].reshape(3, 4))


def test_default_is_the_answer_over_the_runner_up() -> None:
    ev = _evidence(12)
    first, second = ev.classes[np.argsort(-ev.logits[1])[:2]]
    display = EvidenceMapDisplay.from_evidence(ev, 1, IMAGE, shape=(3, 4))
    assert_allclose(display.values(first), ev.contrast(first, second)[1].reshape(3, 4))
    assert display.maps[0].over == second


def test_several_classes_share_a_symmetric_scale() -> None:
    ev = _evidence(12)
    display = EvidenceMapDisplay.from_evidence(
        ev, 0, IMAGE, classes=["bag", "shoe"], shape=(3, 4)
    ).plot()
    assert [m.class_ for m in display.maps] == ["bag", "shoe"]  # as asked, not as sorted
    assert_allclose(display.values("shoe"), ev.weights[0, :, 0].reshape(3, 4))
    bar = _axes(display)[-1]
    most = np.abs(ev.weights[0][:, [0, 2]]).max()
    assert_allclose(bar.get_ylim(), (-most, most))
    assert len(_axes(display)) == 4  # the image, two maps, one bar
    over = EvidenceMapDisplay.from_evidence(
        ev, 0, IMAGE, classes=["bag", "shoe"], over="boot", shape=(3, 4)
    )
    assert_allclose(over.values("bag"), ev.contrast("bag", "boot")[0].reshape(3, 4))


def test_places_come_from_the_layout() -> None:
    ev = replace(_evidence(12), layout=GridLayout(4, 3))
    display = EvidenceMapDisplay.from_evidence(ev, 1, IMAGE, class_="bag", over="boot")
    assert_allclose(display.values(), ev.contrast("bag", "boot")[1].reshape(4, 3))
    labels = np.random.default_rng(0).integers(0, 12, (2, 12, 16))
    names = tuple(f"region {g}" for g in range(12))
    for segmentation in (labels, labels[1]):  # of each image, or one for all
        ev = replace(_evidence(12), layout=RegionLayout(segmentation, names))
        display = EvidenceMapDisplay.from_evidence(ev, 1, IMAGE, class_="bag", over="boot")
        assert_allclose(display.values(), ev.contrast("bag", "boot")[1][labels[1]])
        assert display.plot().ax_.collections


def test_words() -> None:
    ev = _evidence(12)
    display = EvidenceMapDisplay.from_evidence(
        ev, 0, IMAGE, class_="boot", over="bag", shape=(3, 4)
    ).plot()
    text = _texts(display)
    assert f"boot: {ev.probability[0, 1]:.2f}, bag: {ev.probability[0, 2]:.2f}" in text
    assert "log-odds\n+1 multiplies the odds by 2.7" in text
    assert "for boot" in text
    assert "for bag" in text
    contrast = ev.contrast("boot", "bag")[0]
    sums = contrast[contrast > 0].sum(), -contrast[contrast < 0].sum()
    assert f"for boot +{sums[0]:.2f}, for bag −{sums[1]:.2f}" in text
    total = f"{sums[0] - sums[1]:+.2f}".replace("-", "−")
    assert f"\nlog-odds {total}" in text


def test_base_rate_is_written_not_drawn() -> None:
    pool = shafer.least_commitment(
        np.random.default_rng(1).normal(size=(3, 4)),
        [1.0, 0.0, -1.0],
        np.zeros(4),
        classes=CLASSES,
        prior="own",
    )
    ev = pool(np.ones((1, 4)))
    display = EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, classes="shoe", shape=(2, 2)).plot()
    assert_allclose(display.values(), ev.weights[0, :4, 0].reshape(2, 2))
    total = f"{ev.logits[0, 0]:+.2f}".replace("-", "−")
    assert f"base rate +1.00: total {total}" in _texts(display)
    most = np.abs(ev.weights[0, :4, 0]).max()
    assert_allclose(_axes(display)[-1].get_ylim(), (-most, most))  # the base rate apart
    shared = shafer.least_commitment(np.eye(3, 4), [1.0, 0.0, -1.0], np.zeros(4))(np.ones((1, 4)))
    display = EvidenceMapDisplay.from_evidence(shared, 0, IMAGE, shape=(2, 2)).plot()
    assert "includes a share of the base rate" in _texts(display)
    assert "with the base rate: log-odds" in _texts(display)


def test_ignorance_and_disagreement_of_locations() -> None:
    ev = _evidence(6, size=0.5)
    display = EvidenceMapDisplay.from_evidence(
        ev, 1, IMAGE, show=["ignorance", "disagreement"], shape=(2, 3)
    ).plot()
    ignorance = display.values(kind="ignorance").ravel()
    assert_allclose(ignorance, ev.components.ignorance[1])
    disagreement = display.values(kind="disagreement").ravel()
    for g, found in enumerate(disagreement):
        others = [h for h in range(6) if h != g]
        alone, rest = ev.grouped([[g]]).without(others), ev.without([g])
        own, remaining = alone.conflict[1], rest.conflict[1]
        expected = 1 - (1 - ev.conflict[1]) / ((1 - own) * (1 - remaining))
        assert_allclose(found, expected, atol=1e-12)


def test_disagreement_is_the_conflict_of_two_mass_functions() -> None:
    """Dempster's rule of the location with the others, on all subsets."""
    weights = np.random.default_rng(4).normal(size=(1, 3, 3))
    ev = shafer.Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))
    display = EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, show="disagreement", shape=(1, 3))
    for g in range(3):
        one = ev.without([h for h in range(3) if h != g]).masses()[0]
        rest = ev.without([g]).masses()[0]
        pairs = [(a, b) for a in range(8) for b in range(8) if not a & b]
        expected = sum(one[a] * rest[b] for a, b in pairs)
        assert_allclose(display.values(kind="disagreement")[0, g], expected, atol=1e-12)


def test_extreme_weights_stay_in_range() -> None:
    for size in (0.0, 1e-300, 1e-12, 1e4):
        ev = _evidence(4, size=size)
        display = EvidenceMapDisplay.from_evidence(
            ev, 0, IMAGE, show=("evidence", "ignorance", "disagreement"), shape=(2, 2)
        ).plot()
        for kind in ("ignorance", "disagreement"):
            found = display.values(kind=kind)
            assert np.isfinite(found).all()
            assert ((found >= 0) & (found <= 1)).all()
        for at in range(3):
            pixels = _drawn(display, at)
            assert np.isfinite(pixels).all()
            assert ((pixels >= 0) & (pixels <= 1)).all()
        pyplot.close("all")


def test_cells_are_drawn_as_they_are() -> None:
    """Hue and saturation of each pixel are those of its cell on the colour bar."""
    weights = np.array([[[0.5, -0.5], [-0.5, 0.5], [0.1, -0.1], [0.0, 0.0]]])
    ev = shafer.Evidence.from_weights(weights, classes=["a", "b"])
    display = EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, class_="a", shape=(2, 2)).plot()
    hsv = rgb_to_hsv(_drawn(display))
    height, width = hsv.shape[:2]
    assert height * 16 == width * 12
    values = np.array([1.0, -1.0, 0.2, 0.0])
    for g, value in enumerate(values):
        i, j = divmod(g, 2)
        part = hsv[i * height // 2 : (i + 1) * height // 2, j * width // 2 : (j + 1) * width // 2]
        expected = rgb_to_hsv(np.asarray(FOR_AND_AGAINST((value + 1) / 2))[:3])
        assert_allclose(part[..., 1], expected[1], atol=1e-9)
        if value:
            assert_allclose(part[..., 0], expected[0], atol=1e-9)


def test_smooth_is_exact_at_the_centres_and_never_exceeds() -> None:
    weights = np.zeros((1, 9, 2))
    weights[0, 4] = [1.0, -1.0]
    ev = shafer.Evidence.from_weights(weights, classes=["a", "b"])
    image = np.ones((45, 45))
    display = EvidenceMapDisplay.from_evidence(ev, 0, image, class_="a", shape=(3, 3))
    pixels = _drawn(display.plot(smooth=True))
    size = len(pixels)
    middle = pixels[size // 2, size // 2]
    assert_allclose(middle, FOR_AND_AGAINST(1.0)[:3], atol=0.02)
    assert_allclose(pixels[size // 6, size // 6], 1.0, atol=0.02)  # centre of a cell without any
    saturation = rgb_to_hsv(pixels)[..., 1]
    assert saturation.max() <= rgb_to_hsv(np.asarray(FOR_AND_AGAINST(1.0))[:3])[1] + 1e-9
    cells = _drawn(display.plot())
    assert len(np.unique(cells.reshape(-1, 3), axis=0)) == 2


def test_grid_lines_lie_on_the_borders_of_cells() -> None:
    display = EvidenceMapDisplay.from_evidence(_evidence(12), 0, IMAGE, shape=(3, 4))
    assert not display.plot().ax_.collections
    lines = display.plot(grid=True).ax_.collections[0].get_segments()
    upright = {float(line[0][0]) for line in lines if line[0][0] == line[1][0]}
    level = {float(line[0][1]) for line in lines if line[0][1] == line[1][1]}
    assert upright == {3.5, 7.5, 11.5}
    assert level == {3.5, 7.5}


def test_regions() -> None:
    ev = _evidence(3)
    regions = np.zeros((12, 16), dtype=int)
    regions[:, 8:] = 1
    regions[5:7, 5:9] = 2
    regions[0, 0] = -1
    display = EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, class_="bag", regions=regions).plot()
    values = display.values()
    contrast = ev.contrast("bag", display.maps[0].over)[0]
    assert_allclose(values[11, 0], contrast[0])
    assert_allclose(values[6, 6], contrast[2])
    assert np.isnan(values[0, 0])
    assert display.ax_.collections  # borders, unasked
    assert np.ptp(_drawn(display)[0, 0]) < 1e-12  # no component: the image, in grey
    with pytest.raises(ValueError, match="smooth=True needs a grid"):
        display.plot(smooth=True)
    nowhere = np.full((12, 16), -1)
    with pytest.raises(ValueError, match="at least one pixel a component"):
        EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, regions=nowhere).plot()


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("count", [1, 4, 9])
def test_figures_of_any_size(style: str, count: int) -> None:
    weights = np.random.default_rng(0).normal(size=(1, 4, 10))
    names = [f"class {k} <$&>" for k in range(10)]
    ev = shafer.Evidence.from_weights(weights, classes=names)
    with pyplot.style.context(style):
        display = EvidenceMapDisplay.from_evidence(
            ev, 0, IMAGE, classes=names[:count], shape=(2, 2)
        ).plot()
        display.figure_.canvas.draw()
    assert len(display.axes_) == count


def test_given_axes() -> None:
    display = EvidenceMapDisplay.from_evidence(_evidence(4), 0, IMAGE, shape=(2, 2))
    ax = Figure().subplots()
    assert display.plot(ax).ax_ is ax
    two = EvidenceMapDisplay.from_evidence(
        _evidence(4), 0, IMAGE, classes=["bag", "boot"], shape=(2, 2)
    )
    grid = Figure().subplots(1, 2)
    assert two.plot(grid).axes_ == list(grid)
    with pytest.raises(ValueError, match="one for each of the 2 map"):
        two.plot(ax)


def test_discounted_evidence_shows_what_one_bets_with() -> None:
    ev = _evidence(4)
    display = EvidenceMapDisplay.from_evidence(
        ev.discounted(0.3), 0, IMAGE, classes=["bag"], shape=(2, 2)
    )
    assert f"{ev.probability[0, 2]:.2f}" in display.maps[0].title


@pytest.mark.parametrize(
    ("labels", "asked", "over"),
    [([3, 1], 1, 3), ([True, False], False, True), (["0", "1"], "1", "0")],
)
def test_any_labels(labels: list[Any], asked: Any, over: Any) -> None:
    weights = np.array([[[0.3, -0.3], [0.1, -0.1]]])
    ev = shafer.Evidence.from_weights(weights, classes=labels)
    display = EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, class_=asked, over=over, shape=(1, 2))
    assert_allclose(display.values(asked), [[-0.6, -0.2]])


def test_torch_tensors() -> None:
    import torch

    weights = torch.tensor([[[0.3, -0.3], [0.1, -0.1]]])
    ev = shafer.Evidence.from_weights(weights, classes=["a", "b"])
    image = torch.ones((3, 12, 16), requires_grad=True)
    display = EvidenceMapDisplay.from_evidence(ev, 0, image, class_="a", shape=(1, 2)).plot()
    assert_allclose(display.values(), [[0.6, 0.2]], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "places of the 12 components in the image are not known"),
        ({"shape": (3, 5)}, "rows and columns of a grid of 12 components"),
        ({"shape": 12}, "rows and columns of a grid"),
        ({"regions": np.zeros((4, 4))}, "whole numbers"),
        ({"regions": np.full((4, 4), 12)}, "from 0 to 11"),
        ({"shape": (3, 4), "regions": np.zeros((4, 4), dtype=int)}, "not both"),
        ({"shape": (3, 4), "show": "heat"}, "'evidence', 'ignorance', 'disagreement'"),
        ({"shape": (3, 4), "show": []}, "show must be"),
        ({"shape": (3, 4), "class_": "bag", "classes": ["bag"]}, "not both"),
        ({"shape": (3, 4), "classes": []}, "at least one class"),
        ({"shape": (3, 4), "class_": "hat"}, "Unknown class label"),
        ({"shape": (3, 4), "class_": "bag", "over": "bag"}, "another class"),
        ({"shape": (3, 4), "units": "heat"}, "units must be"),
    ],
)
def test_wrong_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EvidenceMapDisplay.from_evidence(_evidence(12), 0, IMAGE, **options)


def test_wrong_row_and_kind() -> None:
    with pytest.raises(ValueError, match="row must be a whole number from 0 to 1"):
        EvidenceMapDisplay.from_evidence(_evidence(12), 2, IMAGE, shape=(3, 4))
    display = EvidenceMapDisplay.from_evidence(_evidence(12), 0, IMAGE, shape=(3, 4))
    with pytest.raises(ValueError, match="kind must be one of the maps drawn, 'evidence'"):
        display.values(kind="ignorance")


def test_no_evidence_is_white() -> None:
    weights = np.zeros((1, 2, 2))
    weights[0, 0] = [3.0, -3.0]
    ev = shafer.Evidence.from_weights(weights)
    display = EvidenceMapDisplay.from_evidence(
        ev, 0, np.ones((4, 4)), show="ignorance", shape=(1, 2)
    ).plot()
    pixels = _drawn(display)
    assert_allclose(pixels[0, -1], 1.0)
    assert_allclose(pixels[0, 0], SILENT(0.0)[:3], atol=0.01)


@pytest.mark.parametrize("brightness", [0.0, 1.0])
def test_plain_parts_of_an_image_leave_the_colours_as_they_are(brightness: float) -> None:
    image = np.full((12, 12), brightness)
    image[4:6, 4:6] = 1.0 - brightness  # an object
    ev = shafer.Evidence.from_weights([[[0.5, -0.5]]], classes=["a", "b"])
    display = EvidenceMapDisplay.from_evidence(ev, 0, image, class_="a", shape=(1, 1)).plot()
    pixels = _drawn(display)
    assert_allclose(pixels[0, 0], FOR_AND_AGAINST(1.0)[:3], atol=1e-9)
    object_ = pixels[len(pixels) * 5 // 12, len(pixels) * 5 // 12]
    assert_allclose(object_, 0.82 * pixels[0, 0], atol=1e-9)


def test_a_smooth_map_is_marked() -> None:
    display = EvidenceMapDisplay.from_evidence(_evidence(12), 0, IMAGE, shape=(3, 4))
    assert "smoothed from 3 × 4 locations" in _texts(display.plot(smooth=True))
    assert not display.ax_.collections
    assert "smoothed between 3 × 4 locations (dots)" in _texts(display.plot(smooth=True, grid=True))
    dots = np.asarray(display.ax_.collections[0].get_offsets())
    assert_allclose(dots[[0, -1]], [[1.5, 1.5], [13.5, 9.5]])
    assert "smoothed" not in _texts(display.plot())


def test_regions_have_their_numbers() -> None:
    names = ("region 3", "region 7", "sky")
    ev = replace(_evidence(3), component_names=names)
    labels = np.zeros((12, 16), dtype=int)
    labels[:, 8:] = 1
    labels[:3] = 2
    display = EvidenceMapDisplay.from_evidence(ev, 0, IMAGE, regions=labels).plot()
    written = {text.get_text(): text.get_position() for text in display.ax_.texts}
    assert list(written) == ["3", "7", "sky"]
    for name, (x, y) in written.items():
        assert labels[round(y), round(x)] == ["3", "7", "sky"].index(name)
    assert "the sum over it" in _texts(display)
    many = np.arange(49).reshape(7, 7)
    crowded = EvidenceMapDisplay.from_evidence(_evidence(49), 0, IMAGE, regions=many).plot()
    assert not crowded.ax_.texts


# Shown image.


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
