"""Where components lie, and how a segmentation shares the cells of a grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from shafer.evidence import ChannelLayout, GridLayout, RegionLayout, TokenLayout
from shafer.evidence.layout import is_label_map, read_layout, read_regions, region_shares

LAYOUTS = [
    GridLayout(2, 3),
    RegionLayout(np.array([[0, 1], [1, 2]]), ("sky", "tree", "ground")),
    TokenLayout(4),
    ChannelLayout(5),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: type(layout).__name__)
def test_contract(layout: GridLayout) -> None:
    n = layout.n_components
    assert len(set(layout.names)) == n
    again = read_layout(layout.plain())
    assert type(again) is type(layout)
    assert again.names == layout.names
    values = np.arange(2.0 * (n + 1)).reshape(2, n + 1)  # the last has no place
    placed = layout.spread(values)
    assert_array_equal(again.spread(values), placed)
    assert set(placed.ravel()) == set(values[:, :n].ravel())
    assert layout.rows(np.array([0])).n_components == n
    with pytest.raises(ValueError, match=f"one entry for each of the {n} components"):
        layout.spread(values[:, : n - 1])


def test_places() -> None:
    assert GridLayout(2, 3).names[5] == "row 1, column 2"
    assert_array_equal(GridLayout(2, 3).spread(np.arange(7)), [[0, 1, 2], [3, 4, 5]])
    regions = LAYOUTS[1]
    assert_array_equal(regions.spread([5.0, 6.0, 7.0, 9.0]), [[5.0, 6.0], [6.0, 7.0]])
    several = RegionLayout(np.array([[[0, 1]], [[1, 1]]]), ("a", "b"))
    assert_array_equal(several.spread([[1, 2], [3, 4]]), [[[1, 2]], [[4, 4]]])
    assert several.rows(np.array([1])).label_map.shape == (1, 1, 2)
    with pytest.raises(ValueError, match="one row for each of the 2 label maps"):
        several.spread([1, 2])


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "circle"},
        {"kind": "grid", "height": 0, "width": 2},
        {"kind": "grid", "height": True, "width": 2},
        {"kind": "tokens"},
        {"kind": "regions", "labels": np.array([[0, 2]]), "names": ["a", "b"]},
        {"kind": "regions", "labels": np.array([[0.0]]), "names": ["a"]},
        {"kind": "regions", "names": ["a"]},
        {"kind": "regions", "labels": np.array([[0]]), "names": [1]},
    ],
)
def test_damaged_layouts(given: dict) -> None:
    with pytest.raises(ValueError, match="its "):
        read_layout(given)


def test_label_maps() -> None:
    assert is_label_map(np.zeros((2, 2), dtype=int))
    assert is_label_map((np.zeros((2, 2), dtype=bool), {True: "x"}))
    assert not is_label_map(np.zeros((2, 2)))
    assert not is_label_map(np.zeros(4, dtype=int))
    assert not is_label_map([[0, 1], [2, 3]])
    assert read_regions(np.array([[-1, 4]])).names == ("region -1", "region 4")
    with pytest.raises(ValueError, match="must not be empty"):
        read_regions(np.zeros((0, 2), dtype=int))
    with pytest.raises(ValueError, match="a name of its own"):
        read_regions((np.array([[0, 1]]), {0: "a", 1: "a"}))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    image=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    grid=st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_shares_are_areas(seed: int, image: tuple[int, int], grid: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    layout = read_regions(rng.integers(0, 3, size=image))
    shares = region_shares(layout, GridLayout(*grid))
    # On a common refinement each small square lies in one pixel and one cell.
    fine = np.kron(layout.label_map, np.ones(grid, dtype=int))
    cells = np.kron(np.arange(np.prod(grid)).reshape(grid), np.ones(image, dtype=int))
    for region in range(layout.n_components):
        counted = np.bincount(cells[fine == region], minlength=shares.shape[0])
        assert_allclose(shares[:, region], counted / np.prod(image), atol=1e-12)
    assert_allclose(shares.sum(1), 1.0, rtol=1e-12)
