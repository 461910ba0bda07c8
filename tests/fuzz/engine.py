"""The engine: closed forms of dense, linear and sparse weights, compiled and not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import shafer
from shafer._kernels import pooling
from shafer._kernels.compiled import numba_kernels
from shafer._kernels.forms import closed_forms

from .hostile_weights import (
    Size,
    any_precision,
    any_size,
    hostile_array,
    hostile_weights,
    log_uniform,
)
from .invariants import (
    at_most,
    check_closed_forms,
    check_mass_evidence,
    close,
    in_unit_interval,
    rounding,
)

MOST_ENUMERATED = 8  # classes, where all 2^K masses are looked at
MOST_COMPONENT_CLASSES = 24  # G × K, where the components are combined one by one
MOST_ELEMENTS = 2**13  # rows × classes of which everything is checked


def dense(seed: int) -> int:
    """Check evidence from weights as they are."""
    rng = np.random.default_rng(seed)
    weights = hostile_weights(rng, any_size(rng)).astype(any_precision(rng))
    evidence = shafer.Evidence.from_weights(weights)
    check_closed_forms(evidence)
    few = evidence[: max(1, MOST_ELEMENTS // evidence.n_classes)]
    _check_evidence(rng, few)
    _check_compiled(few)
    K, G = few.n_classes, few.n_components
    if K <= MOST_ENUMERATED and K * G <= MOST_COMPONENT_CLASSES:
        _check_components(few[:1000])
    return len(evidence)


def linear(seed: int) -> int:
    """Check the evidence of a linear head, from dense and from sparse features."""
    rng = np.random.default_rng(seed)
    size = Size(log_uniform(rng, 1, 2000), log_uniform(rng, 1, 200), log_uniform(rng, 2, 60))
    largest = float(rng.choice([1.0, 100.0, 1e4]))
    coef = hostile_array(rng, (size.K, size.G), largest)
    intercept = hostile_array(rng, (size.K,), largest)
    features = hostile_array(rng, (size.n, size.G), largest)
    features[rng.random(features.shape) < 0.7] = 0.0
    precision = any_precision(rng)
    head = [a.astype(precision) for a in (coef, intercept, features.mean(axis=0))]
    pool = shafer.least_commitment(*head)
    features = features.astype(precision)
    rows, thin = pool(features), pool(sparse.csr_array(features))
    for evidence in (rows, thin):
        _check_evidence(rng, evidence)
    _check_heads(pool, features, rows, thin)
    return 2 * size.n


def _check_evidence(rng: np.random.Generator, evidence: shafer.Evidence) -> None:
    tolerance = rounding(evidence)
    check_mass_evidence(evidence, tolerance)
    in_unit_interval(evidence.conflict_for_against, "conflict_for_against")
    assert (evidence.weight_of_conflict >= 0).all()
    assert np.isfinite(evidence.weight_of_conflict).all()
    _check_sets(rng, evidence, tolerance)
    if evidence.n_classes <= MOST_ENUMERATED:
        _check_masses(evidence, tolerance)


def _check_sets(
    rng: np.random.Generator, evidence: shafer.Evidence, tolerance: NDArray[np.float64]
) -> None:
    """Check a random set of classes against its complement."""
    inside = rng.random(evidence.n_classes) < 0.5
    chosen, rest = evidence.classes[inside].tolist(), evidence.classes[~inside].tolist()
    belief, plausibility = evidence.belief_of(chosen), evidence.plausibility_of(chosen)
    for name in ("mass_of", "belief_of", "plausibility_of", "commonality_of"):
        in_unit_interval(getattr(evidence, name)(chosen), name)
    close(belief + evidence.plausibility_of(rest), 1.0, tolerance, "Bel(A) + Pl(not A)")
    at_most(belief, plausibility + tolerance, "Bel(A) above Pl(A)")
    at_most(evidence.mass_of(chosen), belief + tolerance, "m(A) above Bel(A)")


def _check_masses(evidence: shafer.Evidence, tolerance: NDArray[np.float64]) -> None:
    """Check the closed forms against all 2^K masses."""
    evidence = evidence[: max(1, 2**14 // 2**evidence.n_classes)]
    tolerance = tolerance[: len(evidence)]
    masses = evidence.masses()
    in_unit_interval(masses, "masses")
    close(masses.sum(axis=-1), 1.0, tolerance, "sum of the masses")
    sets = np.arange(masses.shape[-1])
    for k in range(evidence.n_classes):
        sum_with_k = masses[:, sets >> k & 1 == 1].sum(axis=-1)
        close(sum_with_k, evidence.plausibility[:, k], tolerance, "plausibility by masses")
    close(masses[:, -1], evidence.ignorance, tolerance, "ignorance by masses")


def _check_components(evidence: shafer.Evidence) -> None:
    """Check that Dempster's rule over the components gives the pooled masses.

    It multiplies commonalities; what is left of the total mass is (1 − κ) / Π (1 − κ_g).
    """
    log_own = evidence.components.weight_of_conflict.sum(axis=-1)
    tame = (evidence.weight_of_conflict < 30) & (log_own < 30)
    left = np.exp((log_own - evidence.weight_of_conflict)[tame, None])
    product = _commonalities(evidence.components.masses()).prod(axis=1)[tame, 1:]
    pooled = _commonalities(evidence.masses())[tame, 1:] * left
    tolerance = 4 * rounding(evidence)[tame, None]
    close(product, pooled, tolerance, "Dempster's rule over the components")


def _commonalities(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Q(A), the mass of all sets that contain A, for all 2^K sets."""
    n_classes = masses.shape[-1].bit_length() - 1
    result = masses.reshape(*masses.shape[:-1], *(2,) * n_classes).copy()
    for axis in range(-n_classes, 0):
        without, with_ = (np.take(result, [i], axis=axis) for i in (0, 1))
        result = np.concatenate([without + with_, with_], axis=axis)
    return result.reshape(masses.shape)


def _check_compiled(evidence: shafer.Evidence) -> None:
    """Check the compiled closed forms against the reference."""
    pooled = evidence.pooled
    tolerance = 1e-10 + rounding(evidence)
    found, expected = numba_kernels.closed_forms(pooled), closed_forms(pooled)
    at_most(found.belief, found.plausibility, "compiled belief above plausibility")
    for name, one, other in zip(found._fields, found, expected, strict=True):
        in_unit_interval(one, f"compiled {name}")
        bound = tolerance[:, None] if one.ndim == 2 else tolerance
        close(one, other, bound, f"compiled {name}")


def _check_heads(
    pool: shafer.LinearPool,
    features: NDArray[np.floating],
    rows: shafer.Evidence,
    thin: shafer.Evidence,
) -> None:
    """Check that dense, sparse, compiled and plain sums of one linear head agree."""
    head = pool.means, pool.beta, pool.offset
    x, means, beta, offset = (np.abs(a).astype(np.float64) for a in (features, *head))
    size = (x + means) @ beta + len(means) * offset
    tolerance = 64 * np.finfo(features.dtype).eps * size + 1e-290
    stored = sparse.csr_array(features)
    others = {
        "sparse": thin.pooled,
        "compiled": numba_kernels.pool_linear(features, *head),
        "compiled sparse": numba_kernels.pool_linear_sparse(stored, *head),
        "plain": pooling.pool_linear(features, *head),
        "plain sparse": pooling.pool_linear_sparse(stored, *head),
        "weights": pooling.pool(rows.weights),
    }
    for name, other in others.items():
        for field, one, two in zip(other._fields, rows.pooled, other, strict=True):
            close(one, two, tolerance, f"{name}: {field}")
