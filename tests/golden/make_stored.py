"""Make the stored files of ``golden/stored``: one of every kind that the library can write.

Run it on the tree whose format is to be kept, and commit the files::

    PYTHONPATH=src:tests python tests/golden/make_stored.py [NAME ...]

The files are committed and not made again by the tests: they show whether a later version still
reads what an earlier one wrote. Files of an older format are made from new ones, by removing what
that format lacks. Each file is compressed, and has the expected results beside it, as JSON.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import shafer
from stored_results import (
    classifier_results,
    evidence_results,
    explainer_results,
    monitor_results,
    plain,
    rows_of,
    stream_results,
    torch_module,
)

STORED = Path(__file__).parent / "stored"
EXACT, SINGLE = 1e-12, 1e-6
N_ROWS = 60
FORMAT_3_LACKS = ("deferral",)
CONFORMAL_OF_3_LACKS = ("by", "column")

Made = tuple[Any, dict[str, Any]]  # what is saved, and what its JSON says besides the results
MAKERS: dict[str, Callable[[], Made]] = {}


def maker(make: Callable[[], Made]) -> Callable[[], Made]:
    MAKERS[make.__name__] = make
    return make


# -- data ---------------------------------------------------------------------------------------


def numbers(n: int = N_ROWS) -> tuple[Any, Any]:
    """Return rows of four inputs, and three classes with names."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4)).round(3)
    score = X[:, 0] - 0.7 * X[:, 1] + 0.4 * rng.normal(size=n)
    return X, np.array(["low", "middle", "high"])[(score > -0.4).astype(int) + (score > 0.6)]


def frame(n: int = N_ROWS) -> tuple[Any, Any]:
    """Return a data frame with a column of texts, and two classes."""
    X, _ = numbers(n)
    rng = np.random.default_rng(8)
    table = pd.DataFrame(X[:, :2], columns=["age", "dose"])
    table["region"] = np.array(["north", "south", "west"])[rng.integers(0, 3, n)]
    lead = X[:, 0] + (table["region"] == "north") + 0.5 * rng.normal(size=n)
    return table, np.where(lead > 0.3, "yes", "no")


TEXTS = ["the cat sat", "a dog barked", "dogs are fun", "cats purr", "my dog runs", "a kitten"]
ANIMALS = ["cat", "dog", "dog", "cat", "dog", "cat"]


def shown(X: Any, **others: Any) -> dict[str, Any]:
    """Describe the rows that are asked about."""
    if isinstance(X, pd.DataFrame):
        return {"rows": {"frame": X.to_dict("list")}, **others}
    if isinstance(X, list):
        return {"rows": {"texts": X}, **others}
    if hasattr(X, "detach"):
        return {"rows": {"tensor": plain(X)}, **others}
    return {"rows": {"array": plain(X)}, **others}


def linear_model(X: Any, y: Any) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)


