"""What the paper printed: numbers of its text and tables, captions, and in short what it says."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

HEART_CUTOFFS = MappingProxyType({"age": 50.0, "ldl": 6.87})

# Rows +, −, {+, −}; columns true +, true −; per cent of all instances (Tables 1 and 2).
HEART_MP = ((13.8, 10.6), (20.8, 54.8))
HEART_ID = ((3.6, 2.2), (9.8, 42.2), (21.2, 21.0))
HEART_DERIVED = MappingProxyType(
    {"mp_error": 31.4, "id_error": 12.0, "rejection": 42.2, "random_choice_error": 33.1}
)

GAUSSIAN = MappingProxyType(
    {"bayes_error": 24.6, "mp_error": 25.7, "id_error": 17.5, "pairs": 16.46, "triples": 2.83}
)
# Rows θ1, θ2, θ3 and then {θ1, θ2}, {θ2, θ3}, Θ; columns true θ1, θ2, θ3 (Tables 3 and 4).
GAUSSIAN_MP = ((26.8, 9.7, 2.6), (5.6, 18.2, 1.5), (0.9, 5.4, 29.2))
GAUSSIAN_ID = (
    (21.5, 6.6, 1.8),
    (2.5, 14.1, 0.5),
    (0.9, 5.2, 28.3),
    (6.8, 5.3, 1.0),
    (0.3, 1.4, 1.2),
    (0.9, 0.8, 1.0),
)


class PrintedFigure(NamedTuple):
    """A figure of the paper: its number, its caption, and in short what the text says about it."""

    number: int
    caption: str
    claim: str


FIGURES = MappingProxyType(
    {
        "contours": PrintedFigure(
            2,
            "Contour lines of m({θ₁}) (a), m(Θ) (b) and the degree of conflict κ (c) as functions "
            "of w⁺ (horizontal axis) and w⁻ (vertical axis).",
            "m({θ₁}) is increasing w.r.t. w⁺ and decreasing w.r.t. w⁻, while the mass m(Θ) is a "
            "decreasing function of the total weight of evidence. The degree of conflict κ "
            "increases with both w⁻ and w⁺.",
        ),
        "heart-data": PrintedFigure(
            5,
            "Heart disease data, with the decision boundary (thick solid line) and the lines of "
            "equal positive class posterior probability for the logistic regression classifier. "
            "The positive and negative instances are identified by triangles and circles, "
            "respectively.",
            "There are 160 positive cases in this data, and a sample of 302 negative cases.",
        ),
        "heart-weights": PrintedFigure(
            6,
            "Weights w_j as a function of x_j for variables age (left) and LDL (right). The "
            "feature values for positive and negative instances are shown, respectively, on the "
            "lower and upper horizontal axes, with some random vertical jitter to avoid overlap.",
            "An age greater than ξ₁ ≈ 50 is evidence for the presence of MI, whereas an age less "
            "than 50 is evidence for the absence of MI. For LDL, the cut-off point is ξ₂ ≈ 6.87.",
        ),
        "heart-masses": PrintedFigure(
            7,
            "Mass functions m_j for variables age (left) and LDL (right). The solid, broken and "
            "dotted lines correspond, respectively, to m_j({θ₁}), m_j({θ₂}) and m_j(Θ).",
            "At the cut-off point ξ_j, the mass function m_j is vacuous.",
        ),
        "heart-planes": PrintedFigure(
            8,
            "(a): Curves of equal degree of belief Bel({θ₁}) = m({θ₁}) for the positive class; "
            "(b): curves of equal plausibility pl(θ₁); (c): ignorance m(Θ) (solid lines) and "
            "degree of conflict (broken lines); (d): Decision boundaries for the MP rule (solid "
            "line) and the ID rule (broken lines).",
            "There is no support for the positive class when both variables are below their "
            "cut-off points (lower-left part), whereas the positive class is fully plausible when "
            "both variables are above their cut-off points. When both variables are close to their "
            "cut-off points, the ignorance m(Θ) is high. The conflict is high for a young subject "
            "with a high LDL level (upper-left corner).",
        ),
        "gaussian-data": PrintedFigure(
            9, "Simulated Gaussian data with the Bayes decision boundary.", ""
        ),
        "gaussian-masses": PrintedFigure(
            10,
            "Level curves of the output masses assigned to different focal sets (Gaussian data), "
            "with the MP decision boundary.",
            "Masses are assigned to singletons in regions of high class density, and to sets of "
            "classes in regions where these classes overlap. (Six panels.)",
        ),
        "hidden-unit": PrintedFigure(
            11,
            "Masses computed by a hidden unit, as functions of the unit outputs.",
            "When the hidden unit output φ_j is small, the mass is distributed between {θ₁}, "
            "{θ₁, θ₂} and {θ₁, θ₃}. When φ_j is large, it supports {θ₂}, {θ₃} and {θ₂, θ₃}.",
        ),
        "decision-regions": PrintedFigure(
            12,
            "Bayes decision boundary (thin solid line) and boundaries of the MP rule (thick broken "
            "line) and ID rule (thick solid line). The ID rule divides the feature space into six "
            "regions, with corresponding interpretations shown in the figure.",
            "Six decision regions, corresponding to precise assignment to each of the three "
            "classes, and to imprecise assignment to {θ₁, θ₂}, {θ₂, θ₃} and Θ. Regions "
            "corresponding to sets of classes partially include the Bayes boundary: the Bayes "
            "optimal decision, thus, often belongs to the set of decisions prescribed by the ID "
            "rule, including cases where the MP rule differs from the Bayes decision.",
        ),
    }
)
