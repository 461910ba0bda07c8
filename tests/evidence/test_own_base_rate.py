from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from shafer.evidence.base_rate import base_rate_position, shares_base_rate

IRIS = load_iris()


@pytest.mark.parametrize("prior", ["own", "shared"])
@pytest.mark.parametrize(
    ("model", "options"),
    [
        (LogisticRegression(max_iter=500), {}),
        (LogisticRegression(max_iter=500), {"temper": 2.0}),
        (LogisticRegression(max_iter=500), {"moderate": "laplace"}),
        (LogisticRegression(max_iter=500), {"moderate": "laplace+discount"}),
        (GaussianNB(), {}),
    ],
)
def test_own_or_shared(model: Any, options: dict[str, Any], prior: str) -> None:
    fitted = model.fit(IRIS.data, IRIS.target)
    ev = shafer.Explainer(fitted, IRIS.data, prior=prior, **options)(IRIS.data).weighed
    expected = 4 if prior == "own" else None
    for rows in (ev, ev[:1], ev[[3, 3]], ev[:0]):
        assert base_rate_position(rows) == expected
    assert shares_base_rate(ev) == (prior == "shared")
    assert base_rate_position(ev.without(["x0"])) == (None if expected is None else 3)


def test_sparse_rows() -> None:
    X = sp.csr_array(IRIS.data)
    model = LogisticRegression(max_iter=500).fit(X, IRIS.target)
    assert base_rate_position(shafer.Explainer(model, X, prior="own")(X)) == 4
    assert base_rate_position(shafer.Explainer(model, X)(X)) is None


def test_a_component_of_the_same_name_is_not_the_base_rate() -> None:
    model = LogisticRegression(max_iter=500).fit(IRIS.data, IRIS.target)
    names = ["a", "base rate", "c", "d"]
    ev = shafer.Explainer(model, IRIS.data, names=names)(IRIS.data)
    assert base_rate_position(ev) is None
    plain = shafer.Evidence.from_weights(np.ones((2, 1, 2)), names=["base rate"])
    assert base_rate_position(plain) is None
    assert not shares_base_rate(plain)


def test_a_share_of_zero_for_one_class_is_still_a_base_rate() -> None:
    pool = shafer.least_commitment(np.zeros((3, 2)), [0.5, -0.5, 0.0], np.zeros(2))
    assert shares_base_rate(pool(np.ones((2, 2))))
    none = shafer.least_commitment(np.zeros((3, 2)), np.zeros(3), np.zeros(2))
    assert not shares_base_rate(none(np.ones((2, 2))))
