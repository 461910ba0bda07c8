from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence import LinearPool
from shafer.plots import RegionDisplay

CORNERS = np.array([[20.0, 2.0], [80.0, 12.0]])


def _points(display: RegionDisplay) -> np.ndarray:
    x, y = np.meshgrid(display.x, display.y)
    return np.column_stack([x.ravel(), y.ravel()])


@pytest.mark.parametrize(
    ("response", "subset"),
    [
        ("belief", "yes"),
        ("plausibility", "yes"),
        ("mass", ["no", "yes"]),
        ("probability", "yes"),
        ("ignorance", None),
        ("conflict", None),
        ("weight_of_conflict", None),
    ],
)
def test_quantities(binary: LinearPool, response: str, subset: object) -> None:
    display = RegionDisplay.from_explainer(
        binary, CORNERS, response, subset=subset, grid_resolution=30
    )
    evidence = binary(_points(display))
    expected = {
        "belief": evidence.belief[:, 1],
        "plausibility": evidence.plausibility[:, 1],
        "mass": evidence.ignorance,
        "probability": evidence.probability[:, 1],
    }.get(response)
    if expected is None:
        expected = getattr(evidence, response)
    assert_allclose(display.response.ravel(), expected)
    ax = Figure().subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "ldl")
    assert ax.texts  # levels are written on the curves
    with pytest.raises(ValueError, match=r"This Display shows .* which has no decided sets"):
        _ = display.chosen


@pytest.mark.parametrize("rule", ["plausibility", "belief", "pignistic", "interval_dominance"])
def test_decisions(binary: LinearPool, rule: str) -> None:
    display = RegionDisplay.from_explainer(
        binary, CORNERS, "decision", rule=rule, grid_resolution=41
    )
    assert display.name == rule
    assert_array_equal(display.chosen.reshape(-1, 2), binary(_points(display)).decide(rule))
    ax = display.plot(Figure().subplots()).ax_
    names = {text.get_text() for text in ax.texts}
    assert names == ({"{no}", "{yes}", "Θ"} if rule == "interval_dominance" else {"{no}", "{yes}"})


def test_evidence_at_hand(binary: LinearPool, kind: Callable[[Any], Any]) -> None:
    x, y = np.linspace(20.0, 80.0, 9), np.linspace(2.0, 12.0, 7)
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    evidence = kind(binary(points))
    for response in ("belief", "ignorance", "decision"):
        display = RegionDisplay.from_evidence(
            evidence, x, y, response, feature_names=["age", "ldl"]
        ).plot(Figure().subplots())
        same = RegionDisplay.from_explainer(binary, points, response, grid_resolution=9)
        assert_allclose(display.response[[0, -1]], same.response[[0, -1]], atol=1e-12)
        assert display.ax_.get_ylabel() == "ldl"
    with pytest.raises(ValueError, match="each of 9 × 9 points of the grid; got 63 rows"):
        RegionDisplay.from_evidence(evidence, x, x)


@pytest.mark.parametrize(
    ("rule", "options"),
    [("utility_set", {}), ("interval_dominance", {"loss": [[0, 1, 4], [2, 0, 2], [4, 1, 0]]})],
)
def test_rules_without_margins(rule: str, options: dict[str, Any]) -> None:
    """A rule that does not compare scores is drawn from the sets it chooses."""
    weights = np.random.default_rng(0).normal(size=(20, 2, 3))
    evidence = shafer.Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))
    display = RegionDisplay.from_evidence(
        evidence, np.arange(5.0), np.arange(4.0), "decision", rule=rule, **options
    )
    expected = evidence.decide(rule, **options)
    assert 20 < expected.sum() < 60  # sets of several sizes
    assert_array_equal(display.chosen.reshape(20, 3), expected)
    display.plot(Figure().subplots())


def test_any_number_of_classes(pool: LinearPool) -> None:
    data = np.random.default_rng(0).normal(size=(20, 3))
    display = RegionDisplay.from_explainer(
        pool, data, "decision", features=(2, 0), grid_resolution=25
    )
    assert display.feature_names == ("x2", "x0")
    points = np.tile(np.median(data, axis=0), (25 * 25, 1))
    points[:, [2, 0]] = _points(display)
    assert_array_equal(display.chosen.reshape(len(points), -1), pool(points).decide())
    display.plot(Figure().subplots()).figure_.canvas.draw()


