"""Rows with gaps, and rows unlike any other, through the public faces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

X, Y = load_wine(return_X_y=True)
TRAIN, TEST = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1


def _model():
    return make_pipeline(StandardScaler(), LogisticRegression())


def _with_gaps(share: float = 0.5) -> np.ndarray:
    rows = X[TEST].copy()
    rows[np.random.default_rng(0).random(rows.shape) < share] = np.nan
    return rows


@pytest.mark.parametrize("groups", [None, "one"])
@pytest.mark.parametrize("how", ["vacuous", "conditional"])
def test_complete_rows_are_as_before(how: str, groups) -> None:
    model = _model().fit(X[TRAIN], Y[TRAIN])
    plain = shafer.Explainer(model, X[TRAIN], groups)(X[TEST])
    ready = shafer.Explainer(model, X[TRAIN], groups, missing=how)(X[TEST])
    assert ready.weights == pytest.approx(plain.weights, abs=1e-10)
    assert ready.component_names == plain.component_names


def test_guessing_beats_silence_beats_the_mean() -> None:
    rows = _with_gaps()
    model = _model().fit(X[TRAIN], Y[TRAIN])
    at_mean = np.where(np.isnan(rows), X[TRAIN].mean(axis=0), rows)
    losses = [log_loss(Y[TEST], model.predict_proba(at_mean))]
    for how in ("vacuous", "conditional"):
        clf = shafer.EvidentialClassifier(_model(), missing=how).fit(X[TRAIN], Y[TRAIN])
        p = clf.predict_proba(rows)
        losses.append(log_loss(Y[TEST], p))
        assert (clf.predict(rows) == clf.classes_[p.argmax(axis=1)]).all()
        assert clf.predict_set(rows).any(axis=1).all()
    assert losses[0] > losses[1] > losses[2]


def test_gaps_and_moderation_go_together() -> None:
    clf = shafer.EvidentialClassifier(
        _model(), "one", moderate="laplace+discount", missing="conditional"
    ).fit(X[TRAIN], Y[TRAIN])
    whole, holed = clf.evidence(X[TEST]), clf.evidence(_with_gaps())
    assert isinstance(holed, shafer.DiscountedEvidence)
    assert np.isfinite(holed.belief).all()
    assert holed.evidence.ignorance.mean() > whole.evidence.ignorance.mean()


def test_gaps_are_an_error_unless_a_meaning_is_chosen() -> None:
    model = _model().fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="NaN"):
        shafer.Explainer(model, X[TRAIN])(_with_gaps())
    with pytest.raises(ValueError, match="missing must be one of 'error', 'vacuous'"):
        shafer.Explainer(model, X[TRAIN], missing="mean")
    trees = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    with pytest.raises(shafer.UnsupportedModelError, match="linear models"):
        shafer.Explainer(trees, X, missing="vacuous")
    with pytest.raises(ValueError, match="one dense array; got an iterator"):
        shafer.Explainer(model, iter([X]), missing="vacuous")


def test_an_explainer_knows_what_is_usual() -> None:
    model = _model().fit(X[TRAIN], Y[TRAIN])
    explainer = shafer.Explainer(model, X[TRAIN], moderate="laplace")
    noise = X[TEST] + 5 * X.std(axis=0) * np.random.default_rng(0).normal(size=X[TEST].shape)
    usual, unusual = explainer.typicality(X[TEST]), explainer.typicality(noise)
    assert np.median(usual) > 0.2
    assert np.median(unusual) < 0.05
    plain = shafer.Explainer(model, X[TRAIN])
    assert shafer.typicality(plain(X[TEST]), plain(X[TRAIN])) == pytest.approx(usual)
    for made in (explainer, plain):  # typicality was called before, or was not
        reopened = pickle.loads(pickle.dumps(made))
        assert reopened.typicality(X[TEST]) == pytest.approx(usual)
    batches = shafer.Explainer(model, iter([X[TRAIN]]))
    with pytest.raises(ValueError, match=r"shafer\.typicality\(explainer\(X\)"):
        batches.typicality(X[TEST])
