"""Error bars of components from refits and bags of a model."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.models import bootstrap_refits

# Error bars from refits: for any model, read on the same background.


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
    ev = shafer.Explainer(
        MODEL, X, groups, names=names, errors="bootstrap", refits=iter(REFITS), prior="shared"
    )(X)
    assert ev.component_names == ("a+b", "c+d")
    fine = shafer.Explainer(MODEL, X, errors="bootstrap", refits=REFITS, prior="shared")(X)
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
        shafer.Explainer(
            model, frame, errors="bootstrap", refits=lacks, groups=None, prior="shared"
        )
    ev = shafer.Explainer(model, frame, "source", errors="bootstrap", refits=lacks, prior="shared")(
        frame
    )
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


# Error bars of explainable boosting machines: those that interpret shows.


FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
FRAME["kind"] = np.array(["u", "v", "w"])[np.arange(150) % 3]
NEW = FRAME.iloc[::7].copy()
NEW.iloc[0, 0] = np.nan  # missing, and unseen: bins of their own
NEW.iloc[1, 4] = "never seen"
NEW.iloc[2, 1] = 1e6


def _model(labels: Any, **options: Any) -> Any:
    options = {"interactions": 2, "outer_bags": 4, "max_rounds": 40, "n_jobs": 1} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it cannot draw interactions of several classes
        return ExplainableBoostingClassifier(**options).fit(FRAME, labels)


BINARY, SEVERAL = _model(Y == 1), _model(Y)


def _shown(model: Any, X: Any) -> Any:
    """The standard deviations that interpret shows, for the terms of each row."""
    shown = copy.copy(model)
    shown.term_scores_ = model.standard_deviations_
    return shown.eval_terms(X)


def _by_bag(model: Any, X: Any) -> Any:
    """The contributions of each bag, (R, n, G[, K])."""
    found = []
    for r in range(len(model.bagged_intercept_)):
        bag = copy.copy(model)
        bag.term_scores_ = [scores[r] for scores in model.bagged_scores_]
        found.append(bag.eval_terms(X))
    return np.stack(found)


@pytest.mark.parametrize("prior", ["shared", "own"])
def test_two_classes_have_the_bars_of_interpret(prior: str) -> None:
    ev = shafer.Explainer(BINARY, FRAME, errors="bags", prior=prior)(NEW)
    expected = _shown(BINARY, NEW)
    terms = slice(0, expected.shape[1])
    np.testing.assert_allclose(
        ev.contrast_std(True, False)[:, terms], expected, rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(ev.weights_std[:, terms, 1], expected / 2, rtol=1e-9, atol=1e-15)
    if prior == "own":
        base = np.std(BINARY.bagged_intercept_)
        np.testing.assert_allclose(ev.contrast_std(True, False)[:, -1], base, rtol=1e-9)


def test_bars_are_those_of_the_bagged_scores() -> None:
    contributions = _by_bag(BINARY, NEW)
    ev = shafer.Explainer(BINARY, FRAME, errors="bags", prior="shared")(NEW)
    np.testing.assert_allclose(
        ev.contrast_std(True, False), contributions.std(axis=0), rtol=1e-9, atol=1e-15
    )
    joined = ev.grouped({"first": [0, 1, 5]})
    total = contributions[:, :, [0, 1, 5]].sum(axis=2)
    np.testing.assert_allclose(joined.contrast_std(True, False)[:, 0], total.std(axis=0), rtol=1e-9)
    by_column = shafer.Explainer(BINARY, FRAME, "source", errors="bags", prior="shared")(NEW)
    assert by_column.weights_std.shape[1] == by_column.n_components


def test_several_classes_are_centred_over_the_classes() -> None:
    contributions = _by_bag(SEVERAL, NEW)
    ev = shafer.Explainer(SEVERAL, FRAME, errors="bags", prior="own")(NEW)
    centred = contributions - contributions.mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(ev.weights_std[:, :-1], centred.std(axis=0), rtol=1e-8, atol=1e-12)
    contrast = contributions[..., 2] - contributions[..., 0]
    np.testing.assert_allclose(
        ev.contrast_std(2, 0)[:, :-1], contrast.std(axis=0), rtol=1e-8, atol=1e-12
    )
    intercepts = SEVERAL.bagged_intercept_
    base = (intercepts[:, 2] - intercepts[:, 0]).std()
    np.testing.assert_allclose(ev.contrast_std(2, 0)[:, -1], base, rtol=1e-9)


def test_weights_of_the_bags_count() -> None:
    weighted = copy.copy(BINARY)
    weighted.bag_weights_ = np.array([1.0, 2.0, 0.0, 1.0])
    ev = shafer.Explainer(weighted, FRAME, errors="bags", check=False, prior="shared")(NEW)
    contributions = _by_bag(BINARY, NEW)[[0, 1, 1, 3]]
    np.testing.assert_allclose(
        ev.contrast_std(True, False), contributions.std(axis=0), rtol=1e-9, atol=1e-15
    )


def test_behind_a_scaler_and_inside_a_calibration() -> None:
    options = {"outer_bags": 3, "max_rounds": 20, "interactions": 0, "n_jobs": 1}
    plain = ExplainableBoostingClassifier(**options)
    scaled = make_pipeline(StandardScaler(), plain).fit(X, Y == 1)
    ev = shafer.Explainer(scaled, X, errors="bags", prior="shared")(X)
    np.testing.assert_allclose(
        ev.contrast_std(True, False), _shown(scaled[-1], scaled[0].transform(X)), rtol=1e-9
    )
    calibrated = CalibratedClassifierCV(plain, ensemble=False, method="sigmoid").fit(X, Y == 1)
    inside = calibrated.calibrated_classifiers_[0]
    found = shafer.Explainer(calibrated, X, errors="bags", prior="shared")(X)
    slope = abs(float(inside.calibrators[0].a_))
    np.testing.assert_allclose(
        found.contrast_std(True, False), slope * _shown(inside.estimator, X), rtol=1e-9
    )


def test_models_without_bags() -> None:
    linear = LogisticRegression(max_iter=1000).fit(X, Y)
    with pytest.raises(
        shafer.UnsupportedModelError, match="needs a model .* LogisticRegression is not one"
    ):
        shafer.Explainer(linear, X, errors="bags")
    alone = _model(Y == 1, outer_bags=1)
    with pytest.raises(shafer.UnsupportedModelError, match="at least 2 outer bags; .* has 1"):
        shafer.Explainer(alone, FRAME, errors="bags")
    edited = copy.deepcopy(BINARY)
    edited.bagged_scores_[0] = None
    with pytest.raises(shafer.UnsupportedModelError, match="has lost them, because it was edited"):
        shafer.Explainer(edited, FRAME, errors="bags")
    assert shafer.Explainer(edited, FRAME)(NEW).errors is None
