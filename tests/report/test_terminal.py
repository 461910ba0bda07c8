"""Tables and reasons in a terminal."""

from __future__ import annotations

import numpy as np
import pytest

import shafer
from shafer.evidence.contrast import Pair, pair_of_row
from shafer.report import Case, case_table, heart_study, make_study, notable_cases, summary
from shafer.report.terminal import ReasonsAsked, explained, reason_lines


@pytest.fixture
def ev() -> shafer.Evidence:
    weights = np.random.default_rng(0).normal(size=(30, 4, 3))
    weights -= weights.mean(axis=2, keepdims=True)
    return shafer.Evidence.from_weights(weights, classes=["ant", "bee", "cat"], names=list("wxyz"))


def test_notable_cases_differ(ev: shafer.Evidence) -> None:
    cases = notable_cases(ev, class_="bee")
    rows = [case.row for case in cases]
    assert len(set(rows)) == len(rows) >= 3
    assert rows[0] == int(np.argmax(ev.probability[:, 1]))
    assert cases[0].reason == "bee most probable"


def test_a_close_call_that_is_decided_is_not_called_undecided() -> None:
    """Strong evidence on both sides: p is near one half, and yet one class dominates."""
    pairs = np.array([[4.0, -3.9], [2.0, -0.1], [-2.0, 0.1]])
    weights = pairs[:, :, None] * np.array([-1.0, 1.0])
    ev = shafer.Evidence.from_weights(weights, classes=["bad", "good"])
    assert ev.decide("interval_dominance").sum(axis=1).tolist() == [1, 1, 1]
    assert abs(ev.probability[0, 1] - 0.5) < 0.1
    text = case_table(ev, notable_cases(ev, class_="good"), class_="good")
    assert "undecided" not in text
    assert "{good}" in text


@pytest.mark.parametrize("label", ["bad", "good"])
def test_rows_near_the_threshold_are_the_hard_ones(label: str) -> None:
    """With a threshold, a probability of one half is no close call, and is not undecided."""
    X = np.linspace(-4, 4, 41)[:, None]
    model = ([1.0], 0.0)
    explainer = shafer.Explainer(model, X, threshold={label: 0.2}, classes=["bad", "good"])
    ev = explainer(X)
    assert (ev.decide("interval_dominance").sum(axis=1) > 1).any()
    for class_ in ("bad", "good"):
        reasons = {case.reason: case.row for case in notable_cases(ev, class_)}
        assert not any("undecided" in reason for reason in reasons)
        near = [why for why in reasons if why.startswith("p near ")]
        limit = 0.2 if class_ == label else 0.8
        assert near[0].startswith(f"p near {limit}, ")
        p = ev.probability[reasons[near[0]], ("bad", "good").index(class_)]
        assert abs(p - limit) <= 0.1


@pytest.mark.parametrize("seed", range(20))
def test_undecided_means_several_classes_decided(seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=(15, 3, 1)) * np.array([-1.0, 1.0])
    ev = shafer.Evidence.from_weights(weights)
    sizes = ev.decide("interval_dominance").sum(axis=1)
    for case in notable_cases(ev, class_=1):
        assert not case.reason.startswith("undecided") or sizes[case.row] > 1
        assert not case.reason.startswith("p near one half") or sizes.max() == 1


def test_unknown_class(ev: shafer.Evidence) -> None:
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \[1\]"):
        notable_cases(ev, class_=1)
    with pytest.raises(ValueError, match="class_ must be one class label; got"):
        case_table(ev, [Case(0, "")], class_=["ant", "bee"])


def test_one_row_is_enough(ev: shafer.Evidence) -> None:
    assert [case.row for case in notable_cases(ev[4], class_="ant")] == [0]


