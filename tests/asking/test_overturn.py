"""The chance that missing inputs overturn the decision, against Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from linear_worlds import N_DRAWS, draws, linear_world, logits_of, with_gaps


@pytest.mark.parametrize(("n_classes", "bias"), [(2, 0.0), (3, 0.03), (4, 0.03), (5, 0.04)])
def test_against_monte_carlo(n_classes: int, bias: float) -> None:
    """Exact for two classes; for more, several leads may turn at once."""
    differences = []
    for seed in range(6):
        explainer, X, rng = linear_world(seed, n_classes)
        rows = np.stack([with_gaps(X[seed], [0, 3]), with_gaps(X[seed + 9], [1, 2, 4, 5])])
        read = shafer.Explainer(explainer.model, X, missing="conditional")
        found = explainer.ask.overturn(rows)
        for row, chance in zip(rows, found, strict=True):
            decision = read(row[None, :]).probability[0].argmax()
            changed = logits_of(explainer, draws(explainer, row, rng)).argmax(axis=1) != decision
            error = np.sqrt(max(chance * (1 - chance), 1e-6) / N_DRAWS)
            assert abs(changed.mean() - chance) < 4.5 * error + bias
            differences.append(changed.mean() - chance)
    assert np.abs(differences).mean() < 0.002 + bias / 4


def test_nothing_and_everything_missing() -> None:
    explainer, X, _ = linear_world(0, 3)
    assert_array_equal(explainer.ask.overturn(X), np.zeros(len(X)))
    everything = explainer.ask.overturn(np.full((3, 6), np.nan))
    assert (everything > 0).all()
    assert len(set(everything)) == 1


def test_more_gaps_leave_more_open() -> None:
    explainer, X, _ = linear_world(2, 2)
    centre = X.mean(axis=0)  # the expectation of all that is missing
    chances = [explainer.ask.overturn(with_gaps(centre, range(m))[None, :])[0] for m in range(7)]
    assert_allclose(chances, np.sort(chances), atol=1e-12)
    assert chances[-1] < 0.5


def test_factors_on_the_weights_play_no_part() -> None:
    explainer, X, rng = linear_world(2, 3)
    gappy = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    tempered = shafer.Explainer(explainer.model, X, temper=0.2, missing="vacuous")
    assert_allclose(tempered.ask.overturn(gappy), explainer.ask.overturn(gappy), atol=1e-12)