def one_hot_model(X: Any, y: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    encoder = make_column_transformer(
        (StandardScaler(), ["age", "dose"]), (OneHotEncoder(handle_unknown="ignore"), ["region"])
    )
    return make_pipeline(encoder, LogisticRegression()).fit(X, y)


def linear(**options: Any) -> shafer.Explainer:
    X, y = numbers()
    return shafer.Explainer(linear_model(X, y), X, names=["a", "b", "c", "d"], **options)


def asked() -> dict[str, Any]:
    return shown(np.vstack([numbers()[0][:6], [[3.0, -8.0, 0.5, 12.0]]]))


# -- explainers ---------------------------------------------------------------------------------


@maker
def linear_pipeline() -> Made:
    return linear(), asked()


@maker
def linear_groups() -> Made:
    return linear(groups={"first": ["a", "b"], "second": ["c", "d"]}), asked()


@maker
def linear_own_prior() -> Made:
    return linear(prior="own"), asked()


@maker
def linear_tempered() -> Made:
    X, y = numbers()
    return linear().temper(X[::2], y[::2]), asked()


@maker
def linear_laplace() -> Made:
    return linear(moderate="laplace"), asked()


@maker
def linear_discount() -> Made:
    X, y = numbers()
    return linear(moderate="laplace+discount").temper(X[:25], y[:25]), asked()


@maker
def linear_vacuous() -> Made:
    about = asked()
    about["rows"]["array"][1][2] = float("nan")
    return linear(missing="vacuous"), about


@maker
def linear_conditional() -> Made:
    about = asked()
    about["rows"]["array"][1][2] = float("nan")
    return linear(missing="conditional"), about


@maker
def linear_errors_laplace() -> Made:
    return linear(errors="laplace"), asked()


@maker
def linear_errors_bootstrap() -> Made:
    X, y = numbers()
    refits = shafer.models.bootstrap_refits(linear_model(X, y), X, y, 3)
    return linear(errors="bootstrap", refits=refits), asked()


@maker
def linear_conformal() -> Made:
    X, y = numbers()
    return linear().conformalize(X[::2], y[::2], coverage=0.8), asked()


@maker
def linear_conformal_by_class() -> Made:
    X, y = numbers()
    return linear().conformalize(X, y, coverage=0.8, class_conditional=True), asked()


@maker
def linear_control() -> Made:
    X, y = numbers(400)
    return linear().control_error(X, y, error=0.2), asked()


@maker
def linear_control_loss() -> Made:
    X, y = numbers(400)
    loss = (1.0 - np.eye(3)).tolist()
    return linear().control_error(X, y, mean_loss=0.3, loss=loss), asked()


@maker
def head() -> Made:
    X, y = numbers()
    own = linear_model(X, y)[-1]
    return shafer.Explainer(shafer.LinearHead(own.coef_, own.intercept_), X), asked()


@maker
def pair() -> Made:
    X, _ = numbers()
    return shafer.Explainer(([1.0, -2.0, 0.5, 0.0], 0.5), X, "one"), asked()


@maker
def one_hot() -> Made:
    X, y = frame()
    return shafer.Explainer(one_hot_model(X, y), X), shown(X[:6])


@maker
def one_hot_sources() -> Made:
    X, y = frame()
    return shafer.Explainer(one_hot_model(X, y), X, "source"), shown(X[:6])


@maker
def conformal_subgroups() -> Made:
    X, y = frame()
    made = shafer.Explainer(one_hot_model(X, y), X)
    return made.conformalize(X, y, coverage=0.7, by="region"), shown(X[:6])


@maker
def conformal_labels() -> Made:
    X, y = frame()
    groups = ["even", "odd"] * (len(X) // 2)
    made = shafer.Explainer(one_hot_model(X, y), X)
    made.conformalize(X, y, coverage=0.7, by=np.array(groups))
    return made, shown(X[:6], groups=["odd", "even", "odd", "odd", "never", "even"])


@maker
def control_subgroups() -> Made:
    X, y = frame(600)
    made = shafer.Explainer(one_hot_model(X, y), X)
    return made.control_error(X, y, error=0.25, by="region"), shown(X[:6])


@maker
def text() -> Made:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, animals = TEXTS * 3, ANIMALS * 3
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, animals)
    return shafer.Explainer(model, texts), shown(["the dog and the cat", "purr", ""])


@maker
def rbf_network() -> Made:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    X, y = numbers()
    layer = shafer.models.RBFLayer(5, random_state=0)
    return shafer.Explainer(make_pipeline(layer, LogisticRegression()).fit(X, y), X), asked()


@maker
def bayes() -> Made:
    from sklearn.naive_bayes import GaussianNB

    X, y = numbers()
    return shafer.Explainer(GaussianNB().fit(X, y), X), asked()


@maker
def hist_boosting() -> Made:
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = numbers()
    model = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=4, random_state=0).fit(X, y)
    trusted = ["sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"]
    return shafer.Explainer(model, X), {**asked(), "trusted": trusted}


def numbered(y: Any) -> Any:
    return np.unique(y, return_inverse=True)[1]


@maker
def xgboost() -> Made:
    import xgboost

    X, y = numbers()
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(X, numbered(y))
    return shafer.Explainer(model, X), {**asked(), "rtol": SINGLE}


@maker
def xgboost_in_a_pipeline() -> Made:
    import xgboost
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = numbers()
    booster = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1)
    model = make_pipeline(StandardScaler(), booster).fit(X, numbered(y))
    return shafer.Explainer(model, X), {**asked(), "rtol": SINGLE}


@maker
def lightgbm() -> Made:
    import lightgbm

    X, y = numbers()
    options = {"n_estimators": 3, "num_leaves": 4, "n_jobs": 1, "verbose": -1}
    model = lightgbm.LGBMClassifier(**options).fit(pd.DataFrame(X, columns=list("abcd")), y)
    about = shown(pd.DataFrame(asked()["rows"]["array"], columns=list("abcd")))
    return shafer.Explainer(model, pd.DataFrame(X, columns=list("abcd"))), {**about, "rtol": SINGLE}


@maker
def catboost() -> Made:
    import catboost

    X, y = numbers()
    options = {"iterations": 3, "depth": 2, "thread_count": 1, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**options, verbose=False).fit(X, y)
    return shafer.Explainer(model, X), {**asked(), "rtol": SINGLE}


