"""Joined weights: components of several sources side by side, counted along the right axis."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer import Evidence, combine
from shafer.evidence.joined import JoinedWeights, Part
from shafer.evidence.sources import DenseWeights


@pytest.fixture
def joined() -> Evidence:
    random = np.random.default_rng(0)
    parts = [Evidence.from_weights(random.normal(size=(5, g, 4))) for g in (2, 3, 1)]
    result = combine(parts, tempering=[0.5, 1.0, 2.0])
    assert isinstance(result, Evidence)
    assert isinstance(result.source, JoinedWeights)
    return result


def test_components_are_counted(joined: Evidence) -> None:
    assert isinstance(joined.source, JoinedWeights)
    assert [part.n_components for part in joined.source.parts] == [2, 3, 1]
    assert joined.source.shape == joined.weights.shape == (5, 6, 4)


@pytest.mark.parametrize("kept", [[0], [5], [2, 3, 4], [1, 2], [0, 1, 5], [4, 0, 2]])
def test_components_are_kept_in_place(joined: Evidence, kept: list[int]) -> None:
    assert_allclose(joined.source.keep(kept).dense(), joined.weights[:, kept])
    assert_allclose(joined.source.keep(kept).pooled().logits, joined.weights[:, kept].sum(axis=1))


def test_factors_stay_with_their_rows_and_classes(joined: Evidence) -> None:
    assert_allclose(joined[[4, 1]].weights, joined.weights[[4, 1]])
    moved = combine([joined], classes=[3, 2, 1, 0, "new"])
    assert_allclose(moved.weights[..., :4], joined.weights[..., ::-1])
    assert_allclose(moved.weights[..., 4], 0.0)
    cautious = combine([joined, joined.tempered(0.5)], "cautious")
    again = combine([cautious], classes=[3, 2, 1, 0])
    assert_allclose(again.weights, cautious.weights[..., ::-1])


@pytest.mark.parametrize("kept", [[0], [0, 1], [0, 1, 2], [3, 0]])
def test_some_classes(joined: Evidence, kept: list[int]) -> None:
    """As many classes as a part has components, among others: the two must not be mixed up."""
    source = joined.source.of_classes(kept)
    assert source.shape == (5, 6, len(kept))
    assert_allclose(source.dense(), joined.weights[..., kept])
    assert_allclose(source.pooled().logits, joined.weights[..., kept].sum(axis=1))


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("sides", [(1, 4), (4, 1), (4, 4)])
def test_some_classes_with_a_factor_for_each_side(n: int, sides: tuple[int, int]) -> None:
    """A factor for each row serves all classes; a factor for each class goes with its class."""
    random = np.random.default_rng(1)
    source = DenseWeights(random.normal(size=(n, 3, 4)))
    factors = (random.uniform(size=(n, sides[0])), random.uniform(size=(n, sides[1])))
    part = Part(source, source.pooled(), np.arange(4), factors)
    assert_allclose(part.of_classes([3, 1]).dense(), part.dense()[..., [3, 1]])
