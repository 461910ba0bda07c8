"""Support vector machines behind Platt scaling: kernels, and what a component is."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import shafer

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)


def test_components_are_support_vectors() -> None:
    machine = SVC().fit(X, Y)
    model = CalibratedClassifierCV(FrozenEstimator(machine)).fit(X, Y)
    explainer = shafer.Explainer(model, X, prior="shared")
    names = tuple(f"support vector {row}" for row in machine.support_)
    assert explainer.component_names == names
    assert explainer(X).weights.shape == (len(X), len(names), 2)
    with pytest.raises(ValueError, match="components must be 'vector' for this model"):
        shafer.Explainer(model, X, components="feature", prior="shared")


def test_precomputed_kernel() -> None:
    kernel = rbf_kernel(X, gamma=0.01)
    machine = SVC(kernel="precomputed")
    model = CalibratedClassifierCV(machine, ensemble=False, cv=3).fit(kernel, Y)
    ev = shafer.Explainer(model, kernel)(kernel)
    assert_allclose(ev.probability, model.predict_proba(kernel), atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_trained_on_sparse_rows(kernel: str) -> None:
    rows = sparse.csr_matrix(X)
    model = CalibratedClassifierCV(SVC(kernel=kernel), ensemble=False, cv=3).fit(rows, Y)
    ev = shafer.Explainer(model, rows)(rows)
    assert_allclose(ev.probability, model.predict_proba(rows), atol=1e-10)
