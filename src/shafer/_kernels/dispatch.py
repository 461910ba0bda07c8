"""Choose the kernel by the kind of array and the amount of work.

- NumPy arrays: numba, if it is installed and there is enough work to pay for loading it. Once it
  is loaded, it serves every size.
- CUDA tensors: Triton, unless a gradient is needed.
- Everything else: the reference, which runs on any array-API library and has gradients where the
  library has them.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import cache
from types import ModuleType

import array_api_compat
import numpy as np

from shafer._kernels import direct_forms, pooling, trees
from shafer._kernels.forms import Forms
from shafer._kernels.forms import closed_forms as reference_closed_forms
from shafer._kernels.pooling import Pooled
from shafer._kernels.trees import Forest, ForestPaths
from shafer._typing import Array, FloatArray

_COMPILED = "shafer._kernels.compiled.numba_kernels"
# Loading numba takes a few hundred milliseconds. With fewer weights than this, NumPy is faster.
_MIN_WEIGHTS_FOR_NUMBA = 2**22
# In that unit: one class of one row costs as much in the closed forms as this many weights.
_WEIGHTS_PER_CLOSED_FORM = 20


@cache
def _compiled() -> ModuleType | None:
    if importlib.util.find_spec("numba") is None:
        return None
    return importlib.import_module(_COMPILED)


def _is_loaded() -> bool:
    """Tell whether the compiled kernels were loaded before."""
    return _COMPILED in sys.modules


@cache
def _compiled_trees() -> ModuleType | None:
    if importlib.util.find_spec("numba") is None:
        return None
    return importlib.import_module("shafer._kernels.compiled.numba_trees")


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
    found: FloatArray = (_compiled_trees() or trees).tree_shap(forest, paths, rows)
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


def _fast(work: int, *arrays: Array) -> ModuleType | None:
    """Return the fast kernels for these arrays and this amount of work, or None."""
    if isinstance(arrays[0], np.ndarray):
        return _compiled() if work >= _MIN_WEIGHTS_FOR_NUMBA or _is_loaded() else None
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
    kernels = _fast(weights.size, weights) or pooling
    result: Pooled = kernels.pool(weights)
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
    kernels = _fast(contributions.size, contributions) or pooling
    return kernels.additive_weights(contributions, constant)


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
    work = features.shape[0] * features.shape[1] * beta.shape[1]
    kernels = _fast(work, features, centre, beta, offset) or pooling
    result: Pooled = kernels.pool_linear(features, centre, beta, offset)
    return result


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
    kernels = _fast(features.nnz * beta.shape[1], beta) or pooling
    result: Pooled = kernels.pool_linear_sparse(features, centre, beta, offset)
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
    shape = pooled.logits.shape
    kernels = _fast(_WEIGHTS_PER_CLOSED_FORM * math.prod(shape), *pooled)
    if kernels is None:
        if not isinstance(pooled.logits, np.ndarray):
            return reference_closed_forms(pooled)
        kernels = direct_forms
    if len(shape) == 2:
        forms: Forms = kernels.closed_forms(pooled)
        return forms
    rows: Forms = kernels.closed_forms(Pooled(*(a.reshape(-1, shape[-1]) for a in pooled)))
    by_class, scalars = rows[:3], rows[3:]
    return Forms(*(a.reshape(shape) for a in by_class), *(a.reshape(shape[:-1]) for a in scalars))
