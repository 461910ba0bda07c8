"""The public names, the layers, and a light import."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import shafer
from shafer.asking import InputQuestions

ROOT = Path(__file__).parent.parent


def test_top_level_names() -> None:
    assert sorted(shafer.__all__) == [
        "Evidence",
        "EvidentialClassifier",
        "EvidentialVotingClassifier",
        "Explainer",
        "LinearHead",
        "Monitor",
        "NeighbourEvidence",
        "combine",
        "least_commitment",
        "typicality",
    ]
    for name in shafer.__all__:
        assert getattr(shafer, name) is not None
    assert set(shafer.__all__) <= set(dir(shafer))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        shafer.nonsense  # noqa: B018 - the access is the test


def test_every_package_is_an_attribute() -> None:
    # In a new process: here an import may have set the attributes already.
    names = list(shafer._SUBPACKAGES)
    assert _python(f"import shafer; print([getattr(shafer, n).__name__ for n in {names}])") == (
        f"{[f'shafer.{name}' for name in names]}\n"
    )
    assert dir(shafer) == sorted({*shafer.__all__, *names, "__version__"})


def test_other_packages_name_nothing() -> None:
    """A name is public where ``__all__`` of a package on the list has it, and nowhere else."""
    for file in (ROOT / "src" / "shafer").glob("[!_]*/__init__.py"):
        public = file.parent.name in shafer._SUBPACKAGES
        assert ("\n__all__ = [" in file.read_text("utf-8")) == public, file.parent.name


ERRORS = ("BadRowsError", "FrameTooLargeError", "TotalConflictError", "UnsupportedModelError")


def test_errors_are_found_at_the_top() -> None:
    for name in (
        "BadRowsError",
        "FrameTooLargeError",
        "TotalConflictError",
        "UnsupportedModelError",
    ):
        assert issubclass(getattr(shafer, name), Exception)


def test_names_of_models() -> None:
    assert shafer.models.__all__ == [
        "Contributions",
        "RBFLayer",
        "bootstrap_refits",
        "from_shap",
        "to_shap",
    ]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        shafer.models.nonsense  # noqa: B018 - the access is the test


def test_names_of_subpackages() -> None:
    assert shafer.datasets.__all__ == [
        "gaussian_posterior",
        "load_bird_strikes",
        "load_fashion",
        "load_fashion_network",
        "load_german_credit",
        "load_heart",
        "make_gaussian",
    ]
    assert shafer.plots.__all__ == [
        "DeferralDisplay",
        "DependenceDisplay",
        "ErrorImprecisionDisplay",
        "EvidenceMapDisplay",
        "ImportanceDisplay",
        "IntervalCalibrationDisplay",
        "IntervalDisplay",
        "MassDisplay",
        "MonitorDisplay",
        "RegionDisplay",
        "RiskCoverageDisplay",
        "SetConfusionDisplay",
        "SourceConflictDisplay",
        "SummaryDisplay",
        "TextDisplay",
        "UncertaintyDisplay",
        "UnitDisplay",
        "WaterfallDisplay",
    ]
    assert shafer.asking.__all__ == ["GuardedPrediction", "InputQuestions"]
    assert shafer.deferral.__all__ == ["DeferralControl", "DeferringPrediction"]
    assert shafer.scorecards.__all__ == ["scorecard"]
    assert shafer.export.__all__ == ["EvidencePythonModel", "pyfunc", "to_onnx"]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        shafer.export.nonsense  # noqa: B018 - the access is the test
    assert shafer.monitor.__all__ == ["BatchCheck", "Monitor", "MonitorReport", "MonitorStream"]
    assert shafer.paper.__all__ == ["reproduce"]
    assert shafer.serve.__all__ == ["app"]
    assert shafer.scale.__all__ == ["background", "schema", "score"]


def test_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == shafer.__version__


def test_evidence_names() -> None:
    public = {name for name in dir(shafer.Evidence) if not name.startswith("_")}
    # source, pooled, classes and component_names are fields without a default.
    assert public == {
        "acts",
        "base_rate",
        "belief",
        "belief_of",
        "betting_probability",
        "calibrated",
        "commonality_of",
        "components",
        "conflict",
        "conflict_for_against",
        "contradiction",
        "contrast",
        "contrast_interval",
        "contrast_std",
        "cutoff",
        "decide",
        "disagreement",
        "discounted",
        "errors",
        "focal_sets",
        "fragility",
        "from_source",
        "from_statements",
        "from_weights",
        "grouped",
        "ignorance",
        "importance",
        "index",
        "inputs",
        "lack",
        "layout",
        "load",
        "logits",
        "lower_risk",
        "mass_of",
        "masses",
        "n_classes",
        "n_components",
        "negative",
        "odds_against",
        "odds_for",
        "of",
        "parts",
        "pignistic",
        "summary",
        "plausibility",
        "plausibility_of",
        "points",
        "positive",
        "probability",
        "reasons",
        "save",
        "surprise",
        "tempered",
        "to_frame",
        "top_weights",
        "unchanged_source",
        "undiscounted",
        "upper_risk",
        "waterfall",
        "weighed",
        "weight_interval",
        "weight_of_conflict",
        "weight_of_disagreement",
        "weights",
        "weights_against",
        "weights_for",
        "weights_of",
        "weights_std",
        "with_index",
        "with_unknown",
        "without",
    }


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (
            shafer.Explainer,
            [
                "model",
                "background",
                "groups",
                "sample_weight",
                "names",
                "classes",
                "moderate",
                "missing",
                "temper",
                "prior",
                "n_groups",
                "check",
                "errors",
                "refits",
                "threshold",
                "loss",
                "options",
            ],
        ),
        (
            shafer.EvidentialClassifier,
            [
                "estimator",
                "groups",
                "temper",
                "moderate",
                "missing",
                "prior",
                "errors",
                "guard",
                "threshold",
                "loss",
            ],
        ),
        (shafer.models.Contributions, ["function", "intercept", "classes", "names"]),
        (
            shafer.models.bootstrap_refits,
            ["model", "X", "y", "n", "sample_weight", "random_state"],
        ),
        (shafer.models.RBFLayer, ["n_centres", "width", "random_state"]),
        (
            shafer.models.from_shap,
            ["explanation", "output", "model", "X", "background", "classes", "names"],
        ),
        (shafer.models.to_shap, ["evidence", "X"]),
        (shafer.models.torch.least_commitment_penalty, ["head", "features"]),
        (shafer.EvidentialClassifier.fit, ["self", "X", "y", "sample_weight"]),
        (shafer.EvidentialClassifier.predict, ["self", "X", "rule"]),
        (shafer.EvidentialClassifier.predict_set, ["self", "X", "rule", "by", "options"]),
        (
            shafer.EvidentialClassifier.conformalize,
            [
                "self",
                "X",
                "y",
                "coverage",
                "score",
                "class_conditional",
                "allow_empty",
                "cv",
                "by",
            ],
        ),
        (
            shafer.Explainer.control_error,
            [
                "self",
                "X",
                "y",
                "error",
                "confidence",
                "by",
                "false_negative_rate",
                "recall",
                "class_",
                "mean_loss",
                "loss",
            ],
        ),
        (shafer.Explainer.answer, ["self", "X", "reasons", "by"]),
        (shafer.serve.app, ["model", "reasons", "most_rows", "most_bytes", "trusted"]),
        (shafer.Explainer.predict_or_defer, ["self", "X", "by"]),
        (shafer.Explainer.save, ["self", "path", "rows"]),
        (shafer.Explainer.load, ["path", "trusted", "module"]),
        (shafer.EvidentialClassifier.load, ["path", "trusted", "module"]),
        (shafer.EvidentialVotingClassifier.load, ["path", "trusted", "module"]),
        (shafer.Explainer.temper, ["self", "X", "y", "sample_weight"]),
        (
            shafer.Explainer.decide,
            ["self", "X", "loss", "rule", "reject", "utility", "alpha", "tolerance", "expectation"],
        ),
        (
            shafer.Evidence.decide,
            ["self", "rule", "loss", "utility", "reject", "alpha", "tolerance", "expectation"],
        ),
        (shafer.Evidence.from_statements, ["statements", "classes", "columns", "prior"]),
        (shafer.fusion.FiniteEvidence.from_statements, ["statements", "classes", "prior"]),
        (
            InputQuestions.next_inputs,
            ["self", "X", "top", "costs", "groups", "together", "backend"],
        ),
        (
            InputQuestions.next_measurements,
            ["self", "X", "budget", "costs", "groups", "backend"],
        ),
        (InputQuestions.overturn, ["self", "X", "inputs"]),
        (InputQuestions.fragility, ["self", "X", "q", "fill"]),
        (InputQuestions.check_cells, ["self", "X", "top", "order", "backend"]),
        (InputQuestions.guard, ["self", "X"]),
        (shafer.Evidence.fragility, ["self", "q"]),
        (
            shafer.Monitor.fit,
            ["explainer", "X_reference", "y", "alpha", "max_rows", "bins", "seed"],
        ),
        (shafer.Monitor.check, ["self", "X", "y"]),
        (shafer.export.to_onnx, ["explainer", "outputs", "reasons", "dtype", "check", "rows"]),
        (shafer.export.pyfunc, ["explainer", "reasons", "evidence", "labels_only"]),
        (shafer.Monitor.watch, ["self", "alpha", "seed"]),
        (shafer.Monitor.load, ["path", "explainer"]),
        (shafer.typicality, ["ev", "background"]),
        (
            shafer.combine,
            [
                "evidences",
                "combination",
                "reliability",
                "tempering",
                "prior",
                "frame",
                "coarse",
                "classes",
                "granularity",
                "rule",
                "components",
            ],
        ),
        (shafer.metrics.coverage_score, ["y_true", "y_set", "labels", "sample_weight"]),
        (shafer.metrics.mean_set_size, ["y_set", "sample_weight"]),
        (shafer.metrics.confusion_sets, ["y_set", "labels"]),
        (shafer.datasets.make_gaussian, ["n_samples", "random_state"]),
        (shafer.paper.reproduce, ["out", "quick", "seed", "select_lambda"]),
        (
            shafer.least_commitment,
            [
                "coef",
                "intercept",
                "feature_means",
                "classes",
                "names",
                "prior",
                "power",
                "measured",
                "features",
            ],
        ),
    ],
)
def test_signatures(function: object, parameters: list[str]) -> None:
    assert list(inspect.signature(function).parameters) == parameters  # type: ignore[arg-type]


def test_errors_are_value_errors() -> None:
    for name in (
        "BadRowsError",
        "FrameTooLargeError",
        "TotalConflictError",
        "UnsupportedModelError",
    ):
        assert issubclass(getattr(shafer, name), ValueError)


def _python(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("used", ["", "shafer.Evidence; shafer.least_commitment; shafer.belief"])
def test_import_loads_nothing_heavy(used: str) -> None:
    # scikit-learn loads pandas where it is installed, so it too waits until a model needs it.
    heavy = "torch", "matplotlib", "numba", "pandas", "polars", "plotly", "sklearn"
    loaded = _python(
        f"import sys, shafer; {used}\nprint([name for name in {heavy} if name in sys.modules])"
    )
    assert loaded == "[]\n"


def test_models_load_no_framework() -> None:
    frameworks = "torch", "xgboost", "lightgbm", "catboost", "interpret", "shap", "pygam"
    code = f"""
import sys, shafer
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
X, y = load_iris(return_X_y=True)
shafer.Explainer(GaussianNB().fit(X, y), X, groups="one")(X)
print([name for name in {frameworks} if name in sys.modules])
"""
    assert _python(code) == "[]\n"


def test_import_is_no_slower_than_scikit_learns() -> None:
    clock = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    _python(clock.format("shafer"))  # warm the disk; these tests have loaded scikit-learn already
    ours = min(float(_python(clock.format("shafer"))) for _ in range(3))
    theirs = float(_python(clock.format("sklearn.linear_model")))
    assert ours <= theirs


def test_layers_hold() -> None:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
