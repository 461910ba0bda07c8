"""Choose the kernel by the kind of array and the amount of work.

- NumPy arrays: numba, if it is installed and pays. It is loaded when the plain kernels have worked
  for as long as that takes; so is a kernel compiled that is not on disk. Both give the same bits,
  so numbers do not show the change. Once loaded, it serves every size.
- CUDA tensors: Triton, unless a gradient is needed.
- Everything else: the reference, which runs on any array-API library and has gradients where the
  library has them.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from threading import Lock
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from shafer._kernels import direct_forms, pooling, tree_tables, trees
from shafer._kernels.compilation import (
    NotCompiledError,
    is_any_stored,
    permission,
    warn_unusable,
)
from shafer._kernels.forms import Forms
from shafer._kernels.forms import closed_forms as reference_closed_forms
from shafer._kernels.pooling import Pooled
from shafer._kernels.tree_tables import TreeTables
from shafer._kernels.trees import Forest, ForestPaths
from shafer._typing import Array, FloatArray

_COMPILED = "shafer._kernels.compiled.numba_kernels"

# In weights that a plain kernel sums meanwhile, about 5 ns each.
_LOADING = 2**26  # to load numba and kernels from disk: a third of a second
_COMPILING = {  # to compile a kernel, for one kind of arrays: 0.6 to 5 seconds
    "pool": 2**27,
    "additive_weights": 2**27,
    "pool_linear": 2**28,
    "pool_linear_sparse": 2**27,
    "closed_forms": 2**30,
    "tree_shap": 2**30,
    "looked_up": 2**29,
}
_WEIGHTS_PER_CLOSED_FORM = 12  # one class of one row
_WEIGHTS_PER_NODE = 3  # one point of a node for one row
_FEWEST_ROWS_OF_TREES = 8  # fewer rows take as long

_done: Counter[str] = Counter()  # what the plain kernels did in this process, by kernel
_counting = Lock()
_BETWEEN_LOOKS = 5.0
_next_look = 0.0
_failed: set[str] = set()  # kernels that do not compile here


@cache
def _compiled() -> ModuleType | None:
    """Return the compiled kernels, or None where numba is missing or does not work."""
    if importlib.util.find_spec("numba") is None:
        return None
    try:
        return importlib.import_module(_COMPILED)
    except MemoryError:
        raise
    except Exception as error:  # another version of NumPy, of LLVM, no compiler
        warn_unusable(_told(error))
        return None


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(".")


def _is_loaded() -> bool:
    """Tell whether the compiled kernels were loaded before."""
    return _COMPILED in sys.modules


def _pays(name: str, work: int) -> tuple[bool, bool]:
    """Tell whether to use the compiled kernels, and whether to compile this one if need be."""
    compiling = _done[name] + work >= _COMPILING[name]
    if compiling or _is_loaded():
        return True, compiling
    return sum(_done.values()) + work >= _LOADING and _look_for_stored(), False


def _look_for_stored() -> bool:
    """Tell whether kernels are on disk; where there were none, look again after some seconds."""
    global _next_look
    if time.monotonic() < _next_look:
        return False
    found = is_any_stored()
    _next_look = 0.0 if found else time.monotonic() + _BETWEEN_LOOKS
    return found


def _computed(name: str, work: int, plain: Callable[..., Any], *given: Any) -> Any:
    """Return what a kernel gives for NumPy arrays: compiled if that pays, or plain."""
    use, compiling = _pays(name, work)
    kernels = _compiled() if use and name not in _failed else None
    problem = None
    if kernels is not None:
        try:
            with permission(compiling) as asked:
                found = getattr(kernels, name)(*given)
            if asked.compiled:  # the next kind of arrays has to pay again
                with _counting:
                    _done[name] = 0
            return found
        except NotCompiledError:
            pass
        except MemoryError:
            raise
        except Exception as error:  # the compiler can fail in any way
            problem = _told(error)
    found = plain(*given)
    if problem is not None:  # it was not about the arrays
        _failed.add(name)
        warn_unusable(problem)
    with _counting:
        _done[name] += work
    return found


def tree_shap(forest: Forest, paths: ForestPaths, rows: FloatArray) -> FloatArray:
    """Return the Shapley values of trees; the reference is in ``trees.py``.

    Parameters
    ----------
    forest, paths : the trees
    rows : array of shape (n, features)
        In the precision that the trees compare in.

    Returns
    -------
    array of shape (n, outputs, features)
    """
    points = int(paths.n_points.max(initial=1))
    steps = max(len(rows), _FEWEST_ROWS_OF_TREES) * len(forest.feature) * points
    work = _WEIGHTS_PER_NODE * steps
    found: FloatArray = _computed("tree_shap", work, trees.tree_shap, forest, paths, rows)
    return found


def looked_up(
    forest: Forest, tables: TreeTables, rows: FloatArray, width: int | None = None
) -> FloatArray:
    """Return the Shapley values of trees from tables; the reference is in ``tree_tables.py``.

    Parameters
    ----------
    forest, tables : the trees
    rows : array of shape (n, features)
        In the precision that the trees compare in.
    width : int, optional
        The number of columns of the result, if they are not features.

    Returns
    -------
    array of shape (n, outputs, features)
    """
    steps = max(len(rows), _FEWEST_ROWS_OF_TREES) * (len(tables.split) + len(tables.start))
    work, plain = _WEIGHTS_PER_NODE * steps, tree_tables.looked_up
    found: FloatArray = _computed("looked_up", work, plain, forest, tables, rows, width)
    return found


@cache
def _cuda() -> ModuleType | None:
    if importlib.util.find_spec("triton") is None:
        return None
    return importlib.import_module("shafer._kernels.compiled.triton_kernels")


@cache
def _cuda_located() -> ModuleType | None:
    if importlib.util.find_spec("triton") is None or sys.modules["torch"].__version__ < "2.8":
        return None
    return importlib.import_module("shafer._kernels.compiled.triton_located")


def _located_kernels(*arrays: Array) -> ModuleType | None:
    """Return the fast kernels for maps on a CUDA device with tensor cores, or None."""
    first = arrays[0]
    if not array_api_compat.is_torch_array(first) or not first.is_cuda:
        return None
    return None if _wants_gradient(*arrays) else _cuda_located()


def _wants_gradient(*tensors: Array) -> bool:
    torch = sys.modules["torch"]
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _on_device(*arrays: Array) -> ModuleType | None:
    """Return the fast kernels for tensors on a CUDA device, or None."""
    if array_api_compat.is_torch_array(arrays[0]) and arrays[0].is_cuda:
        return None if _wants_gradient(*arrays) else _cuda()
    return None


def pool(weights: Array) -> Pooled:
    """Pool weights given in full, (..., G, K); the reference is in ``pooling.py``.

    Parameters
    ----------
    weights : array of shape (..., G, K)
        Positive weights are evidence for a class, negative ones against it.

    Returns
    -------
    Pooled
    """
    if not isinstance(weights, np.ndarray):
        return pooling.pool(weights)
    result: Pooled = _computed("pool", weights.size, pooling.pool, weights)
    return result


def additive_weights(contributions: Array, constant: Array) -> Array:
    """Return the weights of contributions; the reference is in ``pooling.py``.

    Parameters
    ----------
    contributions : array of shape (n, G, K)
        What each component adds to each logit.
    constant : array of shape (G, K)
        What is added to each weight.

    Returns
    -------
    array of shape (n, G, K)
    """
    if not isinstance(contributions, np.ndarray):
        return pooling.additive_weights(contributions, constant)
    work, plain = contributions.size, pooling.additive_weights
    return _computed("additive_weights", work, plain, contributions, constant)


def pool_linear(features: Array, centre: Array, beta: Array, offset: Array) -> Pooled:
    """Pool the weights of a linear model; the reference is in ``pooling.py``.

    Parameters
    ----------
    features : array of shape (n, J)
    centre : array of shape (J,)
        Means of the features over the background data.
    beta : array of shape (J, K)
        Coefficients, centred over the classes.
    offset : array of shape (K,)
        The share of the intercept that every component gets.

    Returns
    -------
    Pooled
    """
    given = features, centre, beta, offset
    if isinstance(features, np.ndarray):
        work = features.shape[0] * beta.size
        result: Pooled = _computed("pool_linear", work, pooling.pool_linear, *given)
        return result
    kernels = _on_device(*given) or pooling
    on_device: Pooled = kernels.pool_linear(*given)
    return on_device


def pool_linear_sparse(
    features: Array, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights of a linear model on CSR features; the reference is in ``pooling.py``.

    Parameters
    ----------
    features : CSR matrix of shape (n, J)
    centre, beta, offset
        As in :func:`pool_linear`.

    Returns
    -------
    Pooled
    """
    given = features, centre, beta, offset
    work, plain = features.nnz * beta.shape[1], pooling.pool_linear_sparse
    result: Pooled = _computed("pool_linear_sparse", work, plain, *given)
    return result


