"""Where weights come from: joined sources, and factors of each row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import sparse

import shafer
from shafer import Evidence, combine
from shafer._checks import to_numpy
from shafer.evidence.joined import JoinedWeights, Part
from shafer.evidence.sources import DenseWeights

# Joined weights: components of several sources side by side, counted along the right axis.


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


# Weights times a factor for each instance.


N, G, K = 6, 5, 3
FACTOR = np.array([0.0, 0.25, 1.0, 2.0, 0.5, 3.0])
KINDS = ["dense", "linear", "sparse", "torch", "strict"]


@pytest.fixture(params=KINDS)
def ev(request: pytest.FixtureRequest) -> shafer.Evidence:
    rng = np.random.default_rng(1)
    arrays: list[Any] = [rng.normal(size=s) for s in ((K, G), K, G, (N, G))]
    if request.param == "torch":
        arrays = [torch.asarray(a) for a in arrays]
    elif request.param == "strict":
        arrays = [array_api_strict.asarray(a) for a in arrays]
    elif request.param == "sparse":
        arrays[3] = sparse.csr_array(arrays[3])
    evidence = shafer.least_commitment(*arrays[:3])(arrays[3])
    return shafer.Evidence.from_weights(evidence.weights) if request.param == "dense" else evidence


def same(one: shafer.Evidence, other: shafer.Evidence) -> None:
    for name in ("weights", "logits", "weights_for", "weights_against", "belief", "ignorance"):
        assert_allclose(
            to_numpy(getattr(one, name)), to_numpy(getattr(other, name)), rtol=1e-12, atol=1e-14
        )


def test_each_instance_has_its_own(ev: shafer.Evidence) -> None:
    warm = ev.tempered(FACTOR)
    for row, factor in enumerate(FACTOR):
        same(warm[row], ev[row].tempered(float(factor)))
    assert_allclose(to_numpy(warm.ignorance)[0], 1.0)


def test_what_comes_after(ev: shafer.Evidence) -> None:
    warm = ev.tempered(FACTOR)
    same(warm.tempered(2.0), ev.tempered(2 * FACTOR))
    same(warm.tempered(FACTOR), ev.tempered(FACTOR**2))
    same(warm[[3, 1]], ev[[3, 1]].tempered(FACTOR[[3, 1]]))
    same(warm.without("x0"), ev.without("x0").tempered(FACTOR))
    same(warm.grouped("one"), ev.grouped("one").tempered(FACTOR))
    assert_allclose(
        to_numpy(warm.components.belief)[2], to_numpy(ev.components.belief)[2], rtol=1e-12
    )
    assert warm.unchanged_source().shape == (N, G, K)


def test_one_factor_for_all(ev: shafer.Evidence) -> None:
    same(ev.tempered(np.full(N, 0.5)), ev.tempered(0.5))
    same(ev.tempered(np.array(0.5)), ev.tempered(0.5))


def test_saved_and_loaded(ev: shafer.Evidence, tmp_path: Path) -> None:
    warm = ev.tempered(FACTOR)
    warm.save(tmp_path / "warm.npz")
    same(shafer.Evidence.load(tmp_path / "warm.npz"), warm)


def test_changed_features_are_noticed() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, G))
    warm = shafer.least_commitment(rng.normal(size=(K, G)), np.zeros(K))(X).tempered(FACTOR)
    cold = warm.tempered(0.0)
    X[4] += 1.0
    with pytest.raises(ValueError, match="changed in place"):
        warm.weights  # noqa: B018 - the access is the test
    assert not to_numpy(cold.logits).any()
    X[4] -= 1.0
    X[0] += 1.0  # its factor is zero: its weights are zero whatever the features
    assert_allclose(warm.weights[0], 0.0)


def test_components_have_factors_too() -> None:
    parts = shafer.Evidence.from_weights(np.ones((2, 3, 4))).components
    factor = np.arange(6.0).reshape(2, 3)
    assert_allclose(parts.tempered(factor).logits, parts.logits * factor[..., None])
    assert parts.tempered(factor).weights.shape == (2, 3, 1, 4)


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (FACTOR[:5], r"factor must be one number, or one for each instance \(6\); got shape \(5,"),
        (-FACTOR, "factor must be ≥ 0; got a smallest value of -3.0"),
        (FACTOR * np.nan, "factor must be finite"),
        (FACTOR * 5e307, "overflow"),
        (True, "factor must be a finite number ≥ 0"),
    ],
)
def test_bad_factors(factor: Any, message: str) -> None:
    ev = shafer.Evidence.from_weights(np.ones((N, G, K)))
    with pytest.raises(ValueError, match=message):
        ev.tempered(factor)
