"""A mixture is exact to what its members are, and the sum over them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import shafer
from evidence_types import made
from shafer._kernels import Pooled
from shafer._masses import MixedMasses, PooledMasses


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_grows_with_the_members(dtype: str) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.uniform(0, 30, size=(3, 2, 5, 4)).astype(dtype)
    members = tuple(PooledMasses(Pooled(w_for - w_ag, w_for, w_ag)) for w_for, w_ag in sizes)
    mixed = MixedMasses(members, np.full((5, 3), 1 / 3, dtype=dtype), np.zeros(5, dtype=dtype))
    eps = np.finfo(dtype).eps
    worst = np.max([member.rounding for member in members], axis=0)
    assert_allclose(mixed.rounding, np.minimum(worst + 12 * eps, 1e-6), rtol=16 * eps)
    assert mixed.relative_rounding == pytest.approx(members[0].relative_rounding + 12 * eps)
    assert mixed.log_rounding == mixed.relative_rounding


def test_the_limit_of_classes_is_included(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shafer._masses.mixed.MOST_CLASSES", 4)
    made("MixedEvidence", n_classes=4).evidence.decide("utility_set", expectation="upper")
    with pytest.raises(shafer.FrameTooLargeError, match="at most 4 classes are accepted; got 5"):
        made("MixedEvidence", n_classes=5).evidence.decide("utility_set", expectation="upper")
