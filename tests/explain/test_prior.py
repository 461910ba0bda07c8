"""``prior="own"``: the base rate apart from the components of a trained model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer

X, y = load_iris(return_X_y=True)
MODELS = {
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "naive Bayes": GaussianNB(),
    "boosting": GradientBoostingClassifier(n_estimators=5),
    "network": MLPClassifier((4,), solver="lbfgs", max_iter=200, random_state=0),
}


def pair(model, background=X, target=y, **options):
    fitted = model.fit(background, target)
    return (
        shafer.Explainer(fitted, background, prior="shared", **options),
        shafer.Explainer(fitted, background, prior="own", **options),
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_and_invariants_stay(name, n_classes):
    rows, labels = X[y < n_classes], y[y < n_classes]
    shared, own = pair(MODELS[name], rows, labels)
    assert own.component_names == (*shared.component_names, "base rate")
    first, second = shared(rows), own(rows)
    np.testing.assert_allclose(second.probability, first.probability, rtol=0, atol=1e-12)
    size = np.abs(first.weights).max()
    np.testing.assert_allclose(second.weights.sum(axis=-1), 0.0, atol=1e-10 * max(1.0, size))
    mean = second.weights[:, :-1].mean(axis=0)
    np.testing.assert_allclose(mean, 0.0, atol=1e-10 * max(1.0, size))


def test_a_row_of_means_has_no_evidence_but_the_base_rate():
    rare = make_classification(2000, 5, weights=[0.98], random_state=0)
    shared, own = pair(LogisticRegression(), *rare)
    row = rare[0].mean(axis=0, keepdims=True)
    weights = own(row).weights
    assert np.abs(weights[0, :-1]).max() < 1e-12
    assert np.abs(weights[0, -1]).max() > 1.0
    assert np.abs(shared(row).weights[0]).min() > 0.2  # smeared over the features


def test_groups_stay_apart_from_the_base_rate():
    _, own = pair(LogisticRegression(max_iter=500), groups={"petal": [2, 3], "sepal": [0, 1]})
    assert own.component_names == ("sepal", "petal", "base rate")
    _, joined = pair(LogisticRegression(max_iter=500), groups={"all": [0, 1, 2, 3]})
    ev = joined(X)
    assert ev.component_names == ("all", "base rate")
    assert np.abs(ev.weights[:, 1] - ev.base_rate).max() == 0.0


def test_one_component_has_the_base_rate_too():
    shared, own = pair(LogisticRegression(max_iter=500), groups="one")
    assert own.component_names == ("all",)
    np.testing.assert_array_equal(own(X).weights, shared(X).weights)


@pytest.mark.parametrize("missing", ["vacuous", "conditional"])
@pytest.mark.parametrize("groups", [None, {"petal": [2, 3]}])
def test_missing_inputs(missing, groups):
    shared, own = pair(LogisticRegression(max_iter=500), missing=missing, groups=groups)
    rows = X.copy()
    rows[::2, 1] = rows[::3, 2] = np.nan
    rows[5] = np.nan
    first, second = shared(rows), own(rows)
    np.testing.assert_allclose(second.probability, first.probability, rtol=0, atol=1e-12)
    if missing == "vacuous":
        gap = own.component_names.index("petal") if groups else 2
        assert np.abs(second.weights[5, gap]).max() < 1e-12


@pytest.mark.parametrize("moderate", ["laplace", "laplace+discount"])
def test_moderation(moderate):
    shared, own = pair(LogisticRegression(max_iter=500), moderate=moderate)
    ours, theirs = own(X).betting_probability, shared(X).betting_probability
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_typicality_is_the_same():
    shared, own = pair(LogisticRegression(max_iter=500))
    np.testing.assert_allclose(own.typicality(X), shared.typicality(X), rtol=1e-9)
    np.testing.assert_allclose(
        shafer.typicality(own(X), own(X)), shafer.typicality(shared(X), shared(X)), rtol=1e-9
    )


def test_sparse_one_hot_columns_by_source():
    frame = pd.DataFrame({"colour": list("rgb") * 20, "size": list("sm") * 30})
    target = np.r_[np.zeros(20), np.ones(40)].astype(int)
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    shared, own = pair(model, frame, target, groups="source")
    assert own.component_names == ("colour", "size", "base rate")
    np.testing.assert_allclose(
        own(frame).probability, shared(frame).probability, rtol=0, atol=1e-12
    )


def test_a_copy_keeps_it():
    _, own = pair(LogisticRegression(max_iter=500))
    again = pickle.loads(pickle.dumps(own.conformalize(X, y)))
    assert again.component_names == own.component_names
    np.testing.assert_array_equal(again(X).weights, own(X).weights)
    np.testing.assert_allclose(again.typicality(X), own.typicality(X))


def test_the_classifier():
    clf = shafer.EvidentialClassifier(LogisticRegression(max_iter=500), prior="own").fit(X, y)
    assert clf.evidence(X).component_names[-1] == "base rate"
    np.testing.assert_allclose(clf.evidence(X).probability, clf.predict_proba(X), atol=1e-12)


def test_unknown_priors():
    with pytest.raises(ValueError, match="prior must be 'shared' .* got 'none'"):
        shafer.Explainer(([1.0], 0.0), [[0.0]], prior="none")


def test_torch_module():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    rows = torch.tensor(X, dtype=torch.float32)
    ev = shafer.Explainer(module, rows, prior="own")(rows)
    assert ev.component_names[-1] == "base rate"
    expected = torch.softmax(module(rows), dim=1).detach().numpy()
    np.testing.assert_allclose(np.asarray(ev.probability), expected, atol=1e-6)


def test_contrast_equals_shap_for_a_linear_model():
    shap = pytest.importorskip("shap")
    rows, labels = X[y < 2], y[y < 2]
    model = LogisticRegression().fit(rows, labels)
    ev = shafer.Explainer(model, rows, prior="own")(rows[:5])
    theirs = shap.LinearExplainer(model, shap.maskers.Independent(rows, max_samples=len(rows)))
    np.testing.assert_allclose(ev.contrast(1, 0)[:, :-1], theirs(rows[:5]).values, atol=1e-10)
    np.testing.assert_allclose(ev.contrast(1, 0)[:, -1], theirs.expected_value, atol=1e-10)