def pool_located(
    features: Array,
    beta: Array,
    shift: Array,
    shares: Array | None = None,
    total: Array | None = None,
) -> Pooled:
    """Pool the weights of locations; the reference is in ``pooling.py``.

    Parameters
    ----------
    features, beta, shift, shares
        As in :func:`located_weights`.
    total : array of shape (n, C), optional
        The features summed over the locations, if they are known.

    Returns
    -------
    Pooled
    """
    kernels = _located_kernels(features, beta, shift) or pooling
    result: Pooled = kernels.pool_located(features, beta, shift, shares, total)
    return result


def located_weights_of(
    features: Array, beta: Array, shift: Array, shares: Array | None, positions: Array
) -> Array:
    """Return weights for a few classes of each row; the reference is in ``pooling.py``.

    Parameters
    ----------
    features, beta, shift, shares
        As in :func:`located_weights`; ``beta`` is (C, K).
    positions : integer array of shape (n, M)
        The classes of each row.

    Returns
    -------
    array of shape (n, G, M)
    """
    kernels = _located_kernels(features, beta, shift) or pooling
    return kernels.located_weights_of(features, beta, shift, shares, positions)


def closed_forms(pooled: Pooled) -> Forms:
    """Return the closed forms of every row; the reference is in ``forms.py``.

    Parameters
    ----------
    pooled : Pooled
        The pooled weights.

    Returns
    -------
    Forms
    """
    if not isinstance(pooled.logits, np.ndarray):
        kernels = _on_device(*pooled)
        if kernels is None:
            return reference_closed_forms(pooled)
        return _by_rows(kernels.closed_forms, pooled)
    work = _WEIGHTS_PER_CLOSED_FORM * pooled.logits.size
    plain = direct_forms.closed_forms
    return _by_rows(lambda rows: _computed("closed_forms", work, plain, rows), pooled)


def _by_rows(kernel: Callable[[Pooled], Forms], pooled: Pooled) -> Forms:
    """Give a kernel two dimensions, rows and classes."""
    shape = pooled.logits.shape
    if len(shape) == 2:
        return kernel(pooled)
    rows = kernel(Pooled(*(a.reshape(-1, shape[-1]) for a in pooled)))
    by_class, scalars = rows[:3], rows[3:]
    return Forms(*(a.reshape(shape) for a in by_class), *(a.reshape(shape[:-1]) for a in scalars))
