"""Evidence of rows with gaps knows its base rate, also after saving, slicing and grouping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import shafer


def test_vacuous_gaps_keep_the_base_rate(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.logistic(size=200) > 2.0).astype(int)
    rows = X[:6].copy()
    rows[0, 1] = np.nan
    rows[1] = np.nan
    model = LogisticRegression().fit(X, y)
    ev = shafer.Explainer(model, X, missing="vacuous")(rows)
    # A row without any input has nothing but the base rate; a complete row has that of the model.
    assert_allclose(ev.base_rate[1], ev.logits[1], atol=1e-12)
    complete = shafer.Explainer(model, X)(X[:6])
    assert_allclose(ev.base_rate[2:], complete.base_rate[2:], atol=1e-12)
    ev.save(tmp_path / "ev.npz")
    read = shafer.Evidence.load(tmp_path / "ev.npz")
    assert_allclose(read.base_rate, ev.base_rate)
    assert_allclose(read.fragility(), ev.fragility())
    assert_allclose(ev[[4, 0]].base_rate, ev.base_rate[[4, 0]])
    assert_allclose(ev.grouped({"g": [0, 1]}).base_rate, ev.base_rate)
    assert_allclose(ev.tempered(2.0).base_rate, 2.0 * ev.base_rate)
    assert_allclose(ev.without(["x0"]).n_components, 3)
