"""Cells that look wrong, values that would overturn a decision, and guarded predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, rel_entr
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

import shafer
from linear_worlds import N_DRAWS, conditional, draws, linear_world, logits_of, moments, with_gaps
from shafer._typing import FloatArray
from shafer.asking.inputs import ValueDecoder

# Cells that are worth checking: residuals, surprise and stake, against direct computation.


TAU = 5.0


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("gaps", [[], [1, 4]])
def test_against_direct_computation(n_classes: int, gaps: list[int]) -> None:
    explainer, X, _ = linear_world(n_classes, n_classes)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    row = with_gaps(X[0], gaps)
    found = explainer.ask.check_cells(row[None, :], top=None, order="stake").set_index("input")
    assert sorted(found.index) == [f"x{j}" for j in range(6) if j not in gaps]
    now = read(row[None, :])
    kappa = np.linalg.norm(now.logits) / np.linalg.norm(unmoderated(explainer, row))
    for name, line in found.iterrows():
        j = int(str(name)[1:])
        without = with_gaps(row, [j])
        out, expected, left = conditional(explainer, without)
        place = list(out).index(j)
        assert_allclose(line["value"], row[j])
        assert_allclose(line["expected"], expected[place], rtol=1e-6)
        spread = np.sqrt(left[place, place])
        surprise = abs(row[j] - expected[place]) / spread
        assert_allclose(line["surprise"], surprise, rtol=1e-6)
        wide = norm.pdf(row[j], expected[place], spread * np.sqrt(1 + TAU**2))
        odds = wide / norm.pdf(row[j], expected[place], spread)
        wrong = expit(np.log(0.02) + np.log(odds))
        repaired = row.copy()
        repaired[j] = expected[place]
        then = kappa * unmoderated(explainer, repaired)
        p = np.exp(then - then.max())
        divergence = rel_entr(p / p.sum(), now.probability[0]).sum()
        assert_allclose(line["stake"], wrong * divergence, rtol=1e-5, atol=1e-12)
    assert (np.diff(found["stake"]) <= 1e-15).all()


def unmoderated(explainer: shafer.Explainer, row: Any) -> Any:
    """Return the logits of a row with expectations in place of what is missing."""
    filled = row.copy()
    if np.isnan(row).any():
        out, expected, _ = conditional(explainer, row)
        filled[out] = expected
    return explainer(filled[None, :]).logits[0]


def test_a_wrong_value_surprises_most() -> None:
    explainer, X, _ = linear_world(0, 3)
    bad = X[:20].copy()
    mean, covariance = moments(explainer)
    bad[:, 2] = mean[2] + 12 * np.sqrt(covariance[2, 2])
    every = explainer.ask.check_cells(bad, top=None, order="stake")
    found = every.sort_values("surprise").groupby("row").tail(1).sort_values("row")
    assert (found["input"] == "x2").all()
    assert found["row"].tolist() == list(range(20))
    assert (found["surprise"] > 5).all()
    first = explainer.ask.check_cells(bad, top=1, order="stake")
    assert (first["rank"] == 1).all()
    assert_allclose(first["stake"], every.groupby("row")["stake"].max())


def test_values_are_those_of_the_user() -> None:
    heart = shafer.datasets.load_heart()
    frame = pd.DataFrame(heart.data, columns=heart.feature_names)
    plain = shafer.Explainer(LogisticRegression(max_iter=5000).fit(frame, heart.target), frame)
    scaled = make_pipeline(StandardScaler(), LogisticRegression(C=1e6)).fit(frame, heart.target)
    first = plain.ask.check_cells(frame[:5], top=None, order="stake").sort_values(["row", "input"])
    second = shafer.Explainer(scaled, frame).ask.check_cells(frame[:5], top=None, order="stake")
    second = second.sort_values(["row", "input"])
    assert_allclose(second["value"], first["value"])
    assert_allclose(second["expected"], first["expected"], rtol=1e-6)
    assert_allclose(second["surprise"], first["surprise"], rtol=1e-6)
    bent = make_pipeline(QuantileTransformer(n_quantiles=100), LogisticRegression())
    bent.fit(frame, heart.target)
    found = shafer.Explainer(bent, frame).ask.check_cells(frame[:5], top=None, order="stake")
    assert (found.loc[found["input"] == "sbp", "expected"].between(100, 220)).all()


def test_the_nearest_category_is_found_among_codes() -> None:
    grades = np.array([f"grade {g:02}" for g in range(12)])
    decoder = ValueDecoder.fit(grades, np.arange(12.0)[:, None])
    near = np.arange(12.0)[:, None] + np.array([[-0.4, 0.0, 0.4]])
    assert_array_equal(decoder.decoded(near.reshape(-1, 1)), np.repeat(grades, 3))


@pytest.mark.parametrize(("x", "kept"), [([1.0, 2.0, 4.0], 2), ([1.0, 2.0], 2), ([1.0], 1)])
def test_numbers_on_a_line_are_kept_as_its_ends(x: list[float], kept: int) -> None:
    values = np.array(x)
    decoder = ValueDecoder.fit(values, 3.0 * values[:, None] - 1.0)
    assert len(decoder.values) == kept
    assert_allclose(decoder.decoded(3.0 * values[:, None] - 1.0), values)


def test_everything_missing_leaves_nothing_to_check() -> None:
    explainer, X, _ = linear_world(0, 2)
    found = explainer.ask.check_cells(np.full((2, 6), np.nan))
    assert found.empty
    assert list(found.columns) == [
        "row", "rank", "input", "value", "expected", "surprise", "stake", "answer", "index",
    ]  # fmt: skip
    assert len(explainer.ask.check_cells(X[:2], top=None, order="stake")) == 12


# One suspect after the other.


def test_a_wrong_value_does_not_make_its_neighbours_suspects() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + 0.3 * rng.normal(size=(400, 6))  # all of them move together
    explainer = shafer.Explainer((rng.normal(size=6), 0.0), X, names=list("abcdef"))
    rows = X[:40].copy()
    rows[7, 2], rows[21, 4], rows[30, [0, 3]] = 40.0, -30.0, [15.0, -25.0]
    wrong = {(7, "c"), (21, "e"), (30, "a"), (30, "d")}
    found = explainer.ask.check_cells(rows)
    assert set(zip(found["index"][:4], found["input"][:4], strict=True)) == wrong
    assert found["surprise"].iloc[4] < 5 < found["surprise"].iloc[3]
    alone = explainer.ask.check_cells(rows, top=None, order="stake")
    assert (alone["surprise"] > 5).sum() > 12  # the neighbours, and the wrong values
    assert found.groupby("row")["rank"].apply(list).map(tuple).unique().tolist() == [(1, 2, 3)]


def test_each_suspect_is_the_first_once_the_others_are_missing() -> None:
    for n_classes in (2, 3):
        explainer, X, _ = linear_world(n_classes, n_classes)
        rows = with_gaps(X[:12] * 1.7, [2])
        rows[5] = X[5] * 1.7
        found = explainer.ask.check_cells(rows, top=4)
        for i, part in found.groupby("row"):
            left = rows[[i]].copy()
            for line in part.sort_values("rank").to_dict("records"):
                alone = explainer.ask.check_cells(left, top=None, order="stake")
                best = alone.sort_values("surprise").iloc[-1]
                assert line["input"] == best["input"]
                for name in ("value", "expected", "surprise", "stake"):
                    assert_allclose(line[name], best[name], rtol=1e-8, atol=1e-12, err_msg=name)
                assert line["answer"] == best["answer"]
                left[0, int(line["input"][1:])] = np.nan
        lowest = found.groupby("row")["surprise"].cummin().to_numpy()
        assert (np.diff(lowest) <= 0).all()
        one = explainer.ask.check_cells(rows, top=1)
        assert sorted(one["row"]) == list(range(12))
        assert len(explainer.ask.check_cells(rows, top=None)) == 11 * 5 + 6


def test_suspects_have_the_labels_of_their_rows() -> None:
    explainer, X, _ = linear_world(0, 2)
    frame = pd.DataFrame(X[:4], columns=[f"x{j}" for j in range(6)], index=list("wxyz"))
    found = explainer.ask.check_cells(frame, top=2)
    assert sorted(found["index"]) == list("wwxxyyzz")
    assert (frame.index[found["row"]] == found["index"]).all()
    numbers = explainer.ask.check_cells(X[:4], top=2)
    assert_array_equal(numbers["index"], numbers["row"])
    moderated = shafer.Explainer(explainer.model, X, temper=0.5)
    assert_allclose(moderated.ask.check_cells(X[:4], top=2)["surprise"], numbers["surprise"])
    with pytest.raises(ValueError, match="order must be 'surprise'"):
        explainer.ask.check_cells(X, order="rank")


# Questions about rows with absurd values, and options that are easy to get wrong.


@pytest.fixture
def asked() -> tuple[shafer.Explainer, FloatArray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 1] += X[:, 0]
    y = (X.sum(axis=1) + rng.logistic(size=200) > 0.0).astype(int)
    return shafer.Explainer(LogisticRegression().fit(X, y), X), X


@pytest.mark.parametrize("huge", [1e3, 1e12, 1e20, 1e100, 1e300])
def test_an_absurd_value_leaves_no_trace(
    asked: tuple[shafer.Explainer, FloatArray], huge: float
) -> None:
    explainer, X = asked
    row, gap = X[:1].copy(), X[:1].copy()
    row[0, 1], gap[0, 1] = huge, np.nan
    found, without = explainer.ask.guard(row), explainer.ask.guard(gap)
    assert_allclose(found.probability, without.probability, rtol=1e-12)
    assert found.repaired[0].tolist() == [False, True, False, False, False, False]
    cell = explainer.ask.check_cells(row).iloc[0]
    assert cell["input"] == "x1"
    usual = found.to_frame()["expected"].iloc[0]
    assert_allclose(cell["expected"], usual, rtol=1e-9)
    assert np.isfinite([cell["surprise"], cell["stake"]]).all()
    assert np.isfinite(explainer.ask.fragility(row)).all()


def test_five_fill_values_in_a_row(asked: tuple[shafer.Explainer, FloatArray]) -> None:
    explainer, X = asked
    row, gap = X[:1].copy(), X[:1].copy()
    row[0, :5], gap[0, :5] = 1e20, np.nan
    # Four are repaired; the mixture answers as if the fifth were missing, too.
    found = explainer.ask.guard(row)
    assert found.repaired.sum() == 4
    assert_allclose(found.probability, explainer.ask.guard(gap).probability, atol=0.02)


def test_groups_of_inputs_by_name_only(asked: tuple[shafer.Explainer, FloatArray]) -> None:
    explainer, _ = asked
    with pytest.raises(ValueError, match="measured together: a mapping .* got 'auto'"):
        explainer.ask.next_inputs(np.full((1, 6), np.nan), groups="auto")


def test_classifier_options() -> None:
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 2
    with pytest.raises(ValueError, match="guard must be True or False; got 'yes'"):
        shafer.EvidentialClassifier(guard="yes").fit(X, y)  # type: ignore[arg-type]
    gap = np.array([[np.nan, 0.0, 0.0]])
    clf = shafer.EvidentialClassifier(guard=True).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        clf.predict_proba(gap)
    clf = shafer.EvidentialClassifier(guard=True, missing="conditional").fit(X, y)
    assert_allclose(clf.predict_proba(gap).sum(), 1.0)


# The chance that missing inputs overturn the decision, against Monte Carlo.


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


# The guard: its mixture against rows with NaN, and what wrong inputs do.


def by_hand(explainer: shafer.Explainer, read: shafer.Explainer, row: Any) -> Any:
    """Mix the probabilities of a row with those of the row without each input."""
    cells = explainer.ask.check_cells(row[None, :], top=None, order="stake")
    n_inputs = len(row)
    odds, parts = [1.0], [read(row[None, :]).probability[0]]
    for name, surprise in zip(cells["input"], cells["surprise"], strict=True):
        factor = np.exp(0.5 * surprise**2 * TAU**2 / (1 + TAU**2)) / np.sqrt(1 + TAU**2)
        odds.append(0.2 / n_inputs / 0.8 * factor)
        without = with_gaps(row, [int(name[1:])])
        parts.append(read(without[None, :]).probability[0])
    share = np.array(odds) / np.sum(odds)
    return share, share @ np.array(parts)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("temper", [1.0, 0.6])
def test_the_mixture(n_classes: int, temper: float) -> None:
    explainer, X, _ = linear_world(1, n_classes, temper=temper)
    read = shafer.Explainer(explainer.model, X, missing="conditional", temper=temper)
    rows = np.concatenate([X[:15], with_gaps(X[15:20], [0, 3])])
    found = explainer.ask.guard(rows)
    assert not found.repaired.any()
    for i, row in enumerate(rows):
        share, p = by_hand(explainer, read, row)
        assert_allclose(found.probability[i], p, rtol=1e-8)
        assert_allclose(found.alarm[i], 1 - share[0], rtol=1e-8)


def test_repairs() -> None:
    explainer, X, _ = linear_world(2, 3)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    bad = X[:10].copy()
    bad[:, 1] += 200.0
    bad[:5, 4] -= 300.0
    found = explainer.ask.guard(bad)
    assert found.repaired[:, 1].all()
    assert_array_equal(np.flatnonzero(found.repaired[:, 4]), range(5))
    assert found.repaired.sum() == 15
    assert (found.alarm > 0.999).all()
    # A repaired input counts as missing: what it was plays no part.
    assert_allclose(
        found.probability[:5], explainer.ask.guard(with_gaps(X[:5], [1, 4])).probability, rtol=1e-6
    )
    cells = found.to_frame()
    assert list(cells.columns) == ["row", "input", "value", "expected"]
    assert len(cells) == 15
    second = cells[(cells["row"] == 7)].iloc[0]
    assert second["input"] == "x1"
    assert_allclose(second["value"], bad[7, 1])
    filled = read.weighed_model.missing.complete(
        read.weighed_model.model, with_gaps(X[7], [1])[None, :]
    )
    assert_allclose(second["expected"], filled.rows.terms[0, 1])
    assert "15 cells repaired in 10 rows" in repr(found)


def test_at_most_four_repairs() -> None:
    explainer, X, rng = linear_world(2, 2, n_inputs=8)
    bad = X[:5] + 1e4 * rng.choice([-1.0, 1.0], size=(5, 8))
    found = explainer.ask.guard(bad)
    assert (found.repaired.sum(axis=1) <= 4).all()
    assert np.isfinite(found.probability).all()


def test_certain_rows_stay_probabilities() -> None:
    for seed in range(5):
        explainer, X, _ = linear_world(seed, 4, slope=20.0)
        found = explainer.ask.guard(X).probability
        assert found.max() <= 1.0
        assert found.min() >= 0.0


def test_the_result() -> None:
    explainer, X, _ = linear_world(2, 3, classes=["u", "v", "w"])
    frame = pd.DataFrame(X[:6], columns=[f"x{j}" for j in range(6)], index=list("abcdef"))
    frame.iloc[2, 0] = 1e4
    found = explainer.ask.guard(frame)
    assert len(found) == 6
    assert found.input_names == tuple(frame.columns)
    cells = found.to_frame()
    assert list(cells.columns) == ["row", "input", "value", "expected", "index"]
    assert (cells["row"].tolist(), cells["index"].tolist()) == ([2], ["c"])
    assert_allclose(found.evidence.probability, found.probability, atol=1e-12)
    assert found.evidence.classes.tolist() == ["u", "v", "w"]
    assert found.evidence.index.tolist() == list("abcdef")
    assert_allclose(found.probability.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        found.probability[0] = 0.0


def test_wrong_inputs_cost_less() -> None:
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    clf = shafer.EvidentialClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), guard=True
    ).fit(X[::2], y[::2])
    plain = clone(clf).set_params(guard=False).fit(X[::2], y[::2])
    test, labels = X[1::2].copy(), y[1::2]
    clean = log_loss(labels, clf.predict_proba(test))
    assert clean < log_loss(labels, plain.predict_proba(test)) + 0.02
    wrong = rng.random(test.shape) < 0.05
    bad = np.where(wrong, test * 10, test)
    guarded = log_loss(labels, clf.predict_proba(bad))
    assert guarded < 0.3 * log_loss(labels, plain.predict_proba(bad))
    assert (clf.predict(bad) == labels).mean() > (plain.predict(bad) == labels).mean()
    assert_array_equal(clf.predict(bad), clf.classes_[clf.predict_proba(bad).argmax(axis=1)])
    alarm = clf.explainer_.ask.guard(bad).alarm
    assert roc_auc_score(wrong.any(axis=1), alarm) > 0.95


def test_guarded_sets() -> None:
    X, y = load_wine(return_X_y=True)
    clf = shafer.EvidentialClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), guard=True
    ).fit(X[::3], y[::3])
    sets = clf.predict_set(X[2::3], "utility_set")
    assert_array_equal(sets, clf.explainer_.ask.guard(X[2::3]).evidence.decide("utility_set"))
    assert clf.predict_set(X[:1], "interval_dominance").shape == (1, 3)
    clf.conformalize(X[1::3], y[1::3], 0.8)
    calibrated = clf.predict_set(X[2::3])
    assert calibrated[np.arange(len(calibrated)), y[2::3]].mean() > 0.7
    clf.conformalize(X[::3], y[::3], 0.8, cv=3)
    assert clf.predict_set(X[2::3])[np.arange(len(calibrated)), y[2::3]].mean() > 0.7


def test_other_models_are_refused() -> None:
    X, y = load_wine(return_X_y=True)
    for model in (GaussianNB(), LogisticRegression()):
        classifier = shafer.EvidentialClassifier(make_pipeline(StandardScaler(), model), guard=True)
        if isinstance(model, LogisticRegression):
            classifier.fit(X, y)
        else:
            with pytest.raises(shafer.UnsupportedModelError, match="works for linear models"):
                classifier.fit(X, y)
    with pytest.raises(shafer.UnsupportedModelError):
        shafer.EvidentialClassifier(RandomForestClassifier(), guard=True).fit(X, y)
