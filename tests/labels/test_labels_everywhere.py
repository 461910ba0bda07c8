"""Labels are never positions: every public function gives the same numbers for all labels.

``watched_parameters`` finds the public functions that take labels, losses, names or paths. Each
must be covered by a call in ``*_calls.py``, or be listed below with a reason.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import (
    deferral_calls,
    evidence_calls,
    metric_calls,
    model_calls,
    plot_calls,
    scale_calls,
)
from .calls import CALLS, PATH_CALLS
from .public_functions import watched_parameters
from .worlds import MISMATCHES, STRINGS, UNSORTED, WORLDS, World

assert all(
    (deferral_calls, evidence_calls, metric_calls, model_calls, plot_calls, scale_calls)
)  # they fill the table

RECORDS = {
    "decision.ConformalSets",
    "evidence.AdditivePool",
    "evidence.DiscountedEvidence",
    "evidence.Evidence",
    "evidence.FocalSet",
    "evidence.LinearPool",
    "evidence.WeightProfile",
    "fusion.MixedEvidence",
    "fusion.SourceConflict",
    "fusion.SourceInfluence",
    "metrics.GroupCoverage",
    "deferral.DeferralControl",
    "deferral.DeferringPrediction",
    "asking.GuardedPrediction",
    "monitor.BatchCheck",
    "monitor.MonitorReport",
    "report.Study",
    *(f"plots.{name}Display" for name in ("Dependence", "Interval", "Mass", "Region")),
    *(f"plots.{name}Display" for name in ("SetConfusion", "SourceConflict", "Summary")),
    *(f"plots.{name}Display" for name in ("Monitor", "Text", "Unit", "Waterfall")),
}
"""Constructors that store finished arrays. Functions of the table make them from labels."""

NOT_LABELS = {
    "datasets.load_fashion": "subset is a word, which images of the data set",
    "decision.tempering_factor": "positions: arrays alone, called with checked labels",
    "deferral.DeferralControl.places": "groups of rows, in the form that row_groups has checked",
    "EvidentialVotingClassifier": "prior is a word, 'once' or 'each'",
    "monitor.Monitor.display": "names of batches",
    "models.RBFLayer.fit": "y is ignored, as scikit-learn asks of a transformer",
    "plots.IntervalDisplay.from_evidence": "names of rows",
    "plots.RegionDisplay.plot": "text of a legend",
    "report.heart_study": "prior is a word, 'own' or 'shared'",
    "report.Study.title_of": "the name of a component, as the evidence has it",
}
ELSEWHERE = {"paper.reproduce": "tests/paper/test_reproduce.py"}  # takes long; str and Path there


def test_every_function_is_in_the_table() -> None:
    covered = {name for call in CALLS.values() for name in call.covers}
    covered |= {name for _, names in PATH_CALLS.values() for name in names}
    listed = covered | RECORDS | set(NOT_LABELS) | set(ELSEWHERE)
    found = watched_parameters()
    missing = {name: sorted(found[name]) for name in sorted(set(found) - listed)}
    assert not missing, f"add a call for each of {missing}"
    gone = listed - RECORDS - set(found)
    options = {f"{kind}.{name}" for kind in evidence_calls.TYPES for name in ("acts", "decide")}
    assert gone <= options, f"no longer public: {sorted(gone)}"  # losses may pass as **options
    for path in ELSEWHERE.values():
        assert (Path(__file__).parents[2] / path).exists()


@cache
def _with_strings(name: str, n_classes: int) -> np.ndarray:
    return CALLS[name].numbers(World(STRINGS[n_classes]))


def _worlds(name: str) -> list[str]:
    return [*WORLDS] if CALLS[name].trains else [*WORLDS, *UNSORTED]


@pytest.mark.parametrize(
    ("name", "world"), [(name, world) for name in CALLS for world in _worlds(name)]
)
def test_the_names_of_classes_change_nothing(name: str, world: str) -> None:
    names = (WORLDS | UNSORTED)[world]
    found = CALLS[name].numbers(names)
    assert found.size
    assert_allclose(found, _with_strings(name, names.n_classes), rtol=1e-9, atol=1e-9)


def _mismatches(name: str) -> list[str]:
    call = CALLS[name]
    return [key for key in MISMATCHES if call.compares and key not in call.allows]


@pytest.mark.parametrize(
    ("name", "mismatch"), [(name, mismatch) for name in CALLS for mismatch in _mismatches(name)]
)
def test_unknown_labels_are_refused(name: str, mismatch: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)class|label|prior"):
        CALLS[name].run(MISMATCHES[mismatch])


@pytest.mark.parametrize("name", PATH_CALLS)
def test_paths_are_strings_or_paths(name: str, tmp_path: Path) -> None:
    run = PATH_CALLS[name][0]
    assert_allclose(run(str(tmp_path / "one.npz")), run(tmp_path / "two.npz"))
    assert (tmp_path / "one.npz").read_bytes()
