"""Pipelines and other models that hold one: columns, texts that stay sparse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.semi_supervised import SelfTrainingClassifier

import shafer
from shafer.evidence.sources import SparseWeights

# Pipelines: encoded columns, the columns they came from, and text that stays sparse.


LR = LogisticRegression(max_iter=5000)


@pytest.fixture(scope="module")
def heart() -> tuple[pd.DataFrame, Any]:
    """The heart data with a categorical column, a rare category and missing values."""
    data = shafer.datasets.load_heart(as_frame=True)
    frame = data.data.copy()
    frame["famhist"] = frame["famhist"].map({0.0: "Absent", 1.0: "Present"})
    frame["place"] = np.where(np.arange(462) % 7 == 0, "b", np.where(frame["age"] > 50, "a", "c"))
    frame.loc[[3, 40], "ldl"] = np.nan
    return frame, data.target


def _check(model: Any, X: Any, groups: Any = None) -> shafer.Evidence:
    ev = shafer.Explainer(model, X, groups, prior="shared")(X)
    assert_allclose(ev.probability, model.predict_proba(X), atol=1e-10)
    return ev


ENCODER = ColumnTransformer(
    [
        ("num", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["sbp", "ldl"]),
        ("spline", SplineTransformer(n_knots=4), ["tobacco"]),
        ("cat", OneHotEncoder(drop="first", min_frequency=80), ["famhist", "place"]),
        ("bins", KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), slice(6, 7)),
        ("none", "drop", ["typea"]),
        ("as it is", "passthrough", make_column_selector("age")),
    ],
    remainder=StandardScaler(),
)


def test_encoded_columns_and_their_sources(heart: tuple[pd.DataFrame, Any]) -> None:
    X, y = heart
    model = make_pipeline(ENCODER, LR).fit(X, y)
    plain = _check(model, X)
    assert plain.component_names[:4] == (
        "num__sbp",
        "num__ldl",
        "num__missingindicator_ldl",
        "spline__tobacco_sp_0",
    )
    grouped = _check(model, X, "source")
    assert grouped.component_names == (
        "sbp",
        "ldl",
        "tobacco",
        "famhist",
        "place",
        "obesity",
        "age",
        "adiposity",
        "alcohol",
    )
    # The signed sum of the encoded columns, and equal shares of the intercept.
    names = list(plain.component_names)
    members = [names.index("num__ldl"), names.index("num__missingindicator_ldl")]
    total = plain.weights[:, members].sum(axis=1)
    centred = total - total.mean(axis=0)
    ldl = grouped.weights[:, 1]
    assert_allclose(ldl - ldl.mean(axis=0), centred, atol=1e-10)


def test_polars_and_other_outputs(heart: tuple[pd.DataFrame, Any]) -> None:
    X, y = heart
    for output in ("pandas", "polars"):
        encoder = make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["famhist"]),
            (StandardScaler(), ["age", "sbp"]),
            verbose_feature_names_out=False,
        ).set_output(transform=output)
        frame = X if output == "pandas" else pl.from_pandas(X)
        ev = _check(make_pipeline(encoder, LR).fit(frame, y), frame)
        assert ev.component_names == ("famhist_Absent", "famhist_Present", "age", "sbp")
        source = _check(make_pipeline(encoder, LR).fit(frame, y), frame, "source")
        assert source.component_names == ("famhist", "age", "sbp")


def test_mapping_and_positions(heart: tuple[pd.DataFrame, Any]) -> None:
    X, y = heart
    model = make_pipeline(ENCODER, LR).fit(X, y)
    ev = _check(model, X, {"blood": ["num__sbp", "num__ldl", 2]})
    assert ev.component_names[0] == "blood"
    assert _check(model, X, "one").component_names == ("all",)
    renamed = shafer.Explainer(
        model, X, names=[f"c{j}" for j in range(18)], groups=None, prior="shared"
    )
    assert renamed.component_names[2] == "c2"
    with pytest.raises(
        ValueError, match="groups must be 'source', 'auto', 'one', .* got 'columns'"
    ):
        shafer.Explainer(model, X, "columns", prior="shared")


def test_groups_of_source_columns(heart: tuple[pd.DataFrame, Any]) -> None:
    X, y = heart
    model = make_pipeline(ENCODER, LR).fit(X, y)
    names = shafer.Explainer(model, X, groups=None, prior="shared").component_names
    place = [g for g, name in enumerate(names) if name.startswith("cat__place")]
    assert len(place) > 1
    by_position = _check(model, X, {"who": [names.index("as it is__age"), *place]})
    for groups in (
        {"who": ["age", "place"]},
        {"who": ["as it is__age", "place"]},  # a component and a column
        {"who": ("age", *place)},
    ):
        ev = _check(model, X, groups)
        assert ev.component_names == by_position.component_names
        assert_allclose(ev.weights, by_position.weights, atol=1e-12)
    assert "place" in _check(model, X, {"place": "place"}).component_names
    ev = _check(model, X, [["age", place[0]], ["ldl"]])
    assert f"age+{names[place[0]]}" in ev.component_names
    assert "ldl" in ev.component_names


def test_a_component_goes_before_a_column_of_its_name() -> None:
    frame = pd.DataFrame({"a": [0.0, np.nan, 2.0, 3.0] * 5, "b": np.arange(20.0)})
    encoder = SimpleImputer(add_indicator=True)
    model = make_pipeline(encoder, LR).fit(frame, np.arange(20) % 2)
    ev = _check(model, frame, {"mine": ["a", "b"]})
    assert ev.component_names == ("mine", "missingindicator_a")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"who": ["agee"]}, "'agee'; the 18 components are .*came from the columns 'sbp', 'ldl'"),
        ({"a": ["place"], "b": [10, "place"]}, "overlap"),
        ([["place"], ["place"]], "groups must not overlap; got"),
        (["age", "place"], "sequence of groups, as in"),
        ([["age", 99]], "Unknown component 99"),
        (3, "groups must be 'source', 'auto', 'one', a mapping or a sequence; got 3"),
        (True, "'source', 'auto', 'one', a mapping or a sequence; got True"),
        (b"one", "'source', 'auto', 'one', a mapping or a sequence; got b'one'"),
    ],
)
def test_wrong_groups(heart: tuple[pd.DataFrame, Any], groups: Any, message: str) -> None:
    X, y = heart
    model = make_pipeline(ENCODER, LR).fit(X, y)
    with pytest.raises(ValueError, match=message):
        shafer.Explainer(model, X, groups)


def test_columns_behind_a_mixture_cannot_be_named() -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(PCA(2), LR).fit(X, y)
    with pytest.raises(ValueError, match=r"Unknown component 'x0'; .* are 'pca0', 'pca1'\.$"):
        shafer.Explainer(model, X, {"first": ["x0"]})


def test_sources_of_terms() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = np.array(["u", "v", "w"] * 50)
    ebm = ExplainableBoostingClassifier(interactions=[(0, 2)], max_rounds=10, outer_bags=2)
    model = ebm.fit(frame, y == 1)
    assert _check(model, frame, "source").component_names == ("a", "b", "c", "d", "e", "a & c")
    encoder = ColumnTransformer(
        [("cat", OneHotEncoder(sparse_output=False), ["e"]), ("num", StandardScaler(), ["a", "b"])],
        verbose_feature_names_out=False,
    )
    ebm = ExplainableBoostingClassifier(interactions=[(1, 3)], max_rounds=10, outer_bags=2)
    behind = make_pipeline(encoder, ebm).fit(frame, y == 1)
    assert _check(behind, frame, "source").component_names == ("e", "a", "b", "a × e")
    array = clone(ebm).set_params(interactions=0, exclude=[(0,)]).fit(X, y == 1)
    assert _check(array, X, "source").n_components == 3


@pytest.mark.parametrize(
    ("encoders", "sources"),
    [
        ([StandardScaler(), MaxAbsScaler()], ["a", "b", "c"]),
        ([SelectKBest(k=2)], ["b", "c"]),
        (
            [PolynomialFeatures(2)],
            ["1", "a", "b", "c", "a × b", "a × c", "b × c"],
        ),
        (
            [PolynomialFeatures(3, include_bias=False), StandardScaler()],
            ["a", "b", "c", "a × b", "a × c", "b × c", "a × b × c"],
        ),
        ([FeatureUnion([("s", StandardScaler()), ("k", SplineTransformer())])], ["a", "b", "c"]),
        ([FunctionTransformer(np.log1p, feature_names_out="one-to-one")], ["a", "b", "c"]),
        ([FunctionTransformer()], ["a", "b", "c"]),
        ([OrdinalEncoder()], ["a", "b", "c"]),
        ([Pipeline([("inner", StandardScaler()), ("none", "passthrough")])], ["a", "b", "c"]),
        ([TargetEncoder(cv=KFold(2))], ["a", "b", "c"]),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_sources_of_transformers(encoders: list[Any], sources: list[str], named: bool) -> None:
    X, y = load_iris(return_X_y=True)
    data: Any = pd.DataFrame(X[:, 1:], columns=["a", "b", "c"]) if named else X[:, 1:]
    model = make_pipeline(*encoders, LogisticRegression(C=0.1, max_iter=10000)).fit(data, y)
    ev = _check(model, data, "source")
    if not named:
        columns = str.maketrans({"a": "x0", "b": "x1", "c": "x2"})
        sources = [source.translate(columns) for source in sources]
    assert list(ev.component_names) == sources
    _check(model, data)


def test_features_that_mix_columns_stay_alone_and_the_representation_says_so() -> None:
    X, y = load_iris(return_X_y=True)
    for encoders, names in (
        ([StandardScaler(), PCA(2)], ("pca0", "pca1")),
        ([PCA(2), StandardScaler()], ("pca0", "pca1")),
        ([Normalizer()], ("x0", "x1", "x2", "x3")),
        ([PCA(1), SplineTransformer(3)], tuple(f"pca0_sp_{g}" for g in range(5))),
        ([FunctionTransformer(np.log1p)], ("x0", "x1", "x2", "x3")),
    ):
        model = make_pipeline(*encoders, LR).fit(X, y)
        assert _check(model, X, "source").component_names == names
        mixing = next(one for one in encoders if not isinstance(one, StandardScaler))
        said = f"behind {type(mixing).__name__} components are features, not columns"
        for explainer in (shafer.Explainer(model, X), shafer.Explainer(model, X, groups=None)):
            assert said in repr(explainer)
            assert said in repr(pickle.loads(pickle.dumps(explainer)))
    assert "behind" not in repr(shafer.Explainer(make_pipeline(StandardScaler(), LR).fit(X, y), X))


def test_columns_are_joined_beside_features_that_mix_columns() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.array(["u", "v", "w"] * 50))
    encoder = make_column_transformer((PCA(2), ["a", "b"]), (OneHotEncoder(), ["e"]))
    model = make_pipeline(encoder, LR).fit(frame, y)
    explainer = shafer.Explainer(model, frame)
    assert explainer.component_names == ("pca__pca0", "pca__pca1", "e", "base rate")
    assert "behind PCA components are features" in repr(explainer)


def test_components_that_are_no_columns_stay_alone() -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), MLPClassifier((3,), tol=1.0)).fit(X, y)
    explainer = shafer.Explainer(model, X)
    assert explainer.component_names == ("unit 0", "unit 1", "unit 2", "base rate")
    assert "behind" not in repr(explainer)


def test_names_of_the_user_stay_where_nothing_is_joined(heart: tuple[pd.DataFrame, Any]) -> None:
    X, y = heart
    scaled = make_pipeline(StandardScaler(), LR).fit(X[["age", "sbp"]], y)
    named = shafer.Explainer(scaled, X[["age", "sbp"]], names=["years", "pressure"])
    assert named.component_names == ("years", "pressure", "base rate")
    encoder = make_column_transformer((OneHotEncoder(), ["famhist"]), (StandardScaler(), ["age"]))
    model = make_pipeline(encoder, LR).fit(X, y)
    joined = shafer.Explainer(model, X, names=["f0", "f1", "years"])
    assert joined.component_names == ("famhist", "years", "base rate")


def test_source_without_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = GaussianNB().fit(frame, y)
    ev = _check(model, frame, "source")
    assert ev.component_names == ("a", "b", "c", "d")
    assert_allclose(ev.weights, _check(model, frame).weights, atol=1e-12)


def test_one_step_and_nested_pipelines() -> None:
    X, y = load_iris(return_X_y=True)
    _check(Pipeline([("only", LR)]).fit(X, y), X)
    nested = make_pipeline(StandardScaler(), make_pipeline(SplineTransformer(), LR)).fit(X, y)
    assert _check(nested, X, "source").component_names == ("x0", "x1", "x2", "x3")
    assert _check(nested, X).component_names[0] == "x0_sp_0"


# -- text -----------------------------------------------------------------------------------------

TEXTS = ["a good film", "a bad film", "very good", "very bad indeed", "fine film", "awful"] * 4
LIKED = np.array([1, 0, 1, 0, 1, 0] * 4)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(TfidfVectorizer(), LR),
        make_pipeline(CountVectorizer(), TfidfTransformer(), LR),
        make_pipeline(CountVectorizer(), MultinomialNB()),
        make_pipeline(HashingVectorizer(n_features=2**14), LR),
    ],
)
@pytest.mark.parametrize("make", [list, pd.Series, np.array])
def test_text_stays_sparse(monkeypatch: pytest.MonkeyPatch, model: Any, make: Any) -> None:
    texts = make(TEXTS)
    model.fit(texts, LIKED)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("densified")

    for form in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(form, "toarray", refuse)
        monkeypatch.setattr(form, "todense", refuse)
    ev = _check(model, texts)
    assert isinstance(ev.source, SparseWeights)
    assert ev.ignorance.shape == (24,)
    assert isinstance(_check(model, texts, "source").source, SparseWeights)  # words stay words


def test_tokens_are_named_and_a_text_is_joined_by_its_name() -> None:
    model = make_pipeline(TfidfVectorizer(), LR).fit(TEXTS, LIKED)
    assert "awful" in _check(model, TEXTS).component_names
    reduced = make_pipeline(TfidfVectorizer(), TruncatedSVD(3), LR).fit(TEXTS, LIKED)
    assert _check(reduced, TEXTS, "source").n_components == 3
    assert _check(reduced, TEXTS, {"all words": "text"}).component_names == ("all words",)


def test_text_beside_numbers() -> None:
    frame = pd.DataFrame({"review": TEXTS, "stars": np.arange(24.0)})
    encoder = ColumnTransformer(
        [("words", TfidfVectorizer(), "review"), ("number", StandardScaler(), ["stars"])],
        sparse_threshold=1.0,
    )
    model = make_pipeline(encoder, LR).fit(frame, LIKED)
    assert isinstance(_check(model, frame).source, SparseWeights)
    by_words = _check(model, frame, "source")
    assert by_words.component_names == _check(model, frame).component_names
    both = {"review": "review", "stars": "stars"}
    assert _check(model, frame, both).component_names == ("review", "stars")


# Models that hold another, and are explained by it.


X, Y = load_iris(return_X_y=True)


def test_self_training() -> None:
    some = np.where(np.arange(150) % 3 == 0, -1, Y)
    model = SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(X, some)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), atol=1e-10)


def test_wrapped_again() -> None:
    inner = make_pipeline(
        StandardScaler(),
        shafer.EvidentialClassifier(LogisticRegression(), groups=None, prior="shared"),
    )
    model = FrozenEstimator(inner.fit(X, Y))
    ev = shafer.Explainer(model, X, "source", prior="shared")(X)
    assert_allclose(ev.probability, inner.predict_proba(X), atol=1e-10)
    assert ev.component_names == ("x0", "x1", "x2", "x3")
