"""Numbers printed in the paper's text and tables, and its figures described in our words."""

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
    """A figure of the paper: its number, a caption and the paper's claim, in our words."""

    number: int
    caption: str
    claim: str


FIGURES = MappingProxyType(
    {
        "generalised": PrintedFigure(
            1,
            "A generalised logistic regression: features of the input, a linear function of them "
            "for each class, and the softmax.",
            "Generalised additive models, networks and support vector machines have this form.",
        ),
        "contours": PrintedFigure(
            2,
            "How two opposing totals shape the pooled mass function: level lines of m({θ₁}), "
            "m(Θ) and κ over w⁺ (across) and w⁻ (up).",
            "Belief in θ₁ grows with the weight for it and falls with the weight against; "
            "ignorance falls with the sum of the two; conflict grows with each of them.",
        ),
        "binary-views": PrintedFigure(
            3,
            "A classifier of two classes as it is usually read (a), and as evidence (b): each "
            "feature becomes a mass function, and Dempster's rule combines them.",
            "Both give the same probability. The mass function has one more degree of freedom.",
        ),
        "multinomial-views": PrintedFigure(
            4,
            "The same for K classes: each feature is evidence for or against each class.",
            "The probabilities are the normalised plausibilities of the combined mass function.",
        ),
        "heart-data": PrintedFigure(
            5,
            "The 462 men in the plane of age and LDL, cases as triangles and controls as "
            "circles, with the fitted boundary and its lines of equal probability.",
            "160 cases and 302 controls.",
        ),
        "heart-weights": PrintedFigure(
            6,
            "The weight each of the two features gives, against its value, with the men of "
            "either class along the two horizontal edges (jittered).",
            "Age is evidence for an infarction from about 50 years on, and against it before; "
            "for LDL the sign changes at about 6.87.",
        ),
        "heart-masses": PrintedFigure(
            7,
            "Each feature's own masses of {θ₁} (solid), {θ₂} (broken) and Θ (dotted) against "
            "its value.",
            "A feature at its cut-off gives no evidence: its mass function is vacuous there.",
        ),
        "heart-planes": PrintedFigure(
            8,
            "Four views of the pooled mass function over age and LDL: belief in θ₁ (a), its "
            "plausibility (b), ignorance (solid) and conflict (broken) (c), and the "
            "boundaries of the MP (solid) and ID (broken) rules (d).",
            "Below both cut-offs nothing supports θ₁; above both there is no evidence against it; "
            "ignorance peaks where both features are near their cut-offs; conflict is high "
            "for the young with a high LDL.",
        ),
        "gaussian-data": PrintedFigure(
            9,
            "The simulated training set and the boundary of the Bayes rule.",
            "",
        ),
        "gaussian-masses": PrintedFigure(
            10,
            "Level lines of the mass of each focal set over the plane, six panels, with the "
            "boundary of the MP rule.",
            "Single classes get the mass where they are dense, sets of classes where they overlap.",
        ),
        "hidden-unit": PrintedFigure(
            11,
            "The masses one unit of the last hidden layer gives, against its output.",
            "A small output is evidence for θ₁, alone or together with θ₂ or θ₃; a large one is "
            "evidence for θ₂, θ₃ and the two together.",
        ),
        "decision-regions": PrintedFigure(
            12,
            "The boundaries of the Bayes rule (thin), the MP rule (broken) and the ID rule "
            "(thick), with the six regions of the latter named.",
            "Three regions for single classes and one each for {θ₁, θ₂}, {θ₂, θ₃} and Θ. The "
            "sets lie along the Bayes boundary, so they often hold the Bayes decision where "
            "the MP rule differs from it.",
        ),
    }
)