def test_table(ev: shafer.Evidence) -> None:
    text = case_table(ev, [Case(3, "because")], class_="cat")
    header, rule, line, note = text.splitlines()
    assert header.split()[:5] == ["row", "why", "shown", "p(cat)", "ant"]
    assert set(rule) == {"-"}
    assert len(rule) == max(map(len, (header, line)))
    assert f"{ev.probability[3, 2]:.3f}" in line
    assert f"[{ev.belief[3, 0]:.3f}, {ev.plausibility[3, 0]:.3f}]" in line
    rival = int(np.argmax(np.where(np.arange(3) == 2, -np.inf, ev.logits[3])))
    contrast = ev.contrast("cat", ev.classes[rival])[3]
    strongest = int(np.argmax(contrast))
    first = f"for cat over {ev.classes[rival]}: {'wxyz'[strongest]} {contrast[strongest]:+.2f}"
    assert first in note
    assert f"{ev.disagreement[3]:.3f}" in line


def test_nothing_to_say() -> None:
    vacuous = shafer.Evidence.from_weights(np.zeros((1, 2, 2)))
    assert "for 1: nothing  |  against: nothing" in case_table(vacuous, [Case(0, "")], class_=1)


def test_summary() -> None:
    study = heart_study()
    text = summary(study, rows=[0, 461])
    assert "462 instances, 9 components and the base rate, 2 classes: healthy, chd" in text
    assert f"error on held-out rows {100 * study.held_out_error:.1f} %" in text
    assert f"{study.evidence.probability[461, 1]:.3f}" in text
    assert "\n461  asked for" in text
    assert "chd most probable" in summary(study)
    assert "and 442 more in the report" in summary(study, rows=range(462))


def test_many_classes_and_components_stay_readable() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 200))
    explainer = shafer.Explainer((rng.normal(size=(100, 200)), np.zeros(100)), X)
    study = make_study(explainer, X)
    assert max(map(len, summary(study).splitlines())) < 200
    text = explained(study, 2)
    assert max(map(len, text.splitlines()[3:])) < 110
    assert "the other 190 inputs" in text
    assert "and 90 less plausible classes" in text


def test_explained() -> None:
    study = heart_study()
    text = explained(study, 17)
    one = study.evidence[17]
    sentence = study.sentence(17)
    assert sentence[0].upper() + sentence[1:] in text
    assert (
        f"{one.probability[0, 1]:.3f} [{one.belief[0, 1]:.3f}, {one.plausibility[0, 1]:.3f}]"
        in text
    )
    assert f"Ignorance {one.ignorance[0]:.3f}, disagreement {one.disagreement[0]:.3f}" in text
    contrast = one.contrast("chd", "healthy")[0]
    assert f"typea 78         +{contrast[5]:.2f}  ████████████████████████" in text
    assert f"base rate        −{-contrast[-1]:.2f}  █" in text
    assert text.index("  base rate") < text.index("  typea 78")  # before all features
    assert f"sum              +{contrast.sum():.2f}  = ln(0.889 / 0.111)" in text
    with pytest.raises(ValueError, match="row must lie between 0 and 461; got 462"):
        explained(study, 462)


def test_names_cannot_move_the_cursor() -> None:
    names, classes = ["a\x1b[2Jb", "🫀\u2028"], ["no\nno", "\x9b31m"]
    ev = shafer.Explainer(([1.0, 2.0], 0.0), np.eye(2), names=names, classes=classes)
    study = make_study(ev, np.eye(2), title="t\x07\n", about=["\x1b[31m"])
    for text in (explained(study, 0), summary(study), summary(study, [0, 1])):
        assert all(line.isprintable() for line in text.split("\n"))
        assert "no\n" not in text


def test_long_names_are_cut() -> None:
    long = "x" * 500
    ev = shafer.Explainer(([1.0, 2.0], 0.0), np.eye(2), names=[long, "b"], classes=["no", long])
    study = make_study(ev, np.eye(2), names=[long, "b"])
    assert "x" * 41 not in study.sentence(0)
    assert max(map(len, summary(study).splitlines())) < 250


@pytest.mark.parametrize("width", [40, 60, 80])
def test_width(width: int) -> None:
    study = heart_study()
    for row in (0, 17):
        assert max(map(len, explained(study, row, width).splitlines())) <= max(width, 50)


