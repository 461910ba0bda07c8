"""skorch's classifiers: the module inside, their own labels and their threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNet, NeuralNetBinaryClassifier, NeuralNetClassifier
from torch import nn

import shafer

WINE, KIND = load_wine(return_X_y=True)
WINE, KIND = WINE.astype(np.float32), KIND.astype(np.int64)
X = StandardScaler().fit_transform(WINE)


def network(n_outputs: int, *end: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(13, 4), nn.ReLU(), nn.Linear(4, n_outputs), *end)


def classifier(module: nn.Module, **options: Any) -> Any:
    return NeuralNetClassifier(module, max_epochs=4, verbose=0, train_split=None, **options)


@pytest.fixture(scope="module")
def of_logits() -> Any:
    net = classifier(network(3), criterion=nn.CrossEntropyLoss, classes=[30, 10, 20])
    return net.fit(X, KIND)


@pytest.fixture(scope="module")
def binary() -> Any:
    net = NeuralNetBinaryClassifier(
        network(1, nn.Flatten(0)), max_epochs=4, verbose=0, train_split=None, threshold=0.3
    )
    return net.fit(X, (KIND == 1).astype(np.float32))


def test_its_own_probabilities(of_logits: Any) -> None:
    for net in (of_logits, classifier(network(3, nn.Softmax(dim=1))).fit(X, KIND)):
        ev = shafer.Explainer(net, X)(X)
        assert_allclose(ev.probability, net.predict_proba(X), rtol=0, atol=1e-6)
        assert_allclose(ev.weights.sum(dim=1), ev.logits, rtol=0, atol=1e-5)
        assert ev.classes.tolist() == net.classes_.tolist()
        assert ev.component_names[:2] == ("unit 0", "unit 1")


def test_options_are_those_of_the_module(of_logits: Any) -> None:
    explainer = shafer.Explainer(of_logits, X, layer="2", batch_size=50)
    alone = shafer.Explainer(of_logits.module_, X, classes=[30, 10, 20])
    assert_allclose(explainer(X).weights, alone(X).weights, atol=1e-6)


def test_the_threshold_of_a_binary_classifier(binary: Any) -> None:
    explainer = shafer.Explainer(binary, X, classes=["other", "second"])
    assert_allclose(explainer(X).probability, binary.predict_proba(X), rtol=0, atol=1e-6)
    labels = np.array(["other", "second"])[binary.predict(X).astype(int)]
    assert_array_equal(explainer.predict(X), labels)
    most_probable = binary.predict_proba(X).argmax(axis=1)
    assert (most_probable != binary.predict(X)).any()  # so the threshold matters here


def test_behind_a_scaler_and_in_a_search() -> None:
    net = classifier(network(3), criterion=nn.CrossEntropyLoss)
    pipeline = make_pipeline(StandardScaler(), net)
    search = GridSearchCV(pipeline, {"neuralnetclassifier__lr": [0.1]}, cv=2, refit=True)
    for model in (pipeline.fit(WINE, KIND), search.fit(WINE, KIND)):
        ev = shafer.Explainer(model, WINE)(WINE)
        assert_allclose(ev.probability, model.predict_proba(WINE), rtol=0, atol=1e-6)


def test_logits_that_the_net_calls_probabilities_are_refused() -> None:
    net = classifier(network(3)).fit(X, KIND)  # its loss expects probabilities
    with pytest.raises(shafer.UnsupportedModelError, match="not give the model's own prob"):
        shafer.Explainer(net, X)


def test_what_is_no_trained_classifier() -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="not trained. Call fit"):
        shafer.Explainer(classifier(network(3)), X)
    net = NeuralNet(network(1), nn.MSELoss, verbose=0).initialize()
    with pytest.raises(shafer.UnsupportedModelError, match="predicts no classes"):
        shafer.Explainer(net, X)


def test_trained_again_is_noticed() -> None:
    net = classifier(network(3), criterion=nn.CrossEntropyLoss).fit(X, KIND)
    explainer = shafer.Explainer(net, X)
    net.fit(X, KIND)
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)
