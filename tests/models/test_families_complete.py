"""Every model family of the registry has all its parts: reader, example, saving, export, docs.

The cases come from the registry, so a new family fails here until it has a small trained model in
``EXAMPLES`` and a row in docs/guide/models.md. The failure names what to add.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api
import torch
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import Dataset, LGBMClassifier
from lightgbm import train as train_lightgbm
from numpy.testing import assert_allclose, assert_array_equal
from optbinning import BinningProcess, Scorecard
from scipy.special import expit
from skl2onnx import to_onnx
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier
from skorch import NeuralNetBinaryClassifier, NeuralNetClassifier
from xgboost import DMatrix, XGBClassifier
from xgboost import train as train_xgboost

import shafer
from shafer.errors import UnsupportedModelError
from shafer.models.registry import DECISIONS, FAMILIES, TRANSFORMERS
from spark_session import ml, started_spark

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "models.md"
HERE = "tests/models/test_families_complete.py"

# The tables of the registry, and the function that each expects in a reader's file.
TABLES = {
    "adapt": FAMILIES,
    "decision": DECISIONS,
    "behind": TRANSFORMERS,
    # Any unknown class with the numbers of a linear model, such as this one.
    "like": {("cuml", "LinearLike"): "like_linear"},
    # Models that are arrays or a function have no file; the registry reads them itself.
    "itself": {("shafer", "LinearHead"): "heads", ("shafer", "Contributions"): "heads"},
}
LISTED = [(does, *kind) for does, table in TABLES.items() for kind in table]

_RNG = np.random.default_rng(0)
X = np.abs(_RNG.normal(size=(90, 3)))  # not negative, as counts are
Y = (X[:, 0] + 0.3 * _RNG.normal(size=90) > X[:, 1]).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])

TREES_NOT_EXPORTED = "has components that are trees, or Shapley values of trees"
BINNING_NOT_EXPORTED = "skl2onnx cannot write the transformers BinnedColumns"
BINNING_CLASSES = (
    "optbinning.binning.binning.OptimalBinning",
    "optbinning.binning.binning_process.BinningProcess",
    "optbinning.binning.binning_statistics.BinningTable",
)


@dataclass(frozen=True)
class Example:
    """A small trained model of a family, and what the library can do with it.

    ``row`` is what the table of docs/guide/models.md calls the family, by default its class.
    ``not_saved`` and ``not_exported`` are words of the error, where there is one.
    """

    model: Any
    rows: Any = field(default_factory=lambda: X)
    row: str | None = None
    not_saved: str | None = None
    not_exported: str | None = None
    trusted: tuple[str, ...] = ()
    module: Any = None


def of(estimator: Any, y: Any = Y, rows: Any = None, **others: Any) -> Callable[[], Example]:
    """Train an estimator when the example is needed."""
    rows = X if rows is None else rows
    return lambda: Example(clone(estimator).fit(rows, y), rows, **others)


def calibrated(estimator: Any, **others: Any) -> Callable[[], Example]:
    return of(CalibratedClassifierCV(estimator, ensemble=False, cv=2), **others)


class Term:
    __module__ = "pygam.terms"

    def __init__(self, feature: int | None) -> None:
        self.isintercept = feature is None
        self.feature = feature

    def __repr__(self) -> str:
        return "intercept" if self.isintercept else f"s({self.feature})"


class TermList:
    __module__ = "pygam.terms"

    def __init__(self, *features: int | None) -> None:
        self._terms = [Term(feature) for feature in features]

    def __getitem__(self, i: int) -> Term:
        return self._terms[i]

    def get_coef_indices(self, i: int) -> list[int]:
        return [2 * i, 2 * i + 1] if not self[i].isintercept else [2 * i]


class LogisticGAM(BaseEstimator):
    """A stand-in for pyGAM, which cannot be installed beside this SciPy."""

    __module__ = "pygam.pygam"

    def __init__(self) -> None:
        self.coef_ = np.array([1.0, 0.5, -2.0, 0.1, 0.3])
        self.terms = TermList(0, 1, None)

    def partial_dependence(self, term: int, X: Any) -> Any:
        a, b = self.coef_[self.terms.get_coef_indices(term)]
        return a * X[:, term] + b * X[:, term] ** 2

    def predict_proba(self, X: Any) -> Any:
        return expit(self.partial_dependence(0, X) + self.partial_dependence(1, X) + 0.3)


class LinearLike:
    """A stand-in for the logistic regression of a library that the registry does not know."""

    __module__ = "cuml.linear_model"

    def __init__(self) -> None:
        self.coef_, self.intercept_ = np.array([[1.0, -2.0, 0.5]]), np.array([0.2])
        self.classes_ = np.array([0, 1])

    def predict_proba(self, X: Any) -> Any:
        p = expit(np.asarray(X) @ self.coef_[0] + self.intercept_[0])
        return np.stack([1 - p, p], axis=1)


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)).eval()


def torch_example() -> Example:
    rows = torch.tensor(X, dtype=torch.float32)
    words = "is a torch module, which torch exports itself"
    return Example(network(), rows, row="torch.nn.Module", not_exported=words, module=network())


def onnx_example() -> Example:
    graph = to_onnx(LogisticRegression().fit(X, Y), X[:1].astype(np.float32))
    words = "is an ONNX graph already"
    return Example(graph, row="ONNX graph", not_exported=words)


def skorch_example(kind: Any, n_outputs: int, criterion: Any) -> Example:
    torch.manual_seed(0)
    end = torch.nn.Flatten(0) if n_outputs == 1 else torch.nn.Identity()
    net = torch.nn.Sequential(torch.nn.Linear(3, n_outputs), end)
    model = kind(net, criterion=criterion, max_epochs=1, verbose=0, train_split=None)
    rows = X.astype(np.float32)
    y = Y.astype(np.float32) if n_outputs == 1 else Y
    return Example(
        model.fit(rows, y),
        rows,
        row="skorch",
        not_saved="of skorch cannot be saved",
        not_exported="is a torch module, which torch exports itself",
    )


def spark_example(name: str) -> Example:
    session = started_spark()
    rows = [(*row, label) for row, label in zip(X.tolist(), Y.tolist(), strict=True)]
    table = session.createDataFrame(rows, ["a", "b", "c", "label"])
    assembler = ml.feature.VectorAssembler(inputCols=["a", "b", "c"], outputCol="features")
    kind = ml.classification.NaiveBayes if "Bayes" in name else ml.classification.LogisticRegression
    model = ml.Pipeline(stages=[assembler, kind()]).fit(table)
    alone = name != "PipelineModel"
    return Example(
        model.stages[-1] if alone else model,
        X if alone else FRAME,
        row=name,
        not_saved="of pyspark cannot be saved",
        not_exported="is a model of Spark",
    )


def xgboost_booster() -> Example:
    options = {"objective": "binary:logistic", "nthread": 1}
    model = train_xgboost(options, DMatrix(X, Y), 3)
    return Example(model, row="XGBoost", not_exported=TREES_NOT_EXPORTED)


def lightgbm_booster() -> Example:
    options = {"objective": "binary", "verbose": -1, "num_threads": 1}
    model = train_lightgbm(options, Dataset(X, Y), 3)
    return Example(model, row="LightGBM", not_exported=TREES_NOT_EXPORTED)


def contributions() -> Example:
    model = shafer.models.Contributions(lambda rows: np.stack([rows, -rows], axis=-1))
    saved = "Contributions cannot be saved: it holds a function"
    exported = "Contributions are a Python function, which cannot be written to ONNX"
    return Example(model, not_saved=saved, not_exported=exported)


def scorecard() -> Example:
    model = Scorecard(BinningProcess(["a", "b", "c"]), LogisticRegression()).fit(FRAME, Y)
    saved = "Scorecard cannot be saved without pickle"
    return Example(model, FRAME, not_saved=saved, not_exported=BINNING_NOT_EXPORTED)


def statsmodels_example(*, wrapped: bool) -> Example:
    results = statsmodels.api.Logit(Y, X).fit(disp=0)
    return Example(
        results if wrapped else results._results,
        row="statsmodels",
        not_saved="of statsmodels cannot be saved",
        not_exported="is a result of statsmodels",
    )


LOGISTIC = LogisticRegression()
HISTOGRAM = HistGradientBoostingClassifier(max_iter=3)
HISTOGRAM_PARTS: dict[str, Any] = {
    "trusted": ("sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",),
    "not_exported": TREES_NOT_EXPORTED,
}
BOOSTED = GradientBoostingClassifier(n_estimators=3)
BOOSTED_PARTS: dict[str, Any] = {
    "trusted": ("sklearn.tree._tree.Tree",),
    "not_exported": TREES_NOT_EXPORTED,
}
ADABOOST = AdaBoostClassifier(n_estimators=3)
EBM = ExplainableBoostingClassifier(max_rounds=5, interactions=0, outer_bags=2, n_jobs=1)
XGBOOST = XGBClassifier(n_estimators=3, n_jobs=1)
LIGHTGBM = LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1)
CATBOOST = CatBoostClassifier(3, verbose=0, allow_writing_files=False, thread_count=1)
SEARCH = GridSearchCV(LOGISTIC, {"C": [0.1, 1.0]}, cv=2)
BINNED = make_pipeline(BinningProcess(["a", "b", "c"]), LOGISTIC)

# What the reader does, the package and the class, as in the registry -> a small trained model.
EXAMPLES: dict[tuple[str, str, str], Callable[[], Example]] = {
    ("adapt", "sklearn", "LogisticRegression"): of(LOGISTIC),
    ("adapt", "sklearn", "SGDClassifier"): of(SGDClassifier(loss="log_loss", random_state=0)),
    ("adapt", "sklearn", "LinearDiscriminantAnalysis"): of(LinearDiscriminantAnalysis()),
    ("adapt", "sklearn", "QuadraticDiscriminantAnalysis"): of(QuadraticDiscriminantAnalysis()),
    ("adapt", "sklearn", "NearestCentroid"): of(NearestCentroid(priors="empirical")),
    ("adapt", "sklearn", "GaussianNB"): of(GaussianNB()),
    ("adapt", "sklearn", "CategoricalNB"): of(
        CategoricalNB(min_categories=9), not_exported="CategoricalNB cannot be written to ONNX yet"
    ),
    ("adapt", "sklearn", "BernoulliNB"): of(BernoulliNB(binarize=0.5)),
    ("adapt", "sklearn", "MultinomialNB"): of(MultinomialNB()),
    ("adapt", "sklearn", "ComplementNB"): of(ComplementNB()),
    ("adapt", "sklearn", "MLPClassifier"): of(
        MLPClassifier((3,), solver="lbfgs", alpha=1.0, max_iter=2000, random_state=0)
    ),
    ("adapt", "sklearn", "HistGradientBoostingClassifier"): of(HISTOGRAM, **HISTOGRAM_PARTS),
    ("adapt", "sklearn", "GradientBoostingClassifier"): of(BOOSTED, **BOOSTED_PARTS),
    ("adapt", "sklearn", "AdaBoostClassifier"): of(ADABOOST, **BOOSTED_PARTS),
    ("adapt", "sklearn", "DecisionTreeClassifier"): of(
        DecisionTreeClassifier(max_depth=1), **BOOSTED_PARTS
    ),
    ("adapt", "sklearn", "CalibratedClassifierCV"): calibrated(LOGISTIC),
    ("adapt", "sklearn", "OneVsRestClassifier"): of(OneVsRestClassifier(LOGISTIC)),
    ("adapt", "sklearn", "Pipeline"): of(make_pipeline(StandardScaler(), LOGISTIC)),
    ("adapt", "sklearn", "BaseSearchCV"): of(SEARCH, row="GridSearchCV"),
    ("adapt", "sklearn", "FrozenEstimator"): lambda: Example(
        FrozenEstimator(LogisticRegression().fit(X, Y))
    ),
    ("adapt", "sklearn", "SelfTrainingClassifier"): of(
        SelfTrainingClassifier(LOGISTIC), np.where(np.arange(90) % 5, Y, -1)
    ),
    ("adapt", "sklearn", "TunedThresholdClassifierCV"): of(
        TunedThresholdClassifierCV(LOGISTIC, cv=2)
    ),
    ("adapt", "sklearn", "FixedThresholdClassifier"): of(FixedThresholdClassifier(LOGISTIC)),
    ("adapt", "shafer", "EvidentialClassifier"): lambda: Example(
        shafer.EvidentialClassifier(LogisticRegression(), temper=0.5).fit(X, Y)
    ),
    ("adapt", "xgboost", "XGBClassifier"): of(
        XGBOOST, row="XGBoost", not_exported=TREES_NOT_EXPORTED
    ),
    ("adapt", "xgboost", "Booster"): xgboost_booster,
    ("adapt", "lightgbm", "LGBMClassifier"): of(
        LIGHTGBM, row="LightGBM", not_exported=TREES_NOT_EXPORTED
    ),
    ("adapt", "lightgbm", "Booster"): lightgbm_booster,
    ("adapt", "catboost", "CatBoostClassifier"): of(
        CATBOOST, row="CatBoost", not_exported=TREES_NOT_EXPORTED
    ),
    ("adapt", "interpret", "ExplainableBoostingClassifier"): of(EBM),
    ("adapt", "optbinning", "Scorecard"): scorecard,
    ("adapt", "pygam", "LogisticGAM"): lambda: Example(
        LogisticGAM(),
        trusted=("pygam.pygam.LogisticGAM", "pygam.terms.Term", "pygam.terms.TermList"),
        not_exported="LogisticGAM cannot be written to ONNX yet",
    ),
    ("adapt", "skorch", "NeuralNetClassifier"): lambda: skorch_example(
        NeuralNetClassifier, 2, torch.nn.CrossEntropyLoss
    ),
    ("adapt", "skorch", "NeuralNetBinaryClassifier"): lambda: skorch_example(
        NeuralNetBinaryClassifier, 1, torch.nn.BCEWithLogitsLoss
    ),
    ("adapt", "pyspark", "PipelineModel"): lambda: spark_example("PipelineModel"),
    ("adapt", "pyspark", "LogisticRegressionModel"): lambda: spark_example(
        "LogisticRegressionModel"
    ),
    ("adapt", "pyspark", "NaiveBayesModel"): lambda: spark_example("NaiveBayesModel"),
    ("adapt", "statsmodels", "ResultsWrapper"): lambda: statsmodels_example(wrapped=True),
    ("adapt", "statsmodels", "Results"): lambda: statsmodels_example(wrapped=False),
    ("adapt", "torch", "Module"): torch_example,
    ("adapt", "onnx", "ModelProto"): onnx_example,
    ("decision", "sklearn", "LinearClassifierMixin"): calibrated(LinearSVC(), row="LinearSVC"),
    ("decision", "sklearn", "QuadraticDiscriminantAnalysis"): calibrated(
        QuadraticDiscriminantAnalysis()
    ),
    ("decision", "sklearn", "NearestCentroid"): calibrated(NearestCentroid()),
    ("decision", "sklearn", "SVC"): calibrated(SVC()),
    ("decision", "sklearn", "NuSVC"): calibrated(NuSVC(nu=0.3)),
    ("decision", "sklearn", "HistGradientBoostingClassifier"): calibrated(
        HISTOGRAM, **HISTOGRAM_PARTS
    ),
    ("decision", "sklearn", "GradientBoostingClassifier"): calibrated(BOOSTED, **BOOSTED_PARTS),
    ("decision", "sklearn", "AdaBoostClassifier"): calibrated(ADABOOST, **BOOSTED_PARTS),
    ("decision", "sklearn", "OneVsRestClassifier"): calibrated(OneVsRestClassifier(LinearSVC())),
    ("decision", "sklearn", "Pipeline"): calibrated(make_pipeline(StandardScaler(), LinearSVC())),
    ("decision", "sklearn", "BaseSearchCV"): calibrated(
        GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=2), row="GridSearchCV"
    ),
    ("decision", "sklearn", "FrozenEstimator"): lambda: calibrated(
        FrozenEstimator(LinearSVC().fit(X, Y))
    )(),
    ("decision", "interpret", "ExplainableBoostingClassifier"): calibrated(EBM),
    ("behind", "optbinning", "BinningProcess"): of(
        BINNED, rows=FRAME, trusted=BINNING_CLASSES, not_exported=BINNING_NOT_EXPORTED
    ),
    ("like", "cuml", "LinearLike"): lambda: Example(
        LinearLike(), row="coef_", trusted=("cuml.linear_model.LinearLike",)
    ),
    ("itself", "shafer", "LinearHead"): lambda: Example(
        shafer.LinearHead(np.array([[1.0, -1.0, 0.5]]), [0.2])
    ),
    ("itself", "shafer", "Contributions"): contributions,
}


@cache
def example(does: str, package: str, name: str) -> Example:
    if (does, package, name) not in EXAMPLES:
        pytest.fail(
            f"The registry lists {name} of {package}, which has no example. Add a small trained "
            f"model as {(does, package, name)} to EXAMPLES in {HERE}."
        )
    return EXAMPLES[does, package, name]()


@cache
def explained(does: str, package: str, name: str) -> shafer.Explainer:
    found = example(does, package, name)
    return shafer.Explainer(found.model, found.rows)


def title(kind: tuple[str, str, str]) -> str:
    return " ".join(kind)


every_family = pytest.mark.parametrize("kind", LISTED, ids=title)


@pytest.fixture(autouse=True)
def _stand_ins_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file with a stand-in be read: its classes are imported by name."""
    monkeypatch.setitem(sys.modules, "pygam", ModuleType("pygam"))
    monkeypatch.setitem(sys.modules, "cuml", ModuleType("cuml"))
    for kind in (LogisticGAM, Term, TermList, LinearLike):
        module = sys.modules.get(kind.__module__, ModuleType(kind.__module__))
        monkeypatch.setattr(module, kind.__name__, kind, raising=False)
        monkeypatch.setitem(sys.modules, kind.__module__, module)


