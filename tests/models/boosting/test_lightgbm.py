"""LightGBM with an objective of the user's, and columns in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import shafer

X, Y = load_iris(return_X_y=True)


def _loss(y: Any, margin: Any) -> tuple[Any, Any]:
    return 1 / (1 + np.exp(-margin)) - y, np.ones_like(margin)


def test_an_objective_of_the_users_is_refused() -> None:
    model = LGBMClassifier(n_estimators=3, verbose=-1, objective=_loss).fit(X, Y > 0)
    with pytest.raises(shafer.UnsupportedModelError, match="objective 'custom'.* Use .*'binary'"):
        shafer.Explainer(model, X)


def test_columns_in_another_order() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LGBMClassifier(n_estimators=3, verbose=-1).fit(frame, Y)
    ev = shafer.Explainer(model, frame)(frame[list("dcba")])  # LightGBM itself reads by position
    assert_allclose(ev.probability, model.predict_proba(frame), atol=1e-10)