def three_classes(n_classes: int = 5) -> shafer.report.Study:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 5))
    return make_study(
        shafer.Explainer((rng.normal(size=(n_classes, 5)), np.zeros(n_classes)), X, prior="shared"),
        X,
    )


def test_a_probability_below_its_belief_is_explained() -> None:
    study = three_classes()
    ev = study.evidence
    for row in range(10):
        below = np.flatnonzero(ev.belief[row] - ev.probability[row] > 1e-9)
        text = explained(study, row, 80)
        assert text.count("below the belief: ") == len(below)
        assert max(map(len, text.splitlines())) <= 80
        for k in below:
            after = text.index(f"[{ev.belief[row, k]:.3f}, {ev.plausibility[row, k]:.3f}]")
            assert text.index("below the belief", after) - after < 80
        table = case_table(ev, [Case(row, "")], class_=0)
        star = bool(ev.belief[row, 0] - ev.probability[row, 0] > 1e-9)
        assert (f"{ev.probability[row, 0]:.3f}*" in table) == star
    stars = "*             p is below the belief"
    focus = int(np.bincount(study.answers).argmax())
    low = [i for i in range(40) if ev.belief[i, focus] - ev.probability[i, focus] > 1e-9]
    assert stars in summary(study, low[:1])
    assert stars not in summary(study, [i for i in range(40) if i not in low][:1])
    assert "below the belief" not in summary(heart_study())


def test_why_this_rather_than_that() -> None:
    study = three_classes(3)
    text = explained(study, 0, class_=2, over=0)
    assert "Why 2 rather than 0, in log-odds: +1 multiplies the odds by 2.7" in text
    contrast = study.undiscounted[0].contrast(2, 0)[0]
    p = study.evidence.probability[0]
    sign = "+" if contrast.sum() > 0 else "−"
    total = f"{sign}{abs(contrast.sum()):.2f}  = ln({p[2]:.3f} / {p[0]:.3f})"
    assert total in text
    assert "an equal share of the base rate" in text  # as the explainer was asked
    best, second = np.argsort(-p)[:2]
    assert f"Why {best} rather than {second}, in" in explained(study, 0)


def test_the_summary_without_cases() -> None:
    """For readers who judge first: no row, and no answer."""
    text = summary(heart_study(), cases=False)
    assert "error on held-out rows" in text
    assert "why shown" not in text
    assert "decided  " not in text


# Terminal reasons.


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
    assert head == "Reasons for chd over healthy, in log-odds: +1 multiplies the odds by 2.7"
    contrast = study.undiscounted[17].contrast("chd", "healthy")[0]
    share = contrast[5] / np.maximum(contrast[:-1], 0).sum()
    words = (
        f"typea 78, above the usual 41–65, multiplies the odds of chd by {np.exp(contrast[5]):.1f}"
    )
    numbers = f"(+{contrast[5]:.2f}, {100 * share:.0f} % of what favours chd)"
    assert first == f"  1. {words} {numbers}  A1  type A behaviour"
    assert second.endswith("A2")
    assert third.endswith("of what favours chd)")
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
    lower, upper = one.contrast_interval("chd", "healthy", 0.9)
    contrast = one.contrast("chd", "healthy")[0]
    half = (upper - lower)[0] / 2
    assert f"typea 78         +{contrast[5]:.2f} ±{half[5]:.2f}  ████" in text
    obesity = one.component_names.index("obesity")
    assert lower[0, obesity] < 0 < upper[0, obesity]
    assert f"obesity 32.73    −{-contrast[obesity]:.2f} ±{half[obesity]:.2f}  ░░░" in text
    whole = one.grouped("one").contrast_interval("chd", "healthy", 0.9)
    assert f"sum              +2.08 ±{(whole[1] - whole[0])[0, 0] / 2:.2f}  = ln" in text
    assert "A light bar (░) cannot be told from zero" in text
    assert "±" not in explained(heart_study(), 17)
    lines = reason_lines(study, 17, Pair(1, 0), ReasonsAsked(9))
    unclear = [line for line in lines if line.endswith("cannot be told from zero")]
    assert ["adiposity" in line or "sbp" in line for line in unclear] == [True, True]
