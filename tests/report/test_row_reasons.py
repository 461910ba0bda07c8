from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.report import heart_study
from shafer.report.answer_and_rival import Pair, pair_of_row
from shafer.report.row_reasons import row_reasons
from shafer.report.terminal_reasons import ReasonsAsked, reason_lines
from shafer.report.terminal_view import explained

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


def test_pairs() -> None:
    ev = shafer.Evidence.from_weights([[[0.1, 0.5, -0.6]]], classes=["a", "b", "c"])
    assert pair_of_row(ev, None, None) == Pair(1, 0)
    assert pair_of_row(ev, "c", None) == Pair(2, 1)
    assert pair_of_row(ev, None, "b") == Pair(0, 1)
    assert pair_of_row(ev, "c", "a") == Pair(2, 0)
    with pytest.raises(ValueError, match="compared with another class; got 'a' twice"):
        pair_of_row(ev, "a", "a")
    with pytest.raises(ValueError, match="Unknown class label"):
        pair_of_row(ev, "a", "z")


def test_lines() -> None:
    study = heart_study()
    codes = {"typea": ("A1", "type A behaviour"), "ldl": "A2"}
    head, first, second, third = reason_lines(study, 17, Pair(1, 0), ReasonsAsked(3, codes))
    assert head == "Reasons for chd over no, in log-odds: +1 multiplies the odds by 2.7"
    contrast = study.undiscounted[17].contrast("chd", "no")[0]
    share = contrast[5] / np.maximum(contrast[:-1], 0).sum()
    assert first.split() == f"1. typea 78 +{contrast[5]:.2f} {share:.0%} of what favours chd A1 type A behaviour".split()  # fmt: skip # noqa: E501
    assert second.endswith("A2")
    assert third.endswith("of what favours chd")
    assert "\n".join([head, first]) in explained(study, 17, reasons=ReasonsAsked(3, codes))
    none = shafer.Explainer(([1.0, 1.0], 0.0), np.zeros((1, 2)), prior="own")
    from shafer.report import make_study

    empty = make_study(none, np.zeros((1, 2)))
    assert (
        reason_lines(empty, 0, Pair(1, 0), ReasonsAsked(2))[1] == "  none: no component favours it"
    )


def test_error_bars_in_the_terminal() -> None:
    study = heart_study(errors="laplace")
    text = explained(study, 17, 100)
    one = study.undiscounted[17]
    lower, upper = one.contrast_interval("chd", "no", 0.9)
    contrast = one.contrast("chd", "no")[0]
    half = (upper - lower)[0] / 2
    assert f"typea 78         +{contrast[5]:.2f} ±{half[5]:.2f}  ████" in text
    obesity = one.component_names.index("obesity")
    assert lower[0, obesity] < 0 < upper[0, obesity]
    assert f"obesity 32.73    −{-contrast[obesity]:.2f} ±{half[obesity]:.2f}  ░░░" in text
    whole = one.grouped("one").contrast_interval("chd", "no", 0.9)
    assert f"sum              +2.08 ±{(whole[1] - whole[0])[0, 0] / 2:.2f}  = ln" in text
    assert "A light bar (░) cannot be told from zero" in text
    assert "±" not in explained(heart_study(), 17)
    lines = reason_lines(study, 17, Pair(1, 0), ReasonsAsked(9))
    unclear = [line for line in lines if line.endswith("cannot be told from zero")]
    assert ["adiposity" in line or "sbp" in line for line in unclear] == [True, True]
