"""Models of unknown libraries that have the numbers of a linear classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import shafer

X, KIND = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
KIND = np.array([30, 10, 20])[KIND]
TWO = np.where(KIND == 10, "yes", "no")


class OnDevice:
    """An array as CuPy's: NumPy must ask for it."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self) -> Any:
        return self._values


class Unknown:
    """A linear classifier of another library; ``answer`` makes its probabilities of logits."""

    def __init__(self, y: Any, dtype: Any = np.float64, holder: Any = np.asarray) -> None:
        inside = LogisticRegression().fit(X, y)
        self._numbers = inside.coef_.astype(dtype), inside.intercept_.astype(dtype)
        self.coef_, self.intercept_ = (holder(numbers) for numbers in self._numbers)
        self.classes_ = inside.classes_
        self._holder, self._dtype = holder, dtype

    def answer(self, logits: Any) -> Any:
        if logits.shape[1] > 1:
            return softmax(logits, axis=1)
        p = expit(logits[:, 0])
        return np.stack([1 - p, p], axis=1)

    def predict_proba(self, rows: Any) -> Any:
        values = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
        coef, intercept = self._numbers
        return self._holder(self.answer(values.astype(self._dtype) @ coef.T + intercept))


class OneVsRest(Unknown):
    def answer(self, logits: Any) -> Any:
        return expit(logits) / expit(logits).sum(axis=1, keepdims=True)


class Broken(Unknown):
    def predict_proba(self, rows: Any) -> Any:
        raise RuntimeError("no device")


class PositiveOnly(Unknown):
    def answer(self, logits: Any) -> Any:
        return expit(logits[:, 0])


def own(model: Any) -> Any:
    given = model.predict_proba(X)
    return given.get() if isinstance(given, OnDevice) else given


@pytest.mark.parametrize("y", [TWO, KIND], ids=["two", "three"])
@pytest.mark.parametrize("holder", [np.asarray, OnDevice])
def test_its_own_probabilities(y: Any, holder: Any) -> None:
    for dtype, atol in ((np.float64, 1e-12), (np.float32, 1e-6)):
        model = Unknown(y, dtype, holder)
        ev = shafer.Explainer(model, X)(X)
        assert ev.classes.tolist() == np.unique(y).tolist()
        assert_allclose(ev.probability, own(model), rtol=0, atol=atol)
        assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=0, atol=1e-12)


def test_frames_sparse_rows_and_one_column_of_probabilities() -> None:
    model = PositiveOnly(TWO)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(13)])
    explainer = shafer.Explainer(model, frame)
    assert explainer.component_names[0] == "c0"
    assert_allclose(explainer(frame).probability[:, 1], own(model), rtol=0, atol=1e-12)
    ev = shafer.Explainer(Unknown(KIND), X)(sparse.csr_matrix(X))
    assert_allclose(ev.probability, own(Unknown(KIND)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("check", [True, False])
def test_other_probabilities_are_refused(check: bool) -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="not their logistic or softmax: row"):
        shafer.Explainer(OneVsRest(KIND), X, check=check)
    with pytest.raises(shafer.UnsupportedModelError, match="have shape .178|have shape .64"):
        shafer.Explainer(PositiveOnly(KIND), X, check=check)
    with pytest.raises(shafer.UnsupportedModelError, match="cannot take the background: .*no dev"):
        shafer.Explainer(Broken(KIND), X, check=check)


def test_numbers_of_another_shape() -> None:
    model = Unknown(KIND)
    model.coef_ = model.coef_[:2]
    with pytest.raises(shafer.UnsupportedModelError, match=r"shape \(2, 13\) .* of 3 classes"):
        shafer.Explainer(model, X)


def test_changed_numbers_are_noticed() -> None:
    model = Unknown(TWO)
    explainer = shafer.Explainer(model, X)
    model.coef_ = model.coef_ * 2
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_without_the_numbers_it_is_not_known() -> None:
    model = Unknown(TWO)
    del model.intercept_
    with pytest.raises(shafer.UnsupportedModelError, match="Unknown are not supported"):
        shafer.Explainer(model, X)