def test_every_example_belongs_to_a_family() -> None:
    left = [title(kind) for kind in EXAMPLES if kind not in LISTED]
    assert left == [], f"The registry does not list these; take them out of EXAMPLES in {HERE}."


@every_family
def test_the_reader_is_there(kind: tuple[str, str, str]) -> None:
    does, package, name = kind
    file = TABLES[does][package, name]
    module = importlib.import_module(f"shafer.models.{file}")
    wanted = {"itself": name, "like": "adapt"}.get(does, does)
    assert callable(getattr(module, wanted, None)), (
        f"The registry sends {name} of {package} to shafer/models/{file.replace('.', '/')}.py. "
        f"Add the function {wanted} to that file."
    )


@every_family
def test_the_example_is_read_as_this_family(kind: tuple[str, str, str]) -> None:
    does, package, name = kind
    model = example(*kind).model
    inside = [model]
    if does == "decision":
        inside = [member.estimator for member in model.calibrated_classifiers_]
    if does == "behind":
        inside = [step for _, step in model.steps]
    kinds = [
        (base.__module__.partition(".")[0], base.__name__)
        for part in inside
        for base in type(part).__mro__
    ]
    assert (package, name) in kinds, f"The example of {title(kind)} is another model."
    ev = explained(*kind)(example(*kind).rows)  # compared with the model's own probabilities
    assert ev.belief.shape == (90, 2)


