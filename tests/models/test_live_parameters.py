"""A model that is trained again is refused, in every family."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier

import shafer
from shafer.models.live_parameters import LiveParameters

X, Y = load_iris(return_X_y=True)
BINARY = Y < 1


AGAIN = "^The model was trained again after this Explainer was made. Make a new Explainer.$"


MODELS = {
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "sgd": SGDClassifier(loss="log_loss", random_state=0),
    "network": MLPClassifier((4,), max_iter=5, random_state=0, warm_start=True),
    "bernoulli": BernoulliNB(binarize=3.0),
    "gaussian": GaussianNB(),
    "categorical": make_pipeline(OrdinalEncoder(), CategoricalNB(min_categories=80)),
    "histograms": HistGradientBoostingClassifier(max_iter=3),
    "trees": GradientBoostingClassifier(n_estimators=3),
    "xgboost": XGBClassifier(n_estimators=3),
    "lightgbm": LGBMClassifier(n_estimators=3, verbose=-1, min_child_samples=2),
    "catboost": CatBoostClassifier(3, verbose=0, allow_writing_files=False),
    "ebm": ExplainableBoostingClassifier(
        max_rounds=5, outer_bags=1, n_jobs=1, interactions=0, feature_names=list("abcd")
    ),
    "svm": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
    "search": GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2),
}


@pytest.mark.parametrize("groups", [None, "one"])
@pytest.mark.parametrize("name", MODELS)
def test_trained_again_is_refused(name: str, groups: str | None) -> None:
    model = clone(MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shafer.Explainer(model.fit(X, BINARY), X, groups)
        before = explainer(X[:3]).logits
        copied = pickle.loads(pickle.dumps(explainer))
        model.fit(X[20:80], BINARY[20:80])
        assert_allclose(copied(X[:3]).logits, before)  # its model is its own
        with pytest.raises(ValueError, match=AGAIN):
            explainer(X)


@pytest.mark.parametrize("name", ["gaussian", "sgd", "bernoulli"])
def test_partial_fit_counts(name: str) -> None:
    model = clone(MODELS[name]).fit(X, BINARY)
    explainer = shafer.Explainer(model, X)
    model.partial_fit(X[:10] + 1.0, BINARY[:10])
    with pytest.raises(ValueError, match=AGAIN):
        explainer(X)


@pytest.mark.parametrize("name", ["histograms", "trees"])
def test_more_trees_count(name: str) -> None:
    model = clone(MODELS[name]).set_params(warm_start=True).fit(X, BINARY)
    by_tree = shafer.Explainer(model, X)
    by_feature = shafer.Explainer(model, X, components="feature")
    size = "max_iter" if name == "histograms" else "n_estimators"
    model.set_params(**{size: 5}).fit(X, BINARY)
    for explainer in (by_tree, by_feature):
        with pytest.raises(ValueError, match=AGAIN):
            explainer(X)


@pytest.mark.parametrize("encoder", [StandardScaler(), KBinsDiscretizer(3, encode="ordinal")])
def test_an_encoder_alone_is_trained_again(encoder: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(encoder, LogisticRegression()).fit(X, BINARY)
        explainer = shafer.Explainer(model, X)
        assert explainer(X).probability.shape == (150, 2)
        encoder.fit(X * 2.0)
    with pytest.raises(ValueError, match=AGAIN):
        explainer(X)


def test_the_same_training_again_may_pass() -> None:
    model = LogisticRegression().fit(X, BINARY)
    explainer = shafer.Explainer(model, X)
    model.fit(X, BINARY)
    assert_allclose(explainer(X).probability, model.predict_proba(X))


def test_an_encoder_may_hold_nan() -> None:
    live = LiveParameters.fitted(SimpleImputer(keep_empty_features=True).fit([[np.nan, 1.0]]))
    live.check()
    imputer = SimpleImputer().fit([[np.nan, 1.0], [2.0, 3.0]])
    imputer.statistics_[0] = np.nan
    live = LiveParameters.fitted(imputer)
    live.check()
    imputer.statistics_ = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match=AGAIN):
        live.check()


def test_a_torch_module_too() -> None:
    torch = pytest.importorskip("torch")
    rows = torch.as_tensor(X, dtype=torch.float32)
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    explainer = shafer.Explainer(net, rows)
    explainer(rows)
    with torch.no_grad():
        net[2].weight += 1
    with pytest.raises(ValueError, match="trained again"):
        explainer(rows)


def test_reading_a_spectral_norm_leaves_it_as_it_was() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    head = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), head).train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    rows = torch.as_tensor(X, dtype=torch.float32)
    ev = shafer.Explainer(net, rows)(rows)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    with torch.no_grad():
        expected = torch.softmax(net.eval()(rows), 1)
    assert np.asarray(ev.probability) == pytest.approx(expected.numpy(), abs=1e-6)


@pytest.mark.parametrize("step", ["standardscaler", "logisticregression"])
def test_another_step_in_its_place_counts(step: str) -> None:
    """The explainer went on with the old step, the pipeline with the new one."""
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    explainer = shafer.Explainer(pipeline, X)
    pickle.loads(pickle.dumps(explainer))(X)
    other = clone(pipeline.named_steps[step]).fit((X - X.mean(axis=0)) * 2.0, Y)
    pipeline.set_params(**{step: other})
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_another_mark_for_missing_values_counts() -> None:
    model = XGBClassifier(n_estimators=3, n_jobs=1).fit(X, Y)
    explainer = shafer.Explainer(model, X)
    explainer(X)
    model.set_params(missing=0.2)
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_large_arrays_that_are_trained_in_place() -> None:
    coef = np.random.default_rng(0).normal(size=(300, 400))
    live = LiveParameters.of(lambda: (coef, 3))
    live.check()
    coef *= 1.0 + 1e-9
    with pytest.raises(ValueError, match=AGAIN):
        live.check()


def test_another_large_array_is_compared_in_full() -> None:
    held = [np.zeros((300, 400))]
    live = LiveParameters.of(lambda: (held[0],))
    held[0] = np.zeros((300, 400))
    live.check()
    held[0] = np.zeros((300, 400))
    held[0][7, 11] = 1e-300
    with pytest.raises(ValueError, match=AGAIN):
        live.check()