def ebm(**options: Any) -> shafer.Explainer:
    from interpret.glassbox import ExplainableBoostingClassifier

    X, y = numbers()
    settings: dict[str, Any] = {"max_rounds": 4, "max_bins": 6, "interactions": 1, "n_jobs": 1}
    model = ExplainableBoostingClassifier(outer_bags=3, random_state=0, **settings)
    return shafer.Explainer(model.fit(X, y == "high"), X, **options)


@maker
def ebm_plain() -> Made:
    return ebm(), asked()


@maker
def ebm_bags() -> Made:
    return ebm(errors="bags"), asked()


@maker
def torch_dense() -> Made:
    import torch

    torch.manual_seed(0)
    X = torch.tensor(numbers()[0], dtype=torch.float32)
    return shafer.Explainer(torch_module("dense"), X), {
        **shown(X[:6]),
        "module": "dense",
        "rtol": SINGLE,
    }


def maps(**options: Any) -> tuple[shafer.Explainer, Any]:
    import torch

    torch.manual_seed(1)
    images = torch.randn(12, 1, 4, 4).round(decimals=3)
    network = torch_module("maps").eval()
    return shafer.Explainer(network, images, components="locations", **options), images


@maker
def torch_locations() -> Made:
    explainer, images = maps()
    return explainer, {**shown(images[:3]), "module": "maps", "rtol": SINGLE}


@maker
def torch_regions() -> Made:
    explainer, images = maps(groups=np.array([[0, 0, 1, 1]] * 4))
    return explainer, {**shown(images[:3]), "module": "maps", "rtol": SINGLE}


# -- classifiers --------------------------------------------------------------------------------


def classifier(**options: Any) -> shafer.EvidentialClassifier:
    X, y = numbers()
    return shafer.EvidentialClassifier(linear_model(X, y), **options).fit(X, y)


@maker
def classifier_plain() -> Made:
    return classifier(), asked()


@maker
def classifier_cross() -> Made:
    X, y = numbers()
    return classifier().conformalize(X, y, coverage=0.8, cv=3), asked()


@maker
def classifier_split() -> Made:
    X, y = numbers()
    rows = asked()
    rows["array"][0] = [0.1, 0.3, -0.27, -0.8]  # the row there lies on the threshold
    return classifier(temper="cv").conformalize(X, y, coverage=0.8), rows


@maker
def classifier_deferral() -> Made:
    X, y = numbers(400)
    return classifier(moderate="laplace", temper=0.9).control_error(X, y, error=0.2), asked()


@maker
def classifier_guard() -> Made:
    return classifier(guard=True), asked()


@maker
def classifier_guard_deferral() -> Made:
    X, y = numbers(400)
    made = classifier(guard=True).conformalize(X, y, coverage=0.8)
    return made.control_error(X, y, error=0.2), asked()


@maker
def classifier_errors() -> Made:
    return classifier(errors="laplace", prior="own"), asked()


def voting(**options: Any) -> Any:
    from sklearn.naive_bayes import GaussianNB

    X, y = numbers()
    sources = [
        ("linear", linear_model(X[:, :2], y), [0, 1]),
        ("bayes", GaussianNB(), [2, 3]),
        ("near", shafer.NeighbourEvidence(k=3), [0, 1, 2]),
    ]
    return shafer.EvidentialVotingClassifier(sources, **options).fit(X, y)


@maker
def voting_plain() -> Made:
    return voting(tempering=None), asked()


@maker
def voting_tempered() -> Made:
    return voting(cv=3), asked()


@maker
def voting_unreliable() -> Made:
    X, y = numbers()
    made = voting(tempering=None, reliability=[0.9, 0.8, 1.0], granularity="components")
    rows = asked()
    rows["array"][3] = [0.2, -0.9, -0.03, 0.6]  # the row there lies on the threshold
    return made.conformalize(X, y, coverage=0.8), rows


@maker
def voting_deferral() -> Made:
    X, y = numbers(400)
    return voting(tempering=None, combination="cautious").control_error(X, y, error=0.3), asked()


@maker
def voting_of_frames() -> Made:
    from sklearn.naive_bayes import GaussianNB

    X, y = frame()
    sources = [("all", one_hot_model(X, y)), ("some", GaussianNB(), ["age", "dose"])]
    made = shafer.EvidentialVotingClassifier(sources, tempering=None).fit(X, y)
    return made.conformalize(X, y, coverage=0.8, by="region"), shown(X[:6])


# -- evidence -----------------------------------------------------------------------------------

FACTORS = np.linspace(0.1, 1.0, 6)


