"""``MonitorStream``: uniform p-values, martingales, alarms, and continuing later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import shafer
from shafer.monitor.stream import (
    N_BINS,
    bet,
    bins_of,
    first_capital,
    log_martingale,
    ranked,
    stream_splits,
)

from .monitored_worlds import linear_world


def _p_values(n_items: int, n_rows: int, seed: int, n_reference: int = 50) -> np.ndarray:
    """Conformal p-values of exchangeable rows: (n_rows, n_items)."""
    random = np.random.default_rng(seed)
    splits = stream_splits(random.normal(size=(100, n_items)), np.zeros(n_items))
    bins = bins_of(random.normal(size=(n_reference, n_items)), splits)
    counts = np.stack([np.bincount(column, minlength=N_BINS) for column in bins.T])
    found = []
    for places in bins_of(random.normal(size=(n_rows, n_items)), splits):
        p, counts = ranked(counts, places, 1.0 - random.random(n_items))
        found.append(p)
    assert (counts.sum(axis=1) == n_reference + n_rows).all()
    return np.array(found)


def test_p_values_are_uniform_and_independent() -> None:
    p = _p_values(2000, 10, seed=0)
    for row in p:
        assert stats.kstest(row, "uniform").pvalue > 1e-4
    correlations = np.corrcoef(p)[np.triu_indices(10, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(2000)


def test_ranks_are_conformal() -> None:
    splits = stream_splits(np.arange(10.0)[:, None], np.zeros(1))
    counts = np.stack(
        [np.bincount(bins_of(np.array([[1.0], [3.0], [3.0]]), splits)[:, 0], minlength=N_BINS)]
    )
    p, after = ranked(counts, bins_of(np.array([[3.0]]), splits)[0], np.array([0.5]))
    assert_allclose(p, (1 + 0.5 * 3) / 4)  # one below, three equal with itself
    assert after.sum() == 4


def test_bets_have_mean_one() -> None:
    nodes, weights = np.polynomial.legendre.leggauss(20)
    random = np.random.default_rng(1)
    shares = random.dirichlet(np.ones(3), size=(1, 6))
    log_capital = random.normal(size=(1, 6))
    total = 0.0
    # |2p − 1| has a corner in the middle: each half by itself.
    for low in (0.0, 0.5):
        for node, weight in zip(nodes, weights, strict=True):
            p = np.array([low + (node + 1.0) / 4.0])
            after = bet(shares, log_capital, p)[1]
            total += weight / 4.0 * float(np.exp(log_martingale(after))[0])
    assert_allclose(total, np.exp(log_martingale(log_capital))[0])


def _ever_reached(p: np.ndarray, threshold: float) -> np.ndarray:
    shares, log_capital = first_capital(p.shape[1])
    reached = np.zeros(p.shape[1], dtype=bool)
    for row in p:
        shares, log_capital = bet(shares, log_capital, row)
        reached |= log_martingale(log_capital) >= threshold
    return reached


def test_ville_holds_over_a_thousand_rows() -> None:
    reached = _ever_reached(_p_values(1000, 1000, seed=2), np.log(20.0))
    assert reached.sum() <= stats.binom.ppf(0.999, 1000, 0.05)


def test_ranks_among_the_reference_alone_would_break_it() -> None:
    # The p-values of a fixed reference are uniform one by one, but not independent.
    random = np.random.default_rng(3)
    reference = np.sort(random.normal(size=(200, 50)), axis=0)
    scores = random.normal(size=(400, 200))
    p = np.array(
        [
            (np.searchsorted(column, row) + 0.5) / 51.0
            for row, column in zip(scores.T, reference, strict=True)
        ]
    )
    reached = _ever_reached(np.ascontiguousarray(p.T), np.log(20.0))
    assert reached.sum() > stats.binom.ppf(0.999, 200, 0.05)


def test_a_change_is_found_and_named() -> None:
    explainer, draw = linear_world(6, seed=1)
    stream = shafer.Monitor.fit(explainer, draw(1000)).watch()
    assert not stream.update(draw(400))
    assert (stream.alarm_row, stream.moved) == (None, ())
    batch = draw(200)
    batch[:, 2] -= 1.0
    assert stream.update(batch)
    assert stream.moved[0] == "feature 2"
    assert stream.alarm_row is not None
    assert 400 <= stream.alarm_row < 500
    assert stream.update(draw(1))  # an alarm stays
    assert stream.n_rows == 601
    assert repr(stream).startswith("<MonitorStream: 601 rows, alarm, evidence ")


def test_a_change_of_spread_is_found() -> None:
    explainer, draw = linear_world(4, seed=2, correlation=0.0)
    stream = shafer.Monitor.fit(explainer, draw(1000)).watch()
    batch = draw(600)
    batch[:, 1] *= 2.0
    assert stream.update(batch)
    assert "feature 1" in stream.moved


def test_updates_may_be_of_any_size() -> None:
    explainer, draw = linear_world(3, seed=3)
    monitor = shafer.Monitor.fit(explainer, draw(100))
    X = draw(60)
    whole, parts = monitor.watch(seed=5), monitor.watch(seed=5)
    whole.update(X)
    for part in (X[:1], X[1:20], X[20:]):
        parts.update(part)
    assert_allclose(whole.log_martingales, parts.log_martingales, atol=1e-12)
    assert len(parts.history[0]) == 3
    other = monitor.watch(seed=6)
    other.update(X)
    assert other.evidence != whole.evidence


def test_evidence_is_what_raises_the_alarm() -> None:
    explainer, draw = linear_world(3, seed=4)
    stream = shafer.Monitor.fit(explainer, draw(200)).watch(alpha=0.2)
    fired = False
    for row in draw(80) + np.array([0.8, 0.0, 0.0]):
        alarm = stream.update(row[None])
        fired = fired or stream.evidence >= -np.log(0.2)
        assert alarm == fired
    assert fired


def test_a_stream_is_continued(tmp_path: Path) -> None:
    explainer, draw = linear_world(3, seed=5)
    monitor = shafer.Monitor.fit(explainer, draw(100))
    stream = monitor.watch(alpha=0.1, seed=7)
    stream.update(draw(30))
    stream.save(tmp_path / "stream.npz")
    resumed = monitor.resume(str(tmp_path / "stream.npz"))
    X = draw(40) + 0.5
    assert stream.update(X) == resumed.update(X)
    assert stream.evidence == resumed.evidence
    assert resumed.n_rows == 70
    other = shafer.Monitor.fit(explainer, draw(200))
    with pytest.raises(ValueError, match="belongs to another monitor"):
        other.resume(tmp_path / "stream.npz")


def test_a_long_history_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shafer.monitor.stream.MOST_UPDATES", 8)
    explainer, draw = linear_world(3, seed=7)
    stream = shafer.Monitor.fit(explainer, draw(100)).watch()
    for row in draw(30):
        stream.update(row[None])
    seen, logs = stream.history
    assert len(seen) == len(logs) <= 8
    assert seen[-1] == 30
    assert_allclose(logs[-1], stream.log_martingales)


def test_no_rows() -> None:
    explainer, draw = linear_world(3, seed=6)
    stream = shafer.Monitor.fit(explainer, draw(100)).watch()
    with pytest.raises(ValueError, match="at least one row"):
        stream.update(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="The stream has no rows yet"):
        stream.display()
    with pytest.raises(ValueError, match="alpha must be a chance"):
        shafer.Monitor.fit(explainer, draw(100)).watch(alpha=0.0)
