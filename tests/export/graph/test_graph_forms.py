"""The closed forms of graphs agree with the library on hostile weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shafer

from ..graph_runs import check, session

_SIZES = st.one_of(
    st.just(0.0),
    st.sampled_from([1e-300, 1e-20, 1.0, 1e4]),
    st.floats(-300.0, 4.0).map(lambda power: 10.0**power),
)
_WEIGHTS = st.tuples(_SIZES, st.sampled_from([-1.0, 1.0])).map(lambda pair: pair[0] * pair[1])


def _explained(weights: np.ndarray, **options: object) -> shafer.Explainer:
    """An explainer that gives weights (G, K), centred over the classes, to a row of ones."""
    n_components, n_classes = weights.shape
    head = shafer.LinearHead(weights.T, np.zeros(n_classes))
    return shafer.Explainer(head, np.zeros((1, n_components)), **options)


def _rows(n_components: int) -> np.ndarray:
    one = np.ones(n_components)
    alternating = np.where(np.arange(n_components) % 2, -1.0, 0.5)
    return np.stack([one, -one, 0.0 * one, alternating, 1e-200 * one])


@settings(max_examples=25)
@given(st.data())
def test_hostile_weights(data: st.DataObject) -> None:
    n_classes = data.draw(st.sampled_from([2, 3, 5, 12]), label="classes")
    n_components = data.draw(st.integers(1, 4), label="components")
    shape = n_components, n_classes
    flat = st.lists(_WEIGHTS, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    weights = np.array(data.draw(flat, label="weights")).reshape(shape)
    if data.draw(st.booleans(), label="tie"):
        weights[:, 1] = weights[:, 0]
    prior = data.draw(st.sampled_from(["shared", "own"]), label="prior")
    dtype = data.draw(st.sampled_from(["float64", "float64", "float32"]), label="dtype")
    check(_explained(weights, prior=prior), _rows(n_components), dtype=dtype)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_no_evidence_at_all(n_classes: int) -> None:
    check(_explained(np.zeros((2, n_classes))), _rows(2))


@pytest.mark.parametrize("n_classes", [3, 8])
def test_tied_classes_stay_tied(n_classes: int) -> None:
    weights = np.tile([1.0, 1.0, *[-2.0 / (n_classes - 2)] * (n_classes - 2)], (3, 1))
    explainer = _explained(weights * np.array([[0.1], [3.0], [700.0]]))
    model = check(explainer, _rows(3))
    belief = session(model).run(["belief"], {"X": _rows(3)})[0]
    assert np.array_equal(belief[:, 0], belief[:, 1])


def test_small_conflicts_keep_their_digits() -> None:
    # Relative accuracy, not only 1e-12: a conflict of 1e-20 is not zero.
    for n_classes in (2, 4):
        signs = np.array([[1.0], [-2.0], [0.5]])
        explainer = _explained(signs * np.linspace(-1e-10, 1e-10, n_classes))
        model = shafer.export.to_onnx(explainer, ["conflict", "weight_of_conflict"])
        found = session(model).run(None, {"X": _rows(3)})
        expected = explainer(_rows(3))
        np.testing.assert_allclose(found[0], expected.conflict, rtol=1e-12)
        np.testing.assert_allclose(found[1], expected.weight_of_conflict, rtol=1e-12)
        assert 0.0 < found[0][0] < 1e-15


def test_a_thousand_classes() -> None:
    rng = np.random.default_rng(0)
    explainer = _explained(rng.normal(size=(20, 1000)))
    check(explainer, rng.normal(size=(3, 20)))
