"""Exact names that a model file may hold without trust, by the skops loader that reads them.

No prefixes, and nothing that the file could make Python call: a loader that calls a function, a
method or a constructor with arguments from the file is not in the table. To let a class of this
package into model files, add it to ``_HOMES``; it must keep its state in arrays, plain containers
and classes listed here.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, final

_HOMES = {
    "ConformalSets": "shafer.conformal.split",
    "CrossConformalSets": "shafer.conformal.cross",
    "EvidentialClassifier": "shafer.estimators.evidential_classifier",
    "EvidentialVotingClassifier": "shafer.estimators.evidential_voting",
    "Explainer": "shafer.explain.explainer",
    "FittedSource": "shafer.estimators.sources",
    "LinearHead": "shafer.models.heads",
    "NeighbourEvidence": "shafer.estimators.neighbour_evidence",
    "RBFLayer": "shafer.estimators.rbf_layer",
    "SourceFactors": "shafer.estimators.sources",
}
STORED_NAMES = {f"shafer.{name}": f"{home}.{name}" for name, home in _HOMES.items()}
"""Our classes as files name them, and where they live. A file does not know our modules."""

OWN_CLASSES = tuple(STORED_NAMES.values())

FORMER_NAMES = {
    "shafer.decision.calibration.cross_conformal.CrossConformalSets": "shafer.CrossConformalSets",
    "shafer.decision.calibration.split_conformal.ConformalSets": "shafer.ConformalSets",
    "shafer.models.ensemble.evidential_voting.EvidentialVotingClassifier": (
        "shafer.EvidentialVotingClassifier"
    ),
    "shafer.models.ensemble.fitted_source.FittedSource": "shafer.FittedSource",
    "shafer.models.ensemble.neighbour_evidence.NeighbourEvidence": "shafer.NeighbourEvidence",
    "shafer.models.ensemble.source_factors.SourceFactors": "shafer.SourceFactors",
    "shafer.models.evidential_classifier.EvidentialClassifier": "shafer.EvidentialClassifier",
    "shafer.models.explainer.Explainer": "shafer.Explainer",
    "shafer.models.heads.LinearHead": "shafer.LinearHead",
    "shafer.models.rbf_layer.RBFLayer": "shafer.RBFLayer",
    "shafer.models.saving.formats.object_parts.TakenOut": "shafer.saving.formats.TakenOut",
}
"""Names in files that earlier versions wrote. A class that moves adds a line here, if a file can
hold its path: skops writes the module of a class."""

FORMER_FIELDS = {"shafer.conformal.split.ConformalSets": {"groups": "by"}}
"""Fields of stored objects that earlier versions wrote under another name."""

_WRITTEN = {home: name for name, home in STORED_NAMES.items()}


def stored_name(name: str) -> str:
    """Return the name of a class in our files, given its full name."""
    return _WRITTEN.get(name, name)


def current_name(name: str) -> str:
    """Return the full name of a class, given its name in a file of any version."""
    name = FORMER_NAMES.get(name, name)
    return STORED_NAMES.get(name, name)


# Parts of scikit-learn's own models that are not estimators. All are plain Python and hold numbers.
# Trees are left out on purpose: scikit-learn follows their stored indices without checks.
_SKLEARN_PARTS = (
    "sklearn._loss.link.HalfLogitLink",
    "sklearn._loss.link.IdentityLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogLink",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.ExponentialLoss",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn._loss.loss.HalfSquaredError",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.compose._column_transformer.make_column_selector",  # holds what it selects by
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)

_LOSSES = (
    "sklearn._loss._loss.CyExponentialLoss",
    "sklearn._loss._loss.CyHalfBinomialLoss",
    "sklearn._loss._loss.CyHalfMultinomialLoss",
    "sklearn._loss._loss.CyHalfSquaredError",
    "sklearn.linear_model._sgd_fast.Hinge",
    "sklearn.linear_model._sgd_fast.ModifiedHuber",
    "sklearn.linear_model._sgd_fast.SquaredHinge",
)

_PRIMITIVES = ("builtins.bool", "builtins.float", "builtins.int", "builtins.str")
_NUMPY_NUMBERS = tuple(
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "float16", "float32", "float64", "longlong", "ulonglong", "str_"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
)

# Splines of SplineTransformer: they are made again from their numbers, which SciPy then checks.
# Since SciPy 1.18, a BSpline holds another object with the numbers.
SPLINES = ("scipy.interpolate._bsplines.BSpline", "scipy.interpolate._bsplines._BSpline")

# Functions of arrays that FunctionTransformer, SelectKBest and splines hold. They do nothing but
# compute.
_ARRAY_FUNCTIONS = (
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    *(f"numpy.{name}" for name in ("absolute", "cbrt", "exp", "expm1", "log", "log10", "log1p")),
    *(f"numpy.{name}" for name in ("log2", "reciprocal", "sign", "sqrt", "square", "tanh")),
    "scipy.special._special_ufuncs.expit",
    "scipy.special._special_ufuncs.logit",
    "scipy.special._ufuncs.expit",
    "scipy.special._ufuncs.logit",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
)

# What make_column_selector selects by.
DTYPES = ("builtins.object", *(f"numpy.{n}" for n in ("floating", "integer", "number", "object_")))

BY_LOADER: dict[str, tuple[str, ...]] = {
    "BytearrayNode": ("builtins.bytearray",),
    "BytesNode": ("builtins.bytes",),
    "DTypeNode": ("numpy.dtype",),
    "DefaultDictNode": ("collections.defaultdict",),
    "DictNode": ("builtins.dict", "collections.OrderedDict"),
    "FunctionNode": _ARRAY_FUNCTIONS,
    "JsonNode": _PRIMITIVES,
    "ListNode": ("builtins.list",),
    "LossNode": _LOSSES,
    "MaskedArrayNode": ("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"),
    "NdArrayNode": ("numpy.ndarray", *_NUMPY_NUMBERS),
    "ObjectNode": (*_SKLEARN_PARTS, *SPLINES, *OWN_CLASSES),
    "RandomGeneratorNode": ("numpy.random._generator.Generator",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState", "numpy.random.RandomState"),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "SparseMatrixNode": tuple(
        f"scipy.sparse._{kind}.{kind}_{form}"
        for kind in ("coo", "csc", "csr")
        for form in ("array", "matrix")
    ),
    "TreeNode": (),
    "TupleNode": ("builtins.tuple",),
    "TypeNode": (*_PRIMITIVES, *_NUMPY_NUMBERS, *DTYPES, "collections.OrderedDict"),
}
"""For each skops loader that may be used, the names it may be used for."""

TRUSTABLE = ("ObjectNode", "TreeNode", "TupleNode", "TypeNode")
"""The loaders through which the user's trust admits a class."""

