"""Many components are shown in groups; the probabilities stay."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import shafer
from linear_worlds import linear_world
from shafer.report import Study, make_study, summary
from shafer.report.study import GroupedStudy, grouped_study


def joined(study: Study) -> GroupedStudy:
    found = grouped_study(study)
    assert found is not None
    return found


@pytest.mark.parametrize("prior", ["own", "shared"])
@pytest.mark.parametrize("n_inputs", [12, 13])
def test_groups_begin_beyond_twelve(n_inputs: int, prior: str) -> None:
    explainer, X, _ = linear_world(0, 3, n_inputs=n_inputs, prior=prior)
    found = grouped_study(make_study(explainer, X[:50]))
    assert (found is None) == (n_inputs == 12)


@pytest.mark.parametrize("prior", ["own", "shared"])
def test_groups_are_those_of_the_evidence(prior: str) -> None:
    explainer, X, _ = linear_world(1, 3, n_inputs=20, prior=prior)
    study = make_study(explainer, X[:80])
    found = joined(study)
    ev, true = found.study.undiscounted, study.undiscounted.grouped("auto")
    assert ev.component_names == true.component_names
    assert_allclose(ev.weights, true.weights)
    assert_allclose(ev.probability, study.undiscounted.probability)
    assert found.n_groups == 5
    assert sorted(g for group in found.members for g in group) == list(
        range(study.undiscounted.n_components)
    )
    for group, members in enumerate(found.members):
        whole = study.undiscounted.weights[:, members].sum(axis=1)
        assert_allclose(ev.weights[:, group], whole, atol=1e-12)


def test_discounted_evidence_keeps_its_reliability() -> None:
    explainer, X, rng = linear_world(2, 2, n_inputs=15)
    study = make_study(explainer, X[:30])
    reliability = rng.uniform(0.5, 1.0, 30)
    discounted = Study(
        "", (), explainer, X[:30], study.columns, study.undiscounted.discounted(reliability)
    )
    found = joined(discounted).study.evidence
    assert isinstance(found, shafer.DiscountedEvidence)
    assert_allclose(found.reliability, reliability)
    assert_allclose(found.betting_probability, study.undiscounted.probability)


def test_the_sentence_names_single_components() -> None:
    explainer, X, _ = linear_world(3, 2, n_inputs=15)
    study = make_study(explainer, X[:30])
    found = joined(study)
    named = found.sentence(4).split("; ignorance")[0]
    assert named == study.sentence(4).split("; ignorance")[0]
    ev = found.study.evidence[4]
    high = float(ev.ignorance[0]) >= 0.5
    assert ("ignorance is very high" in found.sentence(4)) == high


def test_the_summary_is_about_the_groups() -> None:
    explainer, X, _ = linear_world(4, 2, n_inputs=15, prior="own")
    study = make_study(explainer, X[:30])
    text = summary(study)
    assert "30 instances, 15 components (shown in 5 groups) and the base rate, 2 classes" in text
    lacking = np.mean(joined(study).study.evidence.ignorance >= 0.2)
    assert f"evidence lacking {lacking:.1%}" in text
