"""Calls on evidence, belief functions, fusion and decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import shafer
from shafer import Evidence, belief, decision, evidence, fusion
from shafer.decision.acts import read_acts, read_loss

from .calls import covers, covers_path
from .worlds import FEATURES, N_ROWS, World

TYPES = (
    "evidence.Evidence",
    "evidence.DiscountedEvidence",
    "fusion.MixedEvidence",
    "fusion.FiniteEvidence",
)

BY_VALUE = ("booleans for numbers",)  # names of 0 and 1 in tables and sources
BY_TEXT = ("strings for numbers",)  # column names of files are texts


def _evidence(world: World, source: int = 0) -> Evidence:
    names = [["u", "v"], ["s", "t"]][source]
    return Evidence.from_weights(world.weights(source), classes=world.classes, names=names)


def _every_type(world: World) -> list[Any]:
    first, second = _evidence(world), _evidence(world, 1)
    return [
        first,
        first.discounted(0.5),
        fusion.combine({"first": first, "second": second}, reliability=[0.8, 0.6]),
        fusion.combine([first, second], "disjunctive"),
    ]


@covers(
    *(
        f"{kind}.{name}_of"
        for kind in TYPES
        for name in ("mass", "belief", "plausibility", "commonality")
    )
)
def sets_of_classes(world: World) -> list[Any]:
    asked = [world.given[0], list(world.given[:2]), world.named([1, 0])]
    names = ("mass_of", "belief_of", "plausibility_of", "commonality_of")
    return [
        getattr(ev, name)(subset) for ev in _every_type(world) for name in names for subset in asked
    ]


@covers(
    *(
        f"{kind}.{name}"
        for kind in TYPES
        for name in ("lower_risk", "upper_risk", "decide", "acts")
    ),
    allows=(*BY_VALUE, *BY_TEXT),
)
def losses(world: World) -> list[Any]:
    found = []
    for ev in _every_type(world):
        for loss in world.losses():
            found.append([ev.lower_risk(loss), ev.upper_risk(loss)])
            found.append(ev.decide("pignistic", loss=loss))
            found.append(ev.decide("pignistic", utility=loss))
        named = [ev.acts("pignistic", loss=loss) for loss in world.losses()[1:]]
        assert named[0] == named[1] == named[2]
    return [np.ravel(part) for part in found]


@covers("evidence.Evidence.points")
def points_of_a_class(world: World) -> list[Any]:
    ev = _evidence(world)
    return [ev.points(class_=label) for label in world.given]


@covers(allows=(*BY_VALUE, *BY_TEXT))
def loss_tables(world: World) -> list[Any]:
    like, classes = world.weights()[:, 0], world.class_array
    read = [read_acts(loss, None, None, like, classes) for loss in world.losses()]
    read += [read_loss(loss, like, classes) for loss in world.losses()]
    return [acts.loss for acts in read if acts is not None]


@covers("evidence.Evidence.from_weights", "evidence.Evidence.from_source", compares=False)
def made_from_weights(world: World) -> Any:
    ev = _evidence(world)
    again = Evidence.from_source(ev.source, ev.classes, ev.component_names)
    assert again.classes.tolist() == list(world.classes)
    return [ev.belief, again.belief]


@covers("evidence.Evidence.grouped", "evidence.Evidence.without", compares=False)
def components(world: World) -> list[Any]:
    ev = _evidence(world)
    return [
        ev.grouped({"both": ["v", "u"]}).belief,
        ev.without("v").belief,
        ev.without(["u"]).belief,
    ]


@covers("evidence.Evidence.from_statements", "fusion.FiniteEvidence.from_statements")
def statements(world: World) -> list[Any]:
    said = [
        {"for": world.given[0], "weight": 1.0},
        {"against": world.given[1], "weight": 0.5},
    ]
    prior = dict(zip(world.given[::-1], [0.2, 0.3, 0.5], strict=False))
    sure = {"for": world.given[1], "probability": 0.7}
    kinds = (Evidence, fusion.FiniteEvidence)
    found = [kind.from_statements(said, classes=world.classes).belief for kind in kinds]
    return found + [
        kind.from_statements(sure, classes=world.classes, prior=prior).belief for kind in kinds
    ]


@covers("evidence.Evidence.from_statements")
def opinions_about_rows(world: World) -> list[Any]:
    seen = world.named([0, 1, 0])
    frame = pd.DataFrame({"label": pd.Series(seen.tolist(), dtype=object), "sure": [0.7, 0.8, 0.9]})
    frame.loc[2] = [None, None]
    columns = {
        "doctor": {"for": "label", "probability": "sure"},
        "nurse": {"against": world.given[1], "support": 0.4},
    }
    ev = Evidence.from_statements(frame, classes=world.classes, columns=columns)
    turned = Evidence.from_statements(
        frame[["sure", "label"]], classes=world.classes, columns=columns
    )
    np.testing.assert_array_equal(ev.weights, turned.weights)
    return [ev.weights]


@covers("fusion.FiniteEvidence.from_masses", "fusion.FiniteEvidence", compares=False)
def masses(world: World) -> Any:
    table = np.full((2, 2**world.n_classes), 2.0**-world.n_classes)
    return fusion.FiniteEvidence.from_masses(table, classes=world.classes).belief


@covers("fusion.combine", "fusion.prior_evidence", "fusion.without_prior", allows=BY_VALUE)
def priors(world: World) -> list[Any]:
    ev = _evidence(world)
    prior = dict(zip(world.given[::-1], [0.2, 0.3, 0.5], strict=False))
    pooled = fusion.combine([ev, _evidence(world, 1)], prior=prior)
    order = pooled.plausibility_of(world.classes[0])
    alone = fusion.prior_evidence(prior, classes=world.classes)
    return [order, pooled.belief, alone.belief, fusion.without_prior(ev, prior).belief]


@covers("fusion.combine", allows=BY_VALUE)
def classes_in_another_order(world: World) -> list[Any]:
    first = _evidence(world)
    turned = Evidence.from_weights(world.weights(1)[..., ::-1], classes=world.classes[::-1])
    pooled = fusion.combine([first, turned], classes=world.given)
    expected = fusion.combine([first, _evidence(world, 1)])
    np.testing.assert_allclose(pooled.belief, expected.belief)
    coarse = Evidence.from_weights(world.weights()[..., :2], classes=["rest", "last"])
    meaning = {"rest": list(world.given[:-1]), "last": [world.given[-1]]}
    return [pooled.belief, fusion.combine([first, coarse], coarse=meaning).belief]


@covers("evidence.Evidence.with_unknown")
def an_unknown_class(world: World) -> list[Any]:
    wider = _evidence(world).with_unknown("not among them")
    assert wider.classes.tolist() == [*world.classes, "not among them"]
    known = [wider.plausibility_of(label) for label in world.given]
    return [*known, wider.plausibility_of("not among them")]


@covers("evidence.least_commitment", "evidence.least_commitment_additive", compares=False)
def engines(world: World) -> list[Any]:
    coef = world.weights()[0].T @ np.ones((2, 3))
    linear = evidence.least_commitment(
        coef, coef[:, 0], np.zeros(3), classes=world.classes, names=["p", "q", "r"]
    )
    additive = evidence.least_commitment_additive(world.weights()[0], classes=world.classes)
    return [linear(FEATURES).belief, additive(world.weights()).belief]


@covers("decision.split_conformal", "decision.cross_conformal")
def conformal(world: World) -> list[Any]:
    scores = np.tile(world.weights()[:, 0], (4, 1))
    y, options = world.named(world.truth), {"classes": world.classes, "coverage": 0.7}
    split = decision.split_conformal(scores, y, class_conditional=True, **options)
    folds = np.arange(len(y)) % 3
    cross = decision.cross_conformal(scores, folds, y, **options)
    return [split.threshold, cross.sets([scores[:5]] * 3)]


@covers("belief.Frame", "belief.Frame.position", "belief.Frame.subset")
def frames(world: World) -> list[Any]:
    frame = belief.Frame(list(world.classes))
    return [frame.position(world.given[1]), frame.subset(world.given[:2])]


@covers(
    *(
        f"belief.MassFunction.{name}"
        for name in (
            "belief_of",
            "categorical",
            "commonality_of",
            "conditioned_on",
            "contextually_discounted",
            "mass_of",
            "plausibility_of",
            "simple",
        )
    )
)
def mass_functions(world: World) -> list[Any]:
    frame, pair = belief.Frame(list(world.classes)), list(world.given[:2])
    simple = belief.MassFunction.simple([world.given[0]], frame, support=0.6)
    other = belief.MassFunction.categorical(pair, frame)
    discounted = simple.contextually_discounted({world.given[1]: 0.3})
    made = [simple, other, discounted, simple.conditioned_on(pair)]
    asked = ("mass_of", "belief_of", "plausibility_of", "commonality_of")
    return [getattr(m, name)([world.given[0]]) for m in made for name in asked]


@covers_path("evidence.Evidence.save", "evidence.Evidence.load")
def saved_evidence(path: str | Path) -> Any:
    ev = _evidence(World(("a", "b")))
    ev.save(path)
    again = shafer.Evidence.load(path)
    assert again.classes.tolist() == ["a", "b"]
    return again.belief


@covers("evidence.Evidence.save", compares=False)
def saved_labels(world: World) -> Any:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        _evidence(world).save(Path(folder) / "evidence.npz")
        again = Evidence.load(Path(folder) / "evidence.npz")
    assert again.classes.tolist() == list(world.classes)
    return again[:N_ROWS].belief
