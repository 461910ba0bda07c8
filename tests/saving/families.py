"""One small model of each family of docs/models.md, and explainers with every option."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn._loss._loss import CyHalfBinomialLoss
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

import shafer

from .fresh_process import network

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
BINARY = (Y > 0).astype(int)
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 5.5, "long", "short"))
PERMUTED = FRAME[["kind", "d", "c", "b", "a"]]
TENSOR = torch.tensor(X, dtype=torch.float32)
TEXTS = ["good film", "bad film", "very good", "so bad"] * 5
SENTIMENTS = [1, 0, 1, 0] * 5

HIST_TREES = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
TREES = "sklearn.tree._tree.Tree"
BINNING = (
    "optbinning.binning.binning.OptimalBinning",
    "optbinning.binning.binning_process.BinningProcess",
    "optbinning.binning.binning_statistics.BinningTable",
)

Explainer = shafer.Explainer


@dataclass(frozen=True)
class Saved:
    """An object to save, rows to compare, and what loading it needs."""

    model: Any
    rows: Any
    trusted: tuple[str, ...] = ()
    module: str | None = None

    @property
    def needed(self) -> tuple[Any, ...]:
        return self.rows, type(self.model).__name__, self.trusted, self.module


def linear(**options: Any) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(**options))


def _explained(model: Any, y: Any = Y, trusted: tuple[str, ...] = (), **options: Any) -> Saved:
    return Saved(Explainer(model.fit(X, y), X, **options), X, trusted)


def _selected(*steps: Any) -> Saved:
    model = make_pipeline(*steps, LogisticRegression()).fit(TEXTS, [1, 0, 0, 1, 1] * 4)
    return Saved(Explainer(model, TEXTS), ["good bad", "unknown"])


def _calibrated(model: Any) -> Any:
    return CalibratedClassifierCV(model, method="sigmoid", ensemble=False, cv=3)


def _boosters() -> dict[str, Callable[[], Saved]]:
    from catboost import CatBoostClassifier
    from lightgbm import Dataset, LGBMClassifier
    from lightgbm import train as train_lightgbm
    from xgboost import DMatrix, XGBClassifier
    from xgboost import train as train_xgboost

    few = {"n_estimators": 4, "n_jobs": 1}
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    coded = FRAME.assign(kind=FRAME["kind"].astype("category"))
    search = {"xgbclassifier__max_depth": [1, 2]}

    def framed(model: Any, frame: Any) -> Saved:
        return Saved(Explainer(model.fit(frame, NAMES if frame is FRAME else Y), frame), frame)

    def bare() -> Saved:
        options = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
        booster = train_xgboost(options, DMatrix(X, Y), 3)
        return Saved(Explainer(booster, X, classes=["u", "v", "w"]), X)

    def bare_lightgbm() -> Saved:
        options = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
        booster = train_lightgbm(options, Dataset(X, Y), 3)
        return Saved(Explainer(booster, X, classes=["u", "v", "w"]), X)

    def early() -> Saved:
        model = XGBClassifier(n_estimators=30, early_stopping_rounds=2, n_jobs=1)
        model.fit(X, Y, eval_set=[(X[::3], Y[::3])], verbose=False)
        return Saved(Explainer(model, X), X)

    return {
        "xgboost": lambda: _explained(XGBClassifier(**few)),
        "xgboost binary": lambda: _explained(XGBClassifier(**few), BINARY),
        "xgboost categories": lambda: framed(XGBClassifier(enable_categorical=True, **few), coded),
        "xgboost booster": bare,
        "xgboost early stopping": early,
        "xgboost in a search": lambda: _explained(
            GridSearchCV(make_pipeline(StandardScaler(), XGBClassifier(**few)), search, cv=2)
        ),
        "lightgbm": lambda: _explained(LGBMClassifier(verbose=-1, **few)),
        "lightgbm categories": lambda: framed(LGBMClassifier(verbose=-1, **few), coded),
        "lightgbm booster": bare_lightgbm,
        "lightgbm in a pipeline": lambda: _explained(
            make_pipeline(
                StandardScaler().set_output(transform="pandas"), LGBMClassifier(verbose=-1, **few)
            )
        ),
        "catboost": lambda: _explained(CatBoostClassifier(4, **quiet)),
        "catboost categories": lambda: framed(
            CatBoostClassifier(4, cat_features=["kind"], **quiet), FRAME
        ),
        "catboost in a classifier": lambda: Saved(
            shafer.EvidentialClassifier(CatBoostClassifier(4, **quiet)).fit(X, BINARY), X
        ),
    }


def _additive() -> dict[str, Callable[[], Saved]]:
    from interpret.glassbox import ExplainableBoostingClassifier
    from optbinning import BinningProcess

    small: dict[str, Any] = {"max_rounds": 5, "outer_bags": 3, "n_jobs": 1}

    def binned() -> Saved:
        frame = FRAME[["a", "b"]]
        model = make_pipeline(BinningProcess(["a", "b"]), LogisticRegression()).fit(frame, BINARY)
        return Saved(Explainer(model, frame), frame, BINNING)

    return {
        "ebm": lambda: _explained(
            ExplainableBoostingClassifier(interactions=1, **small), BINARY, errors="bags"
        ),
        "ebm in a pipeline": lambda: _explained(
            make_pipeline(StandardScaler(), ExplainableBoostingClassifier(interactions=0, **small))
        ),
        "binning": binned,
    }


def _networks() -> dict[str, Callable[[], Saved]]:
    def dense(**options: Any) -> Saved:
        return Saved(Explainer(network("dense"), TENSOR, **options), TENSOR, (), "dense")

    def of_layer() -> Saved:
        module = network("dense")
        return Saved(Explainer(module, TENSOR, layer=module[2]), TENSOR, (), "dense")

    def half() -> Saved:
        rows = TENSOR.to(torch.bfloat16)
        return Saved(Explainer(network("half"), rows, check=False), rows, (), "half")

    def cells(groups: Any = None) -> Saved:
        images = torch.rand(12, 1, 6, 6, generator=torch.Generator().manual_seed(0))
        made = Explainer(network("cells"), images, groups, components="locations")
        return Saved(made, images, (), "cells")

    def words() -> Saved:
        tokens = torch.arange(40).reshape(8, 5) % 9
        made = Explainer(network("words"), tokens, components="tokens")
        return Saved(made, tokens, (), "words")

    return {
        "torch": lambda: dense(moderate="laplace"),
        "torch with refits": lambda: dense(
            errors="bootstrap", refits=[network("dense") for _ in range(3)]
        ),
        "torch with a layer": of_layer,
        "torch half": half,
        "torch cells": cells,
        "torch regions": lambda: cells(np.repeat([[0, 1]], 6, axis=0).repeat(3, axis=1)),
        "torch words": words,
    }


def _options() -> dict[str, Callable[[], Saved]]:
    model = linear().fit(X, Y)
    head = shafer.LinearHead(
        model[-1].coef_, model[-1].intercept_, NAMES[[0, 30, 60]], list("pqrs")
    )
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    encoder = make_column_transformer((StandardScaler(), list("abcd")), (OneHotEncoder(), ["kind"]))

    def framed() -> Saved:
        explained = make_pipeline(encoder, LogisticRegression()).fit(FRAME, NAMES)
        made = Explainer(explained, FRAME, "source", prior="own").temper(FRAME, NAMES)
        made.conformalize(FRAME, NAMES, by="kind")
        return Saved(made.control_error(FRAME, NAMES, 0.3, by="kind"), PERMUTED)

    def conditional() -> Saved:
        made = Explainer(model, X, missing="conditional", prior="own")
        return Saved(made.conformalize(X, Y).control_error(X, Y, 0.3), gaps)

    def grouped() -> Saved:
        groups = {"sepal": [0, 1], "petal": [2, 3]}
        made = Explainer(model, X, groups, moderate="laplace+discount", temper=0.7)
        return Saved(made.temper(X, Y), X)

    refits = shafer.models.bootstrap_refits(model, X, Y, 3)
    text_model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, SENTIMENTS)
    return {
        "head": lambda: Saved(Explainer(head, FRAME[list("abcd")]), PERMUTED[list("dcba")]),
        "arrays": lambda: Saved(Explainer((head.coef, head.intercept), X), X),
        "frame": framed,
        "conditional": conditional,
        "vacuous": lambda: Saved(Explainer(model, X, missing="vacuous"), gaps),
        "grouped": grouped,
        "laplace errors": lambda: _explained(linear(), errors="laplace"),
        "refits": lambda: _explained(linear(), errors="bootstrap", refits=refits),
        "texts": lambda: Saved(Explainer(text_model, TEXTS), ["good bad", "unknown"]),
        "selected words": lambda: _selected(CountVectorizer(), SelectKBest(k=2)),
        "selected by chi2": lambda: _selected(
            TfidfVectorizer(), SelectKBest(chi2, k=2), TfidfTransformer()
        ),
        "hashed words": lambda: _selected(HashingVectorizer(n_features=32)),
        "joined words": lambda: _selected(
            make_union(CountVectorizer(), TfidfVectorizer(analyzer="char", ngram_range=(1, 2)))
        ),
        "logarithms": lambda: _explained(
            make_pipeline(FunctionTransformer(np.log1p), LogisticRegression())
        ),
        "strings": lambda: _explained(linear(), FRAME["kind"].to_numpy(str)),
    }


def _classifiers() -> dict[str, Callable[[], Saved]]:
    classifier, voting = shafer.EvidentialClassifier, shafer.EvidentialVotingClassifier
    sources = [
        ("sepal", linear(), [0, 1]),
        ("petal", GaussianNB(), slice(2, 4)),
        ("near", shafer.NeighbourEvidence()),
        ("own", classifier(linear(), temper=0.5)),
    ]
    numbers = FRAME[list("abcd")]
    by_name = [("one", linear(), ["a", "b"]), ("two", GaussianNB(), ["c"])]

    def crossed() -> Saved:
        made = classifier(linear(), moderate="laplace+discount", temper=0.8).fit(X, NAMES)
        return Saved(made.conformalize(X, NAMES, cv=3), X)

    def guarded() -> Saved:
        made = classifier(linear(), guard=True, missing="conditional", temper="cv").fit(X, Y)
        return Saved(made.conformalize(X, Y).control_error(X, Y, 0.3), X)

    def voted() -> Saved:
        made = voting(sources).fit(X, Y)
        return Saved(made.conformalize(X, Y).control_error(X, Y, 0.3), X)

    return {
        "classifier": lambda: Saved(classifier(linear()).fit(numbers, NAMES), numbers),
        "classifier crossed": crossed,
        "classifier guarded": guarded,
        "classifier errors": lambda: Saved(
            classifier(linear(), errors="laplace", groups="source", prior="own").fit(X, Y), X
        ),
        "explained classifier": lambda: _explained(classifier(linear(), temper=0.5)),
        "voting": voted,
        "voting components": lambda: Saved(
            voting(by_name, granularity="components", tempering=None).fit(FRAME, NAMES), FRAME
        ),
    }


_SKLEARN: dict[str, Callable[[], Saved]] = {
    "logistic": lambda: _explained(LogisticRegression(max_iter=500)),
    "logistic cv": lambda: _explained(
        make_pipeline(
            StandardScaler(),
            LogisticRegressionCV(
                Cs=2, cv=2, l1_ratios=(0.0,), scoring="neg_log_loss", use_legacy_attributes=False
            ),
        )
    ),
    "sgd": lambda: _explained(SGDClassifier(loss="log_loss", random_state=0), BINARY),
    "discriminant": lambda: _explained(LinearDiscriminantAnalysis()),
    "gaussian": lambda: _explained(GaussianNB()),
    "bernoulli": lambda: _explained(BernoulliNB(binarize=2.0)),
    "multinomial": lambda: _explained(MultinomialNB()),
    "complement": lambda: _explained(ComplementNB()),
    "categorical": lambda: _explained(CategoricalNB(min_categories=9)),
    "perceptron": lambda: _explained(MLPClassifier((3,), solver="lbfgs", max_iter=2000, tol=1e-2)),
    "svc": lambda: _explained(_calibrated(SVC()), BINARY),
    "nu svc": lambda: _explained(_calibrated(NuSVC(nu=0.3)), BINARY),
    "linear svc": lambda: _explained(_calibrated(LinearSVC()), BINARY),
    "temperature": lambda: _explained(
        CalibratedClassifierCV(LinearSVC(), method="temperature", ensemble=False)
    ),
    "splines": lambda: _explained(
        make_pipeline(SplineTransformer(n_knots=4), LogisticRegression(max_iter=500))
    ),
    "periodic splines": lambda: _explained(
        make_pipeline(
            SplineTransformer(n_knots=4, extrapolation="periodic"), LogisticRegression(max_iter=500)
        )
    ),
    "polynomials": lambda: _explained(
        make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=500))
    ),
    "selected columns": lambda: _explained(
        make_pipeline(SelectKBest(f_classif, k=2), LogisticRegression(max_iter=500))
    ),
    "nystroem": lambda: _explained(make_pipeline(Nystroem(n_components=5), LogisticRegression())),
    "sampler": lambda: _explained(make_pipeline(RBFSampler(n_components=5), LogisticRegression())),
    "layer": lambda: _explained(make_pipeline(shafer.models.RBFLayer(3), LogisticRegression())),
    "histogram boosting": lambda: _explained(
        HistGradientBoostingClassifier(max_iter=3), trusted=(HIST_TREES,)
    ),
    "gradient boosting": lambda: _explained(
        GradientBoostingClassifier(n_estimators=3), trusted=(TREES,)
    ),
}

# Before 1.9, the losses of scikit-learn name a module that does not exist: none can be written.
UNSAVABLE_LOSSES: dict[str, Callable[[], Saved]] = {}
if CyHalfBinomialLoss.__module__ == "_loss":
    for _name in ("sgd", "histogram boosting", "gradient boosting"):
        UNSAVABLE_LOSSES[_name] = _SKLEARN.pop(_name)


def families() -> dict[str, Callable[[], Saved]]:
    """Return a function for each family that makes its explainer or classifier."""
    return _SKLEARN | _options() | _classifiers() | _boosters() | _additive() | _networks()
