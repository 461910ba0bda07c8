from __future__ import annotations

import numpy as np
import pytest

import shafer
from shafer.evidence.contrast import Pair, pair_of_row
from shafer.report import heart_study
from shafer.report.terminal import ReasonsAsked, explained, reason_lines


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
