"""The results of the experiments as sentences, for the terminal and for the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from shafer._checks.arrays import to_numpy
from shafer.paper import printed_numbers
from shafer.paper.figures_gaussian import decided_sets, focal_sets, papers_unit
from shafer.paper.figures_heart import two_weights
from shafer.paper.gaussian_experiment import CLASSES, UNITS, GaussianResult
from shafer.paper.heart_experiment import HeartResult
from shafer.plots.set_names import set_name

GAUSSIAN_NAMES = {
    "bayes_error": "error of the Bayes rule",
    "mp_error": "error of the MP rule",
    "id_error": "error of the ID rule",
    "pairs": "assigned to a pair of classes",
    "triples": "assigned to all three classes",
}
HEART_NAMES = {
    "mp_error": "error of the MP rule",
    "id_error": "error of the ID rule",
    "rejection": "not decided by the ID rule",
    "random_choice_error": "error if those were decided at random",
}
_GRID = 60  # points along each axis when a claim about the plane is checked


def verdict(figure: dict[str, Any]) -> str:
    """Return a sentence on whether the paper's number lies in the range over the networks."""
    if figure["paper_in_range"]:
        return "the paper's number lies in the range"
    side = "below" if figure["paper"] < figure["low"] else "above"
    return f"the paper's number lies {side} the range"


def summary_of_results(results: dict[str, Any]) -> str:
    """Return the main results as lines of text for the terminal."""
    heart, gaussian = results["heart"], results["gaussian"]
    worst = max(
        abs(here - there)
        for key, table in (("mp", printed_numbers.HEART_MP), ("id", printed_numbers.HEART_ID))
        for here, there in zip(np.ravel(heart[key]), np.ravel(table), strict=True)
    )
    lines = [
        f"Heart data: cut-offs at age {heart['cutoffs']['age']:.2f} (paper: about 50) and LDL "
        f"{heart['cutoffs']['ldl']:.3f} (paper: 6.87).",
        f"Confusion tables, mean of {heart['replications']} replications: every cell within "
        f"{worst:.1f} points of the paper.",
    ]
    for name, title in HEART_NAMES.items():
        row = heart["derived"][name]
        lines.append(
            f"  {title:<38} {row['mean']:5.1f} ± {row['sd']:.1f} %  (paper: {row['paper']})"
        )
    lines.append(
        f"Gaussian data: {gaussian['networks']} networks, {gaussian['epochs']} epochs, "
        f"λ = {gaussian['penalty']:g}; median [10 to 90 %]."
    )
    for name, title in GAUSSIAN_NAMES.items():
        row = gaussian[name]
        lines.append(
            f"  {title:<38} {row['median']:5.1f} [{row['low']:.1f} to {row['high']:.1f}] %  "
            f"(paper: {row['paper']}; {verdict(row)})"
        )
    return "\n".join(lines)


def heart_findings(result: HeartResult) -> dict[str, str]:
    """Return our findings about the figures of two classes, by figure name."""
    age, ldl = (result.cutoffs[name] for name in ("age", "ldl"))
    (youngest, lowest), (oldest, highest) = result.data.X.min(axis=0), result.data.X.max(axis=0)

    def over(x: tuple[float, float], y: tuple[float, float]) -> Any:
        x_grid, y_grid = np.meshgrid(np.linspace(*x, _GRID), np.linspace(*y, _GRID))
        return result.explainer(np.column_stack([x_grid.ravel(), y_grid.ravel()]))

    below = to_numpy(over((youngest, age), (lowest, ldl)).belief_of(CLASSES[0])).max()
    above = to_numpy(over((age, oldest), (ldl, highest)).plausibility_of(CLASSES[0])).min()
    corners = result.explainer(np.array([[age, ldl], [youngest, highest]]))
    vacuous = float(to_numpy(corners.ignorance)[0])
    conflict, p = (float(to_numpy(a)[1]) for a in (corners.conflict, corners.probability[:, 0]))
    positive = int((result.data.y == CLASSES[0]).sum())
    own = result.explainer.model.predict_proba(result.data.X)
    gap = np.abs(own - to_numpy(result.explainer(result.data.X).probability)).max()
    one_sided, balanced = to_numpy(two_weights(np.array([[2.0, 0.0], [1.1, 1.1]])).ignorance)
    return {
        "generalised": (
            "The logistic regression of the heart data has the inputs themselves as features; the "
            "networks of the Gaussian data have the ten units of their last hidden layer."
        ),
        "binary-views": (
            f"Over the {len(own)} men, both ways give the same probability; the largest difference "
            f"is {gap:.0e}."
        ),
        "contours": (
            "Confirmed, except that m(Θ) depends on both weights, not on their sum alone: it is "
            f"{one_sided:.3f} at (2, 0) and {balanced:.3f} at (1.1, 1.1), where the sum is larger."
        ),
        "heart-data": f"{positive} positive and {len(result.data.y) - positive} negative cases.",
        "heart-weights": f"The weights vanish at {age:.2f} years and at an LDL of {ldl:.3f}.",
        "heart-masses": f"At both cut-offs together m(Θ) = {vacuous:.3f}.",
        "heart-planes": (
            f"Below both cut-offs the belief in θ₁ is at most {below:.3f}; above both its "
            f"plausibility is at least {above:.3f}; at both the ignorance is {vacuous:.3f}. In the "
            f"upper-left corner (age {youngest:.0f}, LDL {highest:.1f}) the conflict is "
            f"{conflict:.2f}, and p(θ₁) = {p:.2f}."
        ),
    }


def gaussian_findings(
    result: GaussianResult, results: dict[str, Any], resolution: int
) -> dict[str, str]:
    """Return our findings about the Gaussian figures, by figure name."""
    unit, alike = papers_unit(result)
    largest = ", ".join(
        f"{set_name(members, np.array(CLASSES))} {mass:.2f}"
        for members, mass in focal_sets(result, resolution)
    )
    regions = decided_sets(result, resolution)
    bayes_in_set = results["bayes_in_set_where_mp_differs"]["median"]
    dead = int(np.sum(result.network.features(result.sample.X).max(axis=0) == 0))
    network, X = result.network, result.sample.X
    coef, intercept = network.head()
    usual = softmax(network.features(X) @ coef.T + intercept, axis=1)
    gap = np.abs(usual - to_numpy(result.evidence(X).probability)).max()
    return {
        "multinomial-views": (
            f"Over the {len(X)} points of the training set, both ways give the same probabilities; "
            f"the largest difference is {gap:.0e}."
        ),
        "gaussian-data": (
            f"The training set of the network nearest to the medians: {len(result.sample.y)} "
            "points, equally many of each class."
        ),
        "gaussian-masses": (f"Focal sets, each with its largest mass in this plane: {largest}."),
        "hidden-unit": (
            f"{UNITS[unit].capitalize()} is most like the paper's and behaves "
            f"{'in the same way' if alike else 'in the same way only in part'}. Below the curves: "
            "the outputs for the training set, class by class."
        ),
        "hidden-units": (
            "All ten units; the paper shows one. The percentages are the shares of training "
            f"instances for which a unit is active. Units that are never active: {dead}. They also "
            "carry their share of the intercept."
        ),
        "decision-regions": (
            f"{len(regions)} regions: {', '.join(regions)}. Where MP and Bayes differ, the Bayes "
            f"decision belongs to the ID set in {bayes_in_set:.0f} % of the cases (median network)."
        ),
    }
