from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence.reasons import row_reasons

IRIS = load_iris()


def iris_evidence(**options: Any) -> shafer.Evidence:
    X = pd.DataFrame(IRIS.data, columns=["sl", "sw", "pl", "pw"])
    y = IRIS.target_names[IRIS.target]
    ev = shafer.Explainer(LogisticRegression(max_iter=500).fit(X, y), X, prior="own", **options)(X)
    assert isinstance(ev, shafer.Evidence)
    return ev


def test_each_row_has_its_own_pair() -> None:
    """The same numbers as asking row by row, for its answer over its runner-up."""
    ev = iris_evidence()
    found = row_reasons(ev, 3)
    for row in range(0, 150, 7):
        best, second = np.argsort(-ev.logits[row], kind="stable")[:2]
        assert (found.classes[row], found.over[row]) == (best, second)
        table = ev[[row]].reasons(ev.classes[best], 3, over=ev.classes[second], keep="positive")
        count = len(table)
        assert found.component[row, :count].tolist() == table["component"].tolist()
        np.testing.assert_array_equal(found.value[row, :count], table["value"])
        np.testing.assert_allclose(found.weight[row, :count], table["weight"], rtol=1e-12)
        np.testing.assert_allclose(found.share[row, :count], table["share"], rtol=1e-12)
        assert all(name is None for name in found.component[row, count:])
        assert np.isnan(found.weight[row, count:]).all()
        assert "base rate" not in found.component[row].tolist()


def test_reasons_for_one_class_and_more_than_there_are() -> None:
    ev = iris_evidence()
    found = row_reasons(ev, 9, class_="setosa", over="virginica")
    assert set(found.classes) == {0}
    assert set(found.over) == {2}
    contrast = ev.contrast("setosa", "virginica")[:, :4]
    np.testing.assert_allclose(
        np.nansum(found.weight, axis=1), np.maximum(contrast, 0).sum(axis=1), rtol=1e-12
    )
    some = (contrast > 0).any(axis=1)
    np.testing.assert_allclose(np.nansum(found.share, axis=1), some.astype(float), atol=1e-12)


def test_codes_and_intervals() -> None:
    ev = iris_evidence(errors="laplace")
    found = row_reasons(ev, 2, codes={"pl": ("P1", "petal"), "sw": "S"})
    assert set(found.code[found.component == "pl"]) == {"P1"}
    assert set(found.text[found.component == "pl"]) == {"petal"}
    assert set(found.code[found.component == "pw"]) <= {None}
    known = ~np.isnan(found.weight)
    assert np.all(found.lower[known] < found.weight[known])
    assert np.all(found.upper[known] > found.weight[known])
    assert np.isnan(row_reasons(iris_evidence(), 2).lower).all()