@every_family
def test_it_is_saved_or_refused(kind: tuple[str, str, str], tmp_path: Path) -> None:
    found, explainer, path = example(*kind), explained(*kind), tmp_path / "model.shafer"
    if found.not_saved is not None:
        with pytest.raises(ValueError, match=re.escape(found.not_saved)):
            explainer.save(path)
        return
    explainer.save(path)
    again = shafer.Explainer.load(path, trusted=found.trusted, module=found.module)
    assert again.component_names == explainer.component_names
    assert_array_equal(again(found.rows).weights, explainer(found.rows).weights)
    assert_array_equal(again(found.rows).belief, explainer(found.rows).belief)


@every_family
def test_it_is_exported_or_refused(kind: tuple[str, str, str]) -> None:
    found, explainer = example(*kind), explained(*kind)
    if found.not_exported is not None:
        with pytest.raises(UnsupportedModelError, match=re.escape(found.not_exported)):
            shafer.export.to_onnx(explainer)
        return
    graph = shafer.export.to_onnx(explainer)  # which compares it with the explainer
    assert [output.name for output in graph.graph.output][:2] == ["probability", "belief"]


def rows_of_the_guide() -> list[str]:
    """Return the first cell of each row of the table of models."""
    lines = GUIDE.read_text().splitlines()
    start = lines.index("| model | one component is |") + 2
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return [line.split("|")[1] for line in lines[start:end]]


@every_family
def test_the_guide_has_a_row(kind: tuple[str, str, str]) -> None:
    _, package, name = kind
    wanted = example(*kind).row or name
    assert any(re.search(rf"\b{re.escape(wanted)}\b", row) for row in rows_of_the_guide()), (
        f"No row of the first table of docs/guide/models.md names {wanted} ({name} of {package}). "
        f"Add it there, or give the words of its row as row= in EXAMPLES of {HERE}."
    )


def test_the_examples_have_probabilities_of_their_own() -> None:
    """An explainer compares itself only with models that have some: most do."""
    compared = [kind for kind in LISTED if hasattr(example(*kind).model, "predict_proba")]
    assert len(compared) >= len(LISTED) - 11
    for kind in compared:
        own = example(*kind).model.predict_proba(example(*kind).rows)
        found = explained(*kind)(example(*kind).rows).probability
        assert_allclose(found[:, 1], own if own.ndim == 1 else own[:, 1], rtol=0, atol=1e-6)
