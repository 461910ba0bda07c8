"""Sources that contradict each other, and sources that share components."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import shafer
from oracle import pooled_by_dempster
from shafer import Evidence, Explainer, belief, combine
from shafer.fusion import FiniteEvidence, conflict_between, influence

# Who contradicts whom, and who matters.


@given(
    st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 4.0])
)
@settings(max_examples=40)
def test_against_brute_force(n_classes: int, n_sources: int, seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    evidences = [
        Evidence.from_weights(random.normal(size=(2, 2, n_classes)) * size)
        for _ in range(n_sources)
    ]
    found = conflict_between(evidences)
    frame = belief.Frame(range(n_classes))
    for i in range(2):
        masses = [belief.MassFunction(frame, e.masses()[i]) for e in evidences]
        for s in range(n_sources):
            assert found.weights[i, s, s] == 0.0
            for t in range(s):
                expected = belief.degree_of_conflict(masses[s], masses[t])
                assert_allclose(found.degrees[i, s, t], expected, atol=1e-12)
                assert found.degrees[i, t, s] == found.degrees[i, s, t]
        assert_allclose(found.total[i], belief.degree_of_conflict(*masses), atol=1e-12)
        assert found.total_weight[i] >= found.weights[i].max() - 1e-12


def test_conflict_inside_a_source_is_its_own_affair() -> None:
    torn = Evidence.from_weights([[[3.0, 0.0], [0.0, 3.0]]])
    silent = Evidence.from_weights([[[0.0, 0.0]]])
    assert torn.conflict[0] > 0.9
    assert_allclose(conflict_between([torn, silent]).degrees, 0.0, atol=1e-12)


def test_huge_conflict_does_not_saturate() -> None:
    a = Evidence.from_weights([[[2000.0, 0.0, 0.0]]])
    b = Evidence.from_weights([[[0.0, 1000.0, 0.0]]])
    found = conflict_between({"a": a, "b": b})
    assert_allclose(found.weights[0, 0, 1], 1000.0)
    assert found.degrees[0, 0, 1] == 1.0


def test_tempering_and_frames() -> None:
    a = Evidence.from_weights([[[2.0, 0.0]]], classes=["x", "y"])
    b = Evidence.from_weights([[[2.0, 0.0]]], classes=["z", "x"])
    assert conflict_between([a, b]).total[0] > 0.5
    assert_allclose(conflict_between([a, b], tempering=[0.0, 1.0]).total, 0.0, atol=1e-12)
    with pytest.raises(ValueError, match="stands for several classes of another"):
        conflict_between([a, Evidence.from_weights([[[1.0, 0.0]]], classes=[("x", "y"), "w"])])
    with pytest.raises(ValueError, match="needs sources of type Evidence"):
        conflict_between([a, a.discounted(0.5)])
    with pytest.raises(ValueError, match="needs sources of type Evidence"):
        conflict_between([a, FiniteEvidence.from_masses([[0, 0.5, 0, 0.5]], classes=["x", "y"])])


def _by_brute_force(
    weights: list[Any], combination: str, factors: list[float], reliability: list[float]
) -> tuple[Any, Any]:
    """Combine one row of each source over all sets; return probabilities and the kept classes."""
    rows = [
        pooled_by_dempster(factor * w).discounted(1.0 - r)
        for w, factor, r in zip(weights, factors, reliability, strict=True)
    ]
    m = getattr(belief, combination)(*rows) if len(rows) > 1 else rows[0]
    kept = np.asarray(m.contour) >= max(m.belief_of([k]) for k in m.frame)
    return np.asarray(m.probability), kept


@pytest.mark.parametrize(
    ("combination", "factors", "reliability"),
    [
        ("dempster", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ("cautious", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ("disjunctive", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ("dempster", [0.5, 1.0, 2.0], [1.0, 1.0, 1.0]),
        ("dempster", [1.0, 1.0, 1.0], [0.5, 1.0, 0.9]),
    ],
)
def test_leaving_a_source_out(
    combination: str, factors: list[float], reliability: list[float]
) -> None:
    weights = np.random.default_rng(0).normal(size=(3, 5, 2, 3))
    evidences = dict(zip("abc", map(Evidence.from_weights, weights), strict=True))
    found = influence(evidences, combination, tempering=factors, reliability=reliability)
    assert found.names == ("a", "b", "c")
    changed = np.zeros((5, 3), dtype=bool)
    for i in range(5):
        everyone = _by_brute_force(list(weights[:, i]), combination, factors, reliability)
        assert_allclose(found.combined.probability[i], everyone[0], atol=1e-12)
        for s in range(3):
            rest = [t for t in range(3) if t != s]
            without = _by_brute_force(
                [weights[t, i] for t in rest],
                combination,
                [factors[t] for t in rest],
                [reliability[t] for t in rest],
            )
            assert_allclose(found.without[s].probability[i], without[0], atol=1e-12)
            moved = 0.5 * np.abs(everyone[0] - without[0]).sum()
            assert_allclose(found.probability_change[i, s], moved, atol=1e-12)
            changed[i, s] = (everyone[1] != without[1]).any()
    assert_array_equal(found.decision_changes, changed)
    assert changed.any()
    assert not changed.all()


def test_a_class_that_only_one_source_knows() -> None:
    a = Evidence.from_weights([[[1.0, 0.0]]], classes=["x", "y"])
    b = Evidence.from_weights([[[1.0, 0.0, 2.0]]], classes=["x", "y", "z"])
    found = influence([a, b], rule="plausibility")
    assert found.decision_changes.tolist() == [[True, False]]  # z without a, x without b
    assert_allclose(found.without[1].logits, [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="at least two"):
        influence([a])


# The warning where Dempster's rule counts evidence twice, and where there must be none.


HEART = shafer.datasets.load_heart()
FRAME = pd.DataFrame(HEART.data, columns=HEART.feature_names)
Y = HEART.target
SHARED = "share the components"


def evidence(columns: Any, kind: Any = LogisticRegression, **options: Any) -> Any:
    """The evidence of a model of some columns of a frame."""
    model = kind(max_iter=500) if kind is LogisticRegression else kind()
    rows = FRAME[columns]
    return Explainer(model.fit(rows, Y), rows, **{"prior": "shared", **options})(rows[:20])


def weights(names: Any, seed: int = 0) -> Evidence:
    random = np.random.default_rng(seed)
    return Evidence.from_weights(random.normal(size=(5, len(names), 3)), names=names)


def quiet(evidences: Any, *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return combine(evidences, *arguments, **options)


def test_the_warning_names_sources_components_and_what_to_do() -> None:
    sources = {
        "logistic": evidence(["ldl", "age", "sbp"]),
        "bayes": evidence(["age", "tobacco", "ldl"], GaussianNB),
        "other": evidence(["alcohol"]),
    }
    with pytest.warns(UserWarning, match=SHARED) as caught:
        combine(sources)
    (warning,) = caught
    text = str(warning.message)
    assert "['logistic', 'bayes'] share the components ['ldl', 'age']" in text
    assert "'cautious'" in text
    assert "EvidentialVotingClassifier" in text
    assert warning.filename == __file__  # where the user called


@pytest.mark.parametrize("combination", ["cautious", "yager", "disjunctive", "dubois_prade"])
def test_other_combinations_do_not_warn(combination: str) -> None:
    quiet([weights(["a", "b"]), weights(["b", "c"], 1)], combination)


def test_names_that_differ_do_not_warn() -> None:
    quiet([weights(["a", "b"]), weights(["c", "d"], 1)])
    quiet({"blood": evidence(["ldl", "sbp"]), "life": evidence(["age", "alcohol"])})
    with pytest.warns(UserWarning, match=r"\['source 1', 'source 2'\] .* \['b'\]"):
        combine([weights(["a", "b"]), weights(["b", "c"], 1)])


@pytest.mark.parametrize("options", [{"reliability": 0.9}, {"granularity": "sources"}])
def test_it_is_still_dempsters_rule(options: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match=SHARED):
        combine([weights(["a", "b"]), weights(["b", "c"], 1)], **options)


def test_groups_and_one_hot_columns_are_known_by_their_columns() -> None:
    whole = evidence(["ldl", "age"], groups="one")
    with pytest.warns(UserWarning, match=r"share the components \['age'\]"):
        combine({"whole": whole, "part": evidence(["age", "sbp"])})
    quiet({"whole": whole, "other": evidence(["alcohol", "sbp"], groups="one")})
    colours = pd.DataFrame({"colour": ["red", "blue", "green"] * 20, "size": np.arange(60.0)})
    y = np.arange(60) % 2
    encoded = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(colours[["colour"]], y)
    first = Explainer(encoded, colours[["colour"]])(colours[["colour"]])
    both = Explainer(
        make_pipeline(OneHotEncoder(), LogisticRegression()).fit(colours, y), colours, "source"
    )(colours)
    with pytest.warns(UserWarning, match=r"share the components \['colour'\]"):
        combine([first, both])


def test_a_discounted_source_is_looked_into() -> None:
    with pytest.warns(UserWarning, match=SHARED):
        combine([weights(["a"]).discounted(0.5), weights(["a"], 1)])


def test_evidence_without_weights_has_no_components() -> None:
    mixed = quiet([weights(["a"]), weights(["b"], 1)], "yager")
    quiet([mixed, weights(["a"])])


# Names that the library makes up.


def array_evidence(X: Any, kind: Any = LogisticRegression, **options: Any) -> Any:
    dense = X.toarray() if sparse.issparse(X) else X
    return Explainer(kind(**options).fit(dense, Y), X, prior="shared")(X)


def test_made_up_names_are_the_same_for_the_same_rows_only() -> None:
    X = HEART.data[:, :3] / HEART.data[:, :3].std(axis=0)
    other = HEART.data[:, 5:8] / HEART.data[:, 5:8].std(axis=0)
    quiet([weights(["x0", "x1"]), weights(["x0", "x1"], 1)])
    quiet([array_evidence(X), array_evidence(other, GaussianNB)])
    for same in (X, X.copy()):
        with pytest.warns(UserWarning, match=r"share the components \['x0', 'x1', 'x2'\]"):
            combine([array_evidence(X), array_evidence(same, GaussianNB)])
    once = weights(["x0"])
    with pytest.warns(UserWarning, match=SHARED):
        combine([once, once])


def test_units_of_networks() -> None:
    X = HEART.data[:, :3] / HEART.data[:, :3].std(axis=0)
    other = HEART.data[:, 5:8] / HEART.data[:, 5:8].std(axis=0)
    network = {"kind": MLPClassifier, "hidden_layer_sizes": (3,), "max_iter": 20, "tol": 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training stops early
        one, two, three = (
            array_evidence(rows, random_state=seed, **network)
            for rows, seed in ((X, 0), (X.copy(), 1), (other, 2))
        )
    with pytest.warns(UserWarning, match="'unit 0'"):
        combine([one, two])
    quiet([one, three])


def test_rows_of_any_library() -> None:
    model = LogisticRegression(max_iter=500).fit(HEART.data, Y)
    sparse_rows = sparse.csr_matrix(HEART.data)
    for X, again in (
        (sparse_rows, sparse_rows.copy()),
        (HEART.data.tolist(), HEART.data.tolist()),
    ):
        explainer = Explainer(model, X, prior="shared")
        with pytest.warns(UserWarning, match=SHARED):
            combine([explainer(X), explainer(again)])
    frame = FRAME.rename(columns={name: f"x{j}" for j, name in enumerate(FRAME)})
    for X in (frame, pl.from_pandas(frame)):
        explainer = Explainer(LogisticRegression(max_iter=500).fit(X, Y), X, prior="shared")
        with pytest.warns(UserWarning, match=SHARED):
            combine([explainer(X), explainer(X.clone() if hasattr(X, "clone") else X.copy())])
    quiet(
        [
            Explainer(model, HEART.data, prior="shared")(HEART.data),
            Explainer(model, sparse_rows, prior="shared")(sparse_rows),
        ]
    )


def test_two_experts_may_claim_the_same() -> None:
    classes = ["A", "B", "C"]
    said = ["for A with weight 1", "for A with weight 2", "against {B, C} with weight 1"]
    doctors = {
        "first": Evidence.from_statements(said, classes=classes),
        "second": Evidence.from_statements(said, classes=classes),
    }
    quiet(doctors)
    named = Evidence.from_statements({"for": "A", "weight": 1, "name": "Dr. X"}, classes=classes)
    with pytest.warns(UserWarning, match=r"share the components \['Dr. X'\]"):
        combine({"monday": named, "tuesday": named[0]})
    # A component may start like a claim.
    with pytest.warns(UserWarning, match="'for profit'"):
        combine([weights(["for profit"]), weights(["for profit"], 1)])


# What corrects for it.


def test_factors_below_one_are_a_correction() -> None:
    sources = [weights(["a", "b"]), weights(["b", "c"], 1)]
    quiet(sources, tempering=[0.5, 0.5])
    quiet(sources, tempering=[1.0, 0.9])
    quiet(sources, tempering=[1.0, 0.0])
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    quiet(sources, tempering=rows)
    rows[4] = 1.0  # in one row both count in full
    with pytest.warns(UserWarning, match=SHARED):
        combine(sources, tempering=rows)


def test_base_rates_are_counted_once_with_a_prior() -> None:
    sources = {
        "blood": evidence(["ldl", "sbp"], prior="own"),
        "life": evidence(["age", "alcohol"], prior="own"),
    }
    with pytest.warns(UserWarning, match=r"\['blood', 'life'\] each have a base rate.*Pass prior="):
        combine(sources)
    frequencies = np.bincount(Y) / len(Y)
    quiet(sources, prior=frequencies)
    quiet(sources, "cautious")
    quiet(sources, tempering=[0.5, 0.5])
    quiet({"own": sources["blood"], "shared": evidence(["age", "alcohol"])})
    # Shared inputs are the greater trouble, with and without a prior.
    again = {"one": sources["blood"], "two": evidence(["ldl"], GaussianNB, prior="own")}
    for options in ({}, {"prior": frequencies}):
        with pytest.warns(UserWarning, match=r"share the components \['ldl'\]") as caught:
            combine(again, **options)
        assert len(caught) == 1


def test_voting_and_influence_do_not_warn() -> None:
    sources = {"one": weights(["a", "b"]), "two": weights(["b", "c"], 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shafer.fusion.influence(sources)
        shafer.fusion.conflict_between(sources)
        for granularity in ("sources", "components"):
            voting = shafer.EvidentialVotingClassifier(
                [("one", LogisticRegression(max_iter=500)), ("two", GaussianNB())],
                granularity=granularity,
                tempering=None,
            ).fit(FRAME[["ldl", "age"]], Y)
            voting.predict_proba(FRAME[["ldl", "age"]])


def test_influence_takes_the_former_name_of_granularity() -> None:
    sources = {"one": weights(["a", "b"]), "two": weights(["c"], 1)}
    with pytest.warns(FutureWarning, match="granularity"):
        found = shafer.fusion.influence(sources, components="sources")
    assert found.combined.component_names == ("one", "two")
    with pytest.raises(ValueError, match="combination must be one of"):
        shafer.fusion.influence(sources, "average")
