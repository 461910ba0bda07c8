"""Which file writes the terms of which model, and why other models are refused."""

from __future__ import annotations

import importlib
from typing import Any

from shafer._errors import UnsupportedModelError
from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.models.heads import Contributions
from shafer.models.readers.adapted_model import AdaptedModel

# (package, name of the class or a base class) -> file in this folder with a function ``terms``.
_FAMILIES = {
    ("shafer", "LinearHead"): "plain_features",
    ("sklearn", "LinearClassifierMixin"): "plain_features",
    ("sklearn", "MultinomialNB"): "plain_features",
    ("sklearn", "ComplementNB"): "plain_features",
    ("sklearn", "BernoulliNB"): "indicator_features",
    ("sklearn", "GaussianNB"): "gaussian_densities",
    ("sklearn", "MLPClassifier"): "hidden_units",
    ("sklearn", "SVC"): "kernel_values",
    ("sklearn", "NuSVC"): "kernel_values",
    ("interpret", "ExplainableBoostingClassifier"): "term_tables",
}

_ELSEWHERE = (
    "To run it in another process, save the explainer with explainer.save(path), or wrap it with "
    "shafer.export.pyfunc(explainer)."
)
_TREES = (
    "has components that are Shapley values of trees. They need all paths of all trees, which is "
    "not a short graph of standard operators. Export an ExplainableBoostingClassifier instead. "
    + _ELSEWHERE
)
_TORCH = (
    "is a torch module, which torch exports itself: write the module up to its last hidden layer "
    "with torch.onnx.export, and export shafer.Explainer(shafer.LinearHead(coef, intercept), "
    "features) for the last layer. " + _ELSEWHERE
)
_REASONS = {
    ("sklearn", "HistGradientBoostingClassifier"): _TREES,
    ("sklearn", "GradientBoostingClassifier"): _TREES,
    ("xgboost", "XGBClassifier"): _TREES,
    ("xgboost", "Booster"): _TREES,
    ("lightgbm", "LGBMClassifier"): _TREES,
    ("lightgbm", "Booster"): _TREES,
    ("catboost", "CatBoostClassifier"): _TREES,
    ("torch", "Module"): _TORCH,
}


def terms_of(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:
    """Write the terms of a model as a graph behind its transformers.

    Raises
    ------
    UnsupportedModelError
        If the model does not fit into a graph of standard operators.
    """
    core = model.core
    kinds = [(base.__module__.partition(".")[0], base.__name__) for base in type(core).__mro__]
    for kind in kinds:
        if kind in _REASONS:
            raise UnsupportedModelError(f"{_named(core)} {_REASONS[kind]}")
        if kind in _FAMILIES:
            module = importlib.import_module(f"shafer.export.graph.terms.{_FAMILIES[kind]}")
            found: ModelTerms = module.terms(model, rows)
            return found
    if isinstance(core, Contributions):
        raise UnsupportedModelError(
            "Contributions are a Python function, which cannot be written to ONNX. Export a "
            f"shafer.LinearHead, or a model of the list in docs/guide/production.md. {_ELSEWHERE}"
        )
    raise UnsupportedModelError(
        f"{_named(core)} cannot be written to ONNX yet. These can: linear models, MLPClassifier, "
        "support vector machines, ExplainableBoostingClassifier, and naive Bayes on numbers. "
        f"{_ELSEWHERE}"
    )


def _named(core: Any) -> str:
    return type(core).__name__
