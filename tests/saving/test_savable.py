"""The methods save and load: what they store, and what they tell the user."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from xgboost import XGBClassifier

import shafer
from shafer.saving.file import loaded_bytes, saved_bytes

from .families import UNSAVABLE_LOSSES

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")
MODEL = LogisticRegression().fit(X, Y)
EXPLAINER = shafer.Explainer(MODEL, X)


def test_the_file_has_plain_members_alone(tmp_path: Path) -> None:
    EXPLAINER.save(str(tmp_path / "m.shafer"))
    with zipfile.ZipFile(tmp_path / "m.shafer") as archive:
        names = ["description.json", "arrays.npz", "model/0.skops", "SHA256SUMS"]
        assert archive.namelist() == names
        text = archive.read("description.json").decode()
    assert '"shafer.Explainer"' in text
    assert f'"sklearn": "{__import__("sklearn").__version__}"' in text
    head = shafer.Explainer((MODEL.coef_, MODEL.intercept_), X)
    head.save(tmp_path / "h.shafer")
    assert saved_bytes(head) == (tmp_path / "h.shafer").read_bytes()
    assert saved_bytes(loaded_bytes(saved_bytes(head))) == saved_bytes(head)


def test_a_path_and_a_text_are_the_same(tmp_path: Path) -> None:
    EXPLAINER.save(tmp_path / "m.shafer")
    for path in (tmp_path / "m.shafer", str(tmp_path / "m.shafer")):
        again = shafer.Explainer.load(path)
        assert_array_equal(again(X).belief, EXPLAINER(X).belief)
        assert again.classes.tolist() == ["no", "yes"]
    with pytest.raises(FileNotFoundError):
        shafer.Explainer.load(tmp_path / "other.shafer")
    with pytest.raises(TypeError, match="not int"):
        shafer.Explainer.load(0)  # type: ignore[arg-type]


def test_a_file_of_another_class_names_the_right_method(tmp_path: Path) -> None:
    path = tmp_path / "m.shafer"
    classifier = shafer.EvidentialClassifier().fit(X, Y)
    classifier.save(path)
    with pytest.raises(ValueError, match=r"Load it with shafer\.EvidentialClassifier\.load\."):
        shafer.Explainer.load(path)
    again = shafer.EvidentialClassifier.load(path)
    assert again.explainer_.model is again.estimator_  # stored once
    assert clone(again).get_params().keys() == classifier.get_params().keys()
    assert_array_equal(pickle.loads(pickle.dumps(again)).predict(X), classifier.predict(X))


def test_an_unfitted_classifier_can_be_saved() -> None:
    inner = make_pipeline(StandardScaler(), XGBClassifier(n_estimators=2))
    for estimator in (inner, XGBClassifier(max_depth=2), None):
        again = loaded_bytes(saved_bytes(shafer.EvidentialClassifier(estimator, temper=0.5)))
        assert again.temper == 0.5
        assert repr(again.estimator) == repr(estimator)


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.shafer"
    EXPLAINER.save(path)
    before = path.read_bytes()
    waves = shafer.models.Contributions(lambda rows: np.stack([rows, -rows], axis=-1))
    with pytest.raises(ValueError, match="Contributions cannot be saved: it holds a function"):
        shafer.Explainer(waves, X).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.shafer"]
    with pytest.raises(FileNotFoundError):
        EXPLAINER.save(tmp_path / "no folder" / "m.shafer")


def test_functions_are_refused_when_the_file_is_written() -> None:
    def centred(rows: Any) -> Any:
        return rows - 1.0

    model = make_pipeline(FunctionTransformer(centred), LogisticRegression()).fit(X, Y)
    words = r"Pipeline cannot be saved: it holds the function .*centred"
    with pytest.raises(ValueError, match=words):
        saved_bytes(shafer.Explainer(model, X))
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring="accuracy", cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="For a search, explain its best_estimator_"):
        saved_bytes(shafer.Explainer(search, X))


def test_a_function_under_the_name_of_a_known_one_is_refused() -> None:
    def f_classif(rows: Any, labels: Any) -> Any:
        return np.ones(rows.shape[1]), np.ones(rows.shape[1])

    f_classif.__module__ = "sklearn.feature_selection._univariate_selection"
    f_classif.__qualname__ = "f_classif"
    model = make_pipeline(SelectKBest(f_classif, k=2), LogisticRegression()).fit(X, Y)
    with pytest.raises(ValueError, match=r"it holds the function .*f_classif"):
        saved_bytes(shafer.Explainer(model, X))


def test_what_skops_cannot_write_is_named() -> None:
    model = LogisticRegression().fit(X, Y)
    model.extra_ = pd.DataFrame({"a": [1]})
    words = "LogisticRegression cannot be saved without pickle: no default"
    with pytest.raises(ValueError, match=words):
        saved_bytes(shafer.Explainer(model, X))


def test_losses_of_scikit_learn_before_1_9_are_named() -> None:
    older = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
    assert len(UNSAVABLE_LOSSES) == (3 if older else 0)
    for make in UNSAVABLE_LOSSES.values():
        with pytest.raises(ValueError, match="cannot be saved without pickle: it holds _loss"):
            saved_bytes(make().model)


def test_saving_does_not_change_the_model() -> None:
    model = make_pipeline(StandardScaler(), XGBClassifier(n_estimators=2)).fit(X, Y == "yes")
    booster = model[-1].get_booster()
    explainer = shafer.Explainer(model, X)
    again = loaded_bytes(saved_bytes(explainer))
    assert model[-1].get_booster() is booster
    assert_array_equal(again(X).weights, explainer(X).weights)
    assert_array_equal(again.model.predict_proba(X), model.predict_proba(X))


def _network(width: int = 4) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Linear(3, width), torch.nn.ReLU(), torch.nn.Linear(width, 2)
    )


def test_a_module_is_given_by_the_caller() -> None:
    rows = torch.tensor(X, dtype=torch.float32)
    content = saved_bytes(shafer.Explainer(_network(), rows))
    wrong = {
        "holds the weights of a torch module, not its code": None,
        "module must be a torch module; got str": "net",
        r"'0\.weight' is \(4, 3\) of torch.float32 in the file, and \(5, 3\) of": _network(5),
        r"of torch.float32 in the file, and \(4, 3\) of torch.float64": _network().double(),
        "are in the file or in the given Linear, not in both": torch.nn.Linear(3, 2),
    }
    for message, module in wrong.items():
        with pytest.raises(ValueError, match=message):
            loaded_bytes(content, module=module)
    module = _network()
    assert loaded_bytes(content, module=module).model is module


def test_a_module_with_state_that_is_not_tensors() -> None:
    class Odd(torch.nn.Linear):
        def get_extra_state(self) -> Any:
            return {"a": 1}

        def set_extra_state(self, state: Any) -> None:
            raise AssertionError

    rows = torch.tensor(X, dtype=torch.float32)
    with pytest.raises(ValueError, match="'0._extra_state' in its state_dict are not tensors"):
        saved_bytes(shafer.Explainer(torch.nn.Sequential(Odd(3, 2)), rows, check=False))


@pytest.mark.parametrize("trusted", ["sklearn.tree.Tree", [3], [None], None, 7])
def test_trusted_is_a_list_of_names(trusted: Any) -> None:
    with pytest.raises(ValueError, match="trusted must be a list of full class names"):
        loaded_bytes(saved_bytes(EXPLAINER), trusted=trusted)


def test_a_missing_framework_is_named() -> None:
    code = (
        "import sys; sys.modules['xgboost'] = None\n"
        "from shafer.saving.file import loaded_bytes\n"
        "loaded_bytes(sys.stdin.buffer.read())"
    )
    explainer = shafer.Explainer(XGBClassifier(n_estimators=2).fit(X, Y == "yes"), X)
    done = subprocess.run(
        [sys.executable, "-c", code], input=saved_bytes(explainer), capture_output=True
    )
    assert b"needs xgboost, which is not installed. Run: pip install xgboost" in done.stderr


def test_arrays_and_values_of_all_kinds() -> None:
    values = {
        "numbers": [1, -(2**70), 0.1, float("inf"), float("-inf"), True, None],
        "tuple": (1, ("a", b"".decode())),
        "sets": [{1, 2}, frozenset({"a"})],
        "slice": slice(None, 3, np.int32(2)),
        "scalars": [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("é")],
        "labels": np.array(["a", 1, None, 2.5], dtype=object),
        "dates": np.array(["2026-01-01"], dtype="datetime64[D]"),
        "order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        3: "a key that is not a text",
    }
    classifier = shafer.EvidentialClassifier(groups=values)
    again = loaded_bytes(saved_bytes(classifier)).groups
    assert repr(again) == repr(values)
    assert again["order"].flags.f_contiguous
    assert [type(value) for value in again["scalars"]] == [np.float32, np.int8, np.bool_, np.str_]
    assert np.isnan(loaded_bytes(saved_bytes(shafer.EvidentialClassifier(temper=np.nan))).temper)
