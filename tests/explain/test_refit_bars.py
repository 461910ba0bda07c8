"""Error bars from refits: for any model, read on the same background."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.models import bootstrap_refits

X, Y = load_iris(return_X_y=True)
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
REFITS = bootstrap_refits(MODEL, X, Y, 12)

MODELS = {
    "linear": (MODEL, REFITS),
    "bayes": (GaussianNB().fit(X, Y), bootstrap_refits(GaussianNB(), X, Y, 5)),
    "trees": (
        HistGradientBoostingClassifier(max_iter=4).fit(X, Y),
        bootstrap_refits(HistGradientBoostingClassifier(max_iter=4), X, Y, 3),
    ),
}


@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_the_spread_of_the_weights_of_the_refits(kind: str, prior: str) -> None:
    model, refits = MODELS[kind]
    options = {"components": "feature"} if kind == "trees" else {}
    explainer = shafer.Explainer(
        model, X, errors="bootstrap", refits=refits, prior=prior, **options
    )
    ev = explainer(X[::10])
    draws = np.stack(
        [shafer.Explainer(refit, X, prior=prior, **options)(X[::10]).weights for refit in refits]
    )
    np.testing.assert_allclose(ev.weights_std, draws.std(axis=0, ddof=1), rtol=1e-7, atol=1e-9)
    contrast = (draws[..., 2] - draws[..., 0]).std(axis=0, ddof=1)
    np.testing.assert_allclose(ev.contrast_std(2, 0), contrast, rtol=1e-7, atol=1e-9)


def test_near_to_laplace_where_both_apply() -> None:
    """On heart, a median ratio near 1: the two have nothing in common but the data."""
    heart = shafer.datasets.load_heart()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(heart.data, heart.target)
    refits = bootstrap_refits(model, heart.data, heart.target, 60)
    rows = heart.data[::20]
    drawn = shafer.Explainer(model, heart.data, errors="bootstrap", refits=refits)(rows)
    formula = shafer.Explainer(model, heart.data, errors="laplace")(rows)
    assert np.median(drawn.weights_std / formula.weights_std) == pytest.approx(1.0, abs=0.15)


def test_factors_of_the_model_apply_to_the_refits() -> None:
    plain = shafer.Explainer(MODEL, X, errors="bootstrap", refits=REFITS)(X)
    tempered = shafer.Explainer(MODEL, X, errors="bootstrap", refits=REFITS, temper=0.5)(X)
    np.testing.assert_allclose(tempered.weights_std, plain.weights_std / 2, rtol=1e-9)
    moderated = shafer.Explainer(MODEL, X, errors="bootstrap", refits=REFITS, moderate="laplace")(X)
    factor = moderated.logits[:, 0] / plain.logits[:, 0]
    np.testing.assert_allclose(
        moderated.weights_std, plain.weights_std * factor[:, None, None], rtol=1e-6
    )


def test_missing_inputs_are_filled_by_each_refit() -> None:
    rows = X[:4].copy()
    rows[1, 2] = np.nan
    for missing in ("vacuous", "conditional"):
        ev = shafer.Explainer(
            MODEL, X, errors="bootstrap", refits=REFITS, missing=missing, prior="own"
        )(rows)
        whole = shafer.Explainer(MODEL, X, errors="bootstrap", refits=REFITS, prior="own")(X[:4])
        complete = [0, 2, 3]
        np.testing.assert_allclose(ev.weights_std[complete], whole.weights_std[complete])
        assert np.isfinite(ev.weights_std).all()
        assert (ev.weights_std[1, 0] > 0).all()


def test_groups_and_names_reach_the_refits() -> None:
    groups = ([j, j + 1] for j in (0, 2))  # an iterator, which can be read once
    names = iter(["a", "b", "c", "d"])
    ev = shafer.Explainer(MODEL, X, groups, names=names, errors="bootstrap", refits=iter(REFITS))(X)
    assert ev.component_names == ("a+b", "c+d")
    fine = shafer.Explainer(MODEL, X, errors="bootstrap", refits=REFITS)(X)
    np.testing.assert_allclose(
        ev.weights_std, fine.grouped([[0, 1], [2, 3]]).weights_std, rtol=1e-7, atol=1e-10
    )


def test_frames_are_read_by_name() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = LogisticRegression(max_iter=1000).fit(frame, Y)
    refits = bootstrap_refits(model, frame, Y, 3)
    explainer = shafer.Explainer(model, frame, errors="bootstrap", refits=refits)
    np.testing.assert_array_equal(
        explainer(frame[["d", "b", "a", "c"]]).weights_std, explainer(frame).weights_std
    )


def test_categories_that_a_sample_lacks() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(np.arange(150) < 2, "rare", "usual")})
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["kind"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(frame, Y)
    lacks = [clone(model).fit(frame[2:], Y[2:]), model]
    with pytest.raises(ValueError, match=r"Refit 0 has other components .* groups='source'"):
        shafer.Explainer(model, frame, errors="bootstrap", refits=lacks)
    ev = shafer.Explainer(model, frame, "source", errors="bootstrap", refits=lacks)(frame)
    assert ev.weights_std.shape == (150, 2, 3)


def test_refits_of_other_classes() -> None:
    two = LogisticRegression(max_iter=1000).fit(X[Y < 2], Y[Y < 2])
    with pytest.raises(ValueError, match=r"Refit 1 has the classes \[0, 1\], the model \[0, 1, 2"):
        shafer.Explainer(MODEL, X, errors="bootstrap", refits=[REFITS[0], two])


@pytest.mark.parametrize("refits", [[], [MODEL], MODEL, "models", {"a": MODEL}, 5])
def test_refits_that_are_not_several_models(refits: Any) -> None:
    with pytest.raises(ValueError, match=r"refits must be a list of at least 2 .* got"):
        shafer.Explainer(MODEL, X, errors="bootstrap", refits=refits)


def test_refits_that_are_missing_or_not_used() -> None:
    with pytest.raises(ValueError, match=r"needs refits: .*=shafer\.models\.bootstrap_refits"):
        shafer.Explainer(MODEL, X, errors="bootstrap")
    for errors in (None, "laplace"):
        with pytest.raises(ValueError, match="refits were given, but errors="):
            shafer.Explainer(MODEL, X, errors=errors, refits=REFITS)
    with pytest.raises(ValueError, match="got an iterator of batches"):
        shafer.Explainer(MODEL, iter([X]), errors="bootstrap", refits=REFITS)


def test_a_classifier_trains_its_own_refits() -> None:
    clf = shafer.EvidentialClassifier(LogisticRegression(max_iter=1000), errors="bootstrap")
    ev = clf.fit(X, Y).evidence(X[:5])
    refits = bootstrap_refits(LogisticRegression(max_iter=1000), X, Y, 50)
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    expected = shafer.Explainer(model, X, errors="bootstrap", refits=refits)(X[:5])
    np.testing.assert_allclose(ev.weights_std, expected.weights_std, rtol=1e-9)
    assert clf.get_params()["errors"] == "bootstrap"


def test_a_refit_that_was_trained_again_is_noticed() -> None:
    refits = bootstrap_refits(LogisticRegression(max_iter=1000), X, Y, 2)
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    explainer = shafer.Explainer(model, X, errors="bootstrap", refits=refits)
    refits[1].fit(X, np.roll(Y, 1))
    with pytest.raises(ValueError, match="was trained again"):
        explainer(X)