NEVER = {
    "CachedNode": "a reference that skops does not write",
    "ConstructorFromReduceNode": "a call of",
    "FunctionNode": "the function",
    "MethodNode": "a method of",
    "OperatorFuncNode": "the function",
    "PartialNode": "a function call,",
    "QuantileForestNode": "a quantile forest,",
}
"""What the loaders stand for that no option admits."""


_COSTLY = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("cupy", "dask", "torch"))


@contextmanager
def without_array_libraries() -> Iterator[None]:
    """Let scikit-learn look for its estimators without importing torch, dask and CuPy.

    It imports all its packages for that. Those that wrap these libraries hold no estimator, and
    cost seconds and 300 MB where the libraries are installed.
    """
    modules: dict[str, Any] = sys.modules
    hidden = [name for name in _COSTLY if name not in modules]
    modules.update(dict.fromkeys(hidden))  # None: Python then says that there is no such module
    try:
        yield
    finally:
        for name in hidden:
            modules.pop(name, None)


@cache
def sklearn_estimators() -> frozenset[str]:
    """Return the full names of scikit-learn's public estimators."""
    from sklearn.utils import all_estimators

    with without_array_libraries():
        classes = [estimator for _, estimator in all_estimators()]
    return frozenset(
        f"{cls.__module__}.{cls.__qualname__}"
        for cls in classes
        if cls.__module__.startswith("sklearn.")
    )


def is_known(loader: str, name: str) -> bool:
    """Tell whether a loader may read a name without the user's trust."""
    if name in BY_LOADER.get(loader, ()):
        return True
    return loader == "ObjectNode" and name in sklearn_estimators()


# How an error tells the user to trust a class: as an argument, or as an option of a command.


@final
@dataclass(frozen=True)
class TrustWording:
    """The words for trust, and for saving again.

    Attributes
    ----------
    on_command_line : bool
        Whether the user types a command, rather than Python.
    again : str
        How to write a file that can be read.
    """

    on_command_line: bool
    again: str

    def given(self, names: Sequence[str]) -> str:
        """Return what the user writes to trust some classes."""
        if self.on_command_line:
            return " ".join(f"--trust {shlex.quote(name)}" for name in names)
        return f"trusted={list(names)!r}"

    def advice(self, names: Sequence[str]) -> str:
        """Return the sentence that tells how to trust some classes."""
        verb = "add:" if self.on_command_line else "pass"
        end = "" if self.on_command_line else "."
        return f"If you trust them, {verb} {self.given(names)}{end}"
