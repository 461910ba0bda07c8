"""The warning where Dempster's rule counts evidence twice, and where there must be none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import shafer
from shafer import Evidence, Explainer, combine

HEART = shafer.datasets.load_heart()
FRAME = pd.DataFrame(HEART.data, columns=HEART.feature_names)
Y = HEART.target
SHARED = "share the components"


def evidence(columns: Any, kind: Any = LogisticRegression, **options: Any) -> Any:
    """The evidence of a model of some columns of a frame."""
    model = kind(max_iter=500) if kind is LogisticRegression else kind()
    rows = FRAME[columns]
    return Explainer(model.fit(rows, Y), rows, **options)(rows[:20])


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
    return Explainer(kind(**options).fit(dense, Y), X)(X)


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
        explainer = Explainer(model, X)
        with pytest.warns(UserWarning, match=SHARED):
            combine([explainer(X), explainer(again)])
    frame = FRAME.rename(columns={name: f"x{j}" for j, name in enumerate(FRAME)})
    for X in (frame, pl.from_pandas(frame)):
        explainer = Explainer(LogisticRegression(max_iter=500).fit(X, Y), X)
        with pytest.warns(UserWarning, match=SHARED):
            combine([explainer(X), explainer(X.clone() if hasattr(X, "clone") else X.copy())])
    quiet([Explainer(model, HEART.data)(HEART.data), Explainer(model, sparse_rows)(sparse_rows)])


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
