"""A model that is trained further must not be mixed with the head it had before."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

X, Y = load_iris(return_X_y=True)
BINARY = Y < 1


@pytest.mark.parametrize("groups", [None, "one"])
@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        SGDClassifier(loss="log_loss", random_state=0),
        MLPClassifier((4,), max_iter=5, random_state=0, warm_start=True),
        BernoulliNB(binarize=3.0),
    ],
)
def test_trained_further_is_refused(model, groups) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shafer.Explainer(model.fit(X, BINARY), X, groups)
        explainer(X)
        model.fit(X[20:80], BINARY[20:80])
    with pytest.raises(ValueError, match="trained again after this Explainer was made. Make a new"):
        explainer(X)


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