def pooled(**options: Any) -> shafer.Evidence:
    rng = np.random.default_rng(0)
    pool = shafer.least_commitment(rng.normal(size=(3, 4)), rng.normal(size=3), **options)
    return pool(rng.normal(size=(6, 4)))


def thin() -> shafer.Evidence:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 4)) * (rng.random((6, 4)) < 0.6)
    return shafer.least_commitment(rng.normal(size=(3, 4)), rng.normal(size=3))(
        sparse.csr_array(rows)
    )


def dense() -> shafer.Evidence:
    weights = np.random.default_rng(2).normal(size=(6, 2, 2))
    return shafer.Evidence.from_weights(weights, classes=[1, 5], names=["u", "v"])


def joined() -> Any:
    return shafer.combine({"a": pooled(), "b": thin().tempered(FACTORS), "c": dense()})


def mixed_labels() -> shafer.Evidence:
    weights = np.random.default_rng(3).normal(size=(2, 2, 3))
    return shafer.Evidence.from_weights(weights, classes=[1, "two", 3.0])


EVIDENCE: dict[str, Callable[[], Any]] = {
    "dense": dense,
    "mixed_labels": mixed_labels,
    "single_precision": lambda: shafer.Evidence.from_weights(
        np.random.default_rng(4).normal(size=(3, 2, 2)).astype(np.float32)
    ),
    "linear": pooled,
    "grouped": lambda: pooled().grouped([["x0", "x1"]]),
    "sparse": thin,
    "scaled": lambda: pooled().tempered(FACTORS),
    "scaled_sparse": lambda: thin().tempered(FACTORS),
    "joined": joined,
    "scaled_joined": lambda: joined().tempered(FACTORS),
    "cautious": lambda: shafer.combine({"a": pooled(), "b": thin()}, "cautious"),
    "prior_once": lambda: shafer.combine({"a": pooled(), "b": thin()}, prior=[0.2, 0.3, 0.5]),
    "components": lambda: pooled().components,
    "base_rate": lambda: pooled(prior="own"),
    "joined_base_rate": lambda: shafer.combine({"a": pooled(prior="own"), "b": thin()}),
    "statements": lambda: shafer.Evidence.from_statements(
        ["for a with weight 1.2", "against b with support 0.6"], classes=["a", "b", "c"]
    ),
    "without": lambda: pooled().without(["x1"]),
    "errors_linear": lambda: linear(errors="laplace")(numbers()[0][:4]),
    "errors_table": lambda: ebm(errors="bags")(numbers()[0][:4]),
    "errors_sampled": lambda: linear_errors_bootstrap()[0](numbers()[0][:4]),
    "errors_grouped": lambda: linear(
        errors="laplace", groups={"first": [0, 1], "second": [2, 3]}, temper=0.7
    )(numbers()[0][:4]),
    "calibrated": lambda: linear(moderate="laplace")(numbers()[0][:4]),
    "additive": lambda: xgboost()[0](numbers()[0][:4]),
    "neighbours": lambda: shafer.NeighbourEvidence(k=3).fit(*numbers()).evidence(numbers()[0][:4]),
    "located": lambda: _of_maps(),
    "located_regions": lambda: _of_maps(groups=np.array([[0, 0, 1, 1]] * 4)),
    "located_own": lambda: _of_maps(prior="own"),
}


def _of_maps(**options: Any) -> Any:
    explainer, images = maps(**options)
    return explainer(images[:3])


# -- writing ------------------------------------------------------------------------------------


def results_of(kind: str, loaded: Any, about: dict[str, Any]) -> dict[str, Any]:
    if kind == "evidence":
        return evidence_results(loaded)
    rows = rows_of(about["rows"])
    groups = None if "groups" not in about else np.array(about["groups"])
    read = explainer_results if kind == "Explainer" else classifier_results
    return read(loaded, rows, groups)


def write(name: str, about: dict[str, Any], results: dict[str, Any]) -> None:
    text = json.dumps({**about, "results": results}, sort_keys=True)
    (STORED / f"{name}.json").write_text(text + "\n")


def make_models(names: list[str]) -> None:
    for name, make in MAKERS.items():
        if names and name not in names:
            continue
        made, about = make()
        path, kind = STORED / f"{name}.shafer", type(made).__name__
        made.save(path)
        module = torch_module(about["module"]) if "module" in about else None
        again = type(made).load(path, trusted=about.get("trusted", ()), module=module)
        about = {"kind": kind, "file": path.name, "rtol": EXACT, **about}
        write(name, about, results_of(kind, again, about))