def test_a_function_of_the_plane() -> None:
    corners = np.array([[-1.0, -1.0], [1.0, 1.0]])

    def scores(X: np.ndarray) -> np.ndarray:
        return np.column_stack([X[:, 0], X[:, 1], -X.sum(axis=1)])

    display = RegionDisplay.from_function(
        scores,
        corners,
        classes=["a", "b", "c"],
        grid_resolution=40,
    )
    assert_array_equal(display.chosen.sum(axis=2), 1)
    best = scores(_points(display)).argmax(axis=1).reshape(40, 40)
    assert_array_equal(display.chosen.argmax(axis=2), best)
    display.plot(Figure().subplots(), filled=False, labelled=False, label="rule")
    assert not display.ax_.texts
    assert display.ax_.get_legend_handles_labels()[1] == ["rule"]
    level = RegionDisplay.from_function(lambda X: X[:, 0] ** 2, corners, name="square")
    assert level.plot(Figure().subplots(), levels=[0.25]).response.shape == (200, 200)


def test_a_boundary_between_two_classes_is_drawn_once() -> None:
    display = RegionDisplay.from_function(
        lambda X: np.column_stack([X[:, 0], -X[:, 0]]), CORNERS - CORNERS.mean(axis=0)
    )
    display.plot(Figure().subplots(), filled=False, labelled=False)
    drawn = [len(c.get_paths()[0].vertices) for c in display.ax_.collections]
    assert sum(count > 0 for count in drawn) == 1


def test_narrow_regions_are_named_beside() -> None:
    corners = np.array([[-1.0, -1.0], [1.0, 1.0]])
    display = RegionDisplay.from_function(
        lambda X: np.column_stack([X[:, 0] - 0.02, 0 * X[:, 0], -X[:, 0] - 0.02]),
        corners,
        classes=["left of all", "a narrow strip", "right of all"],
    )
    display.plot(Figure().subplots())
    place = {text.get_text(): text.xyann for text in display.ax_.texts}
    assert abs(place["{a narrow strip}"][0]) > 0.2  # not on the strip, which is 0.04 wide
    assert len(place) == 3


def test_wrong_use(binary: LinearPool) -> None:
    with pytest.raises(ValueError, match="response must be one of 'belief', .* got 'doubt'"):
        RegionDisplay.from_explainer(binary, CORNERS, "doubt")
    with pytest.raises(ValueError, match="rule must be one of .* got 'coin'"):
        RegionDisplay.from_explainer(binary, CORNERS, "decision", rule="coin")


def test_new_axes_have_the_name_of_the_quantity() -> None:
    pool = shafer.least_commitment([1.0, -2.0], 0.3, classes=["no", "yes"])
    X = np.array([[-1.0, -1.0], [1.0, 1.0]])
    for response, options, title in (
        ("ignorance", {}, "ignorance"),
        ("belief", {}, "belief of yes"),
        ("plausibility", {"subset": "no"}, "plausibility of no"),
        ("mass", {"subset": ["no", "yes"]}, "mass of Θ"),
        ("decision", {}, "interval dominance"),
    ):
        display = RegionDisplay.from_explainer(pool, X, response, grid_resolution=5, **options)
        assert display.plot().ax_.get_title() == title
        assert display.plot(Figure().subplots()).ax_.get_title() == ""  # the caller's axes


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame])
def test_frames_stay_frames(library: Callable[[dict[str, Any]], Any]) -> None:
    given = library({"age": [20.0, 80.0, 50.0], "ldl": [2.0, 12.0, 4.0]})
    model = LogisticRegression().fit(given, ["no", "yes", "yes"])
    explainer = shafer.Explainer(model, given)
    # Without column names scikit-learn would warn, and warnings are errors here.
    display = RegionDisplay.from_explainer(explainer, given, "ignorance", grid_resolution=4)
    assert tuple(display.feature_names) == ("age", "ldl")
    numbers = shafer.Explainer((model.coef_, model.intercept_), given.to_numpy())
    same = RegionDisplay.from_explainer(numbers, given.to_numpy(), "ignorance", grid_resolution=4)
    assert_allclose(display.response, same.response)


def test_a_frame_without_names_is_an_array(binary: LinearPool) -> None:
    given = pandas.DataFrame(CORNERS)  # columns 0 and 1
    display = RegionDisplay.from_explainer(binary, given, "ignorance", grid_resolution=4)
    assert_allclose(
        display.response,
        RegionDisplay.from_explainer(binary, CORNERS, "ignorance", grid_resolution=4).response,
    )


def test_a_function_may_return_sets() -> None:
    frame = pandas.DataFrame(CORNERS, columns=["age", "ldl"])

    def sets(points: pandas.DataFrame) -> np.ndarray:
        return np.column_stack([points["age"] < 60, points["age"] > 40])

    display = RegionDisplay.from_function(sets, frame, classes=["no", "yes"], grid_resolution=7)
    assert tuple(display.feature_names) == ("age", "ldl")
    assert_array_equal(display.chosen[0], np.column_stack([display.x < 60, display.x > 40]))