def make_format_3() -> None:
    """Write explainers as version 0.1 wrote them: without deferral, and sets without groups."""
    for name in ("linear_pipeline", "linear_conformal", "linear_errors_bootstrap"):
        old = f"{name}_format_3"
        (STORED / f"{old}.shafer").write_bytes(_in_format_3(STORED / f"{name}.shafer"))
        about = json.loads((STORED / f"{name}.json").read_text())
        (STORED / f"{old}.json").write_text(
            json.dumps({**about, "file": f"{old}.shafer"}, sort_keys=True) + "\n"
        )


def _in_format_3(path: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(content, "w") as made:
        for member in given.namelist():
            raw = given.read(member)
            if member == "description.json":
                description = json.loads(raw)
                _strip(description)
                raw = json.dumps(description, indent=1).encode()
            made.writestr(zipfile.ZipInfo(member), raw)
    return content.getvalue()


def _strip(node: Any) -> None:
    """Remove from the dictionaries of a description what format 3 lacks, inside out."""
    for part in node.values() if isinstance(node, dict) else node:
        if isinstance(part, dict | list):
            _strip(part)
    if not isinstance(node, dict) or node.get("type") != "dict":
        return
    keys = [key for key, _ in node["items"]]
    if "format" in keys and "refits" in keys:
        kept = [[k, v] for k, v in node["items"] if k not in FORMAT_3_LACKS]
        node["items"] = [[k, 3 if k == "format" else v] for k, v in kept]
    if "threshold" in keys and "coverage" in keys:
        node["items"] = [[k, v] for k, v in node["items"] if k not in CONFORMAL_OF_3_LACKS]


def make_evidence() -> None:
    for name, make in EVIDENCE.items():
        path = STORED / f"evidence_{name}.npz"
        make().save(path)
        about = {"kind": "evidence", "file": path.name, "rtol": EXACT}
        if name in ("single_precision", "additive") or name.startswith("located"):
            about["rtol"] = SINGLE
        write(path.stem, about, evidence_results(shafer.Evidence.load(path)))
    for name in ("dense", "linear", "sparse", "mixed_labels"):  # 0.1.0 wrote no checksum
        _without_checksum(name)


def _without_checksum(name: str) -> None:
    old = f"evidence_{name}_0_1_0"
    with np.load(STORED / f"evidence_{name}.npz", allow_pickle=False) as given:
        arrays = dict(given)
    header = json.loads(str(arrays.pop("header")))
    del header["checksum"]
    np.savez(STORED / f"{old}.npz", header=np.asarray(json.dumps(header)), **arrays)
    about = json.loads((STORED / f"evidence_{name}.json").read_text())
    results = about.pop("results")
    write(old, {**about, "file": f"{old}.npz"}, results)


def make_monitors() -> None:
    X, y = numbers(120)
    moved = X[:40] + np.array([0.0, 0.9, 0.0, 0.0])
    by_file = {
        "linear_pipeline": None,
        "linear_own_prior": None,
        "linear_conformal": y[40:],
        "ebm_plain": None,
        "one_hot": None,
    }
    for name, labels in by_file.items():
        explainer = shafer.Explainer.load(STORED / f"{name}.shafer")
        usual, batch = (X[40:], moved) if name != "one_hot" else (frame(120)[0], frame(40)[0])
        monitor = shafer.Monitor.fit(explainer, usual, labels, alpha=0.02, seed=3, max_rows=60)
        stem = f"monitor_of_{name}"
        monitor.save(STORED / f"{stem}.npz")
        stream = monitor.watch(seed=5)
        stream.update(batch[:15])
        stream.save(STORED / f"{stem}_stream.npz")
        again = shafer.Monitor.load(STORED / f"{stem}.npz", explainer)
        about = shown(
            batch,
            kind="monitor",
            file=f"{stem}.npz",
            stream=f"{stem}_stream.npz",
            explainer=f"{name}.shafer",
            y=None if labels is None else y[:40].tolist(),
            rtol=1e-9,
        )
        resumed = again.resume(STORED / f"{stem}_stream.npz")
        results = {
            "monitor": monitor_results(again, batch, about["y"]),
            "stream": stream_results(resumed, batch[15:]),
        }
        write(stem, about, results)


def pack() -> None:
    """Compress the files: what save() writes is not compressed."""
    for path in STORED.iterdir():
        if path.suffix not in (".json", ".gz"):
            packed = gzip.compress(path.read_bytes(), mtime=0)
            path.with_name(f"{path.name}.gz").write_bytes(packed)
            path.unlink()


def main() -> None:
    STORED.mkdir(exist_ok=True)
    make_models(sys.argv[1:])
    if not sys.argv[1:]:
        make_format_3()
        make_evidence()
        make_monitors()
    pack()


if __name__ == "__main__":
    main()
