"""The five recipes in plain NumPy, and expected entropy reduction to compare with.

Inputs are standardised; NaN is missing. The library computes the same by its own code.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax
from scipy.stats import norm

from asking.knowledge import Floats, Knowledge, LinearGaussian, moderating

Positions = NDArray[np.intp]

CHANCE_OF_CELL = 0.02
CHANCE_OF_ROW = 0.2
SPREAD_OF_ERRORS = 5.0
MOST_REPAIRS = 4
CERTAIN = 0.9
NODES = 9
MOST_COMBINED = 11


def information(known: Knowledge, nodes: int = 128) -> Floats:
    """Return the expected divergence by each missing input, (n, J), by quadrature; −inf if known.

    Gauss and Hermite's nodes: the library sums on an even grid.
    """
    t, weight = np.polynomial.hermite_e.hermegauss(nodes)
    c, variances = _reach(known)
    step = c / np.sqrt(_variance_of_inputs(known))[:, :, None]
    left = np.where(known.unknown[:, :, None], variances[:, None, :] - step**2, 0.0)
    kappa = moderating(np.maximum(left, 0.0))[:, :, None]
    before = log_softmax(moderating(variances)[:, None] * known.logits, axis=1)[:, None, :]
    found = np.zeros(known.unknown.shape)
    for node, share in zip(t, weight / weight.sum(), strict=True):
        after = log_softmax(kappa * (known.logits[:, None, :] + node * step), axis=2)
        found += share * (np.exp(after) * (after - before)).sum(axis=2)
    return np.where(known.unknown, found, -np.inf)


def second_order(known: Knowledge) -> Floats:
    """Return the second-order term of the information, (n, J); −inf if known."""
    c, variances = _reach(known)
    kappa = moderating(variances)
    p = softmax(kappa[:, None] * known.logits, axis=1)[:, :, None]
    spread = ((c * c) @ p - (c @ p) ** 2)[:, :, 0]
    nats = 0.5 * kappa[:, None] ** 2 * spread / _variance_of_inputs(known)
    return np.where(known.unknown, nats, -np.inf)


def entropy_reduction(known: Knowledge, nodes: int = NODES) -> Floats:
    """Return the expected fall of the entropy of p by each missing input, by quadrature."""
    t, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight = weight / weight.sum()
    c, variances = _reach(known)
    step = c / np.sqrt(_variance_of_inputs(known))[:, :, None]
    kappa = moderating(np.maximum(variances[:, None, :] - step**2, 0.0))[:, :, None]
    # Classes first: sums over the classes are then sums of long arrays.
    start = np.moveaxis(kappa * known.logits[:, None, :], 2, 0).copy()
    step = np.moveaxis(kappa * step, 2, 0).copy()
    after = np.zeros(step.shape[1:])
    for node, share in zip(t, weight, strict=True):
        after += share * _entropy(start + node * step)
    before = _entropy((moderating(variances)[:, None] * known.logits).T)
    return np.where(known.unknown, before[:, None] - after, -np.inf)


def _entropy(logits: Floats) -> Floats:
    """Return the entropy of the softmax over the first axis, with few passes."""
    shifted = logits - logits.max(axis=0)
    e = np.exp(shifted)
    total = e.sum(axis=0)
    return np.log(total) - (e * shifted).sum(axis=0) / total


def _reach(known: Knowledge) -> tuple[Floats, Floats]:
    """Return c = Sβ, (n, J, K), and the variances of the logits, (n, K)."""
    n, J = known.mean.shape
    c = (known.covariance.reshape(n * J, J) @ known.model.beta).reshape(n, J, -1)
    return c, np.einsum("njk,jk->nk", c, known.model.beta)


def _variance_of_inputs(known: Knowledge) -> Floats:
    """Return S_jj, (n, J), and 1 where an input is known."""
    return np.where(known.unknown, np.diagonal(known.covariance, axis1=1, axis2=2), 1.0)


def overturn(known: Knowledge) -> Floats:
    """Return the chance that the missing inputs change the decision, (n,)."""
    z = known.logits
    rows = np.arange(len(z))
    a = z.argmax(axis=1)
    beta = known.model.beta
    difference = beta.T[a][:, :, None] - beta  # (n, J, K): β_a − β_k
    variance = ((known.covariance @ difference) * difference).sum(axis=1)
    return _falls(rows, a, z, np.sqrt(np.maximum(variance, 0.0)))


def _falls(rows: Positions, a: Positions, mean: Floats, sd: Floats) -> Floats:
    """Return 1 − Π_{k≠a} Φ((mean_a − mean_k) / sd_k); without spread the decision stands."""
    ahead = mean[rows, a][:, None] - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        log_stands = norm.logcdf(ahead / sd)
    log_stands = np.where(sd > 0.0, log_stands, np.where(ahead >= 0.0, 0.0, -np.inf))
    log_stands[rows, a] = 0.0
    return -np.expm1(log_stands.sum(axis=1))


def normal_fragility(z: Floats, parts: Floats, q: float) -> Floats:
    """Return the chance that the decision falls if each component is lost with chance q.

    ``z`` (n, K) are the logits, ``parts`` (n, G, K) what each component would take with it. The sum
    of what is lost is taken as normal.
    """
    rows = np.arange(len(z))
    a = z.argmax(axis=1)
    d = parts[rows, :, a][:, :, None] - parts  # (n, G, K)
    left = z[rows, a][:, None] - z - q * d.sum(axis=1)
    sd = np.sqrt(q * (1.0 - q) * (d**2).sum(axis=1))
    return _falls(rows, a, -left, sd)


def fragility(z: Floats, parts: Floats, q: float) -> Floats:
    """Return the same, by all combinations of losses for up to eleven components."""
    n_parts = parts.shape[1]
    if n_parts > MOST_COMBINED:
        return normal_fragility(z, parts, q)
    rows, a = np.arange(len(z)), z.argmax(axis=1)
    chance = np.zeros(len(z))
    for lost in product((False, True), repeat=n_parts):
        left = z - parts[:, list(lost)].sum(axis=1)
        falls = left.max(axis=1) - left[rows, a] > 1e-9  # a tie stands
        chance += np.where(falls, q ** sum(lost) * (1.0 - q) ** (n_parts - sum(lost)), 0.0)
    return chance


def residuals(model: LinearGaussian, x: Floats) -> tuple[Floats, Floats]:
    """Return x_j minus its expectation given the other inputs, (n, J), and its spread, (J,)."""
    diagonal = np.diag(model.precision)
    return x @ model.precision / diagonal, 1.0 / np.sqrt(diagonal)


def stakes(model: LinearGaussian, x: Floats) -> tuple[Floats, Floats]:
    """Return the surprise c_j of every cell, and what its error would be worth, both (n, J)."""
    r, sd = residuals(model, x)
    c = np.abs(r) / sd
    z = model.logits(x)
    log_p = log_softmax(z, axis=1)[:, None, :]
    log_without = log_softmax(z[:, None, :] - r[:, :, None] * model.beta, axis=2)
    divergence = (np.exp(log_without) * (log_without - log_p)).sum(axis=2)
    wrong = expit(np.log(CHANCE_OF_CELL) + _log_odds(c))
    return c, wrong * divergence


def _log_odds(c: Floats) -> Floats:
    """Return the log-odds by which a surprise c favours an error of spread τ."""
    tau2 = SPREAD_OF_ERRORS**2
    return -0.5 * np.log1p(tau2) + 0.5 * c**2 * tau2 / (1.0 + tau2)


def guard(model: LinearGaussian, x: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return guarded probabilities (n, K), the alarm (n,), and the repaired cells (n, J)."""
    repaired = np.zeros(x.shape, dtype=bool)
    probability, wrong = _hypotheses(model, x, repaired)
    alarm = wrong.sum(axis=1)
    active = np.arange(len(x))
    for _ in range(MOST_REPAIRS):
        worst = wrong.argmax(axis=1)
        certain = wrong[np.arange(len(active)), worst] > CERTAIN
        active, worst = active[certain], worst[certain]
        if not len(active):
            break
        repaired[active, worst] = True
        probability[active], wrong = _hypotheses(model, x[active], repaired[active])
    return probability, alarm, repaired


def _hypotheses(
    model: LinearGaussian, x: Floats, repaired: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Answer as if at most one cell more were wrong: probabilities, and P_j of every cell."""
    n, J = x.shape
    known = Knowledge.of(model, np.where(repaired, np.nan, x))
    # What is left of the precision and the coefficients when the repaired cells are integrated out.
    reach = model.precision @ known.covariance  # (n, J, J)
    precision = model.precision - reach @ model.precision
    beta = model.beta - reach @ model.beta  # (n, J, K)
    diagonal = np.where(repaired, 1.0, np.diagonal(precision, axis1=1, axis2=2))
    r = (precision @ np.where(repaired, 0.0, x)[:, :, None])[:, :, 0] / diagonal
    log_odds = np.log(CHANCE_OF_ROW / J / (1.0 - CHANCE_OF_ROW)) + _log_odds(
        np.abs(r) * np.sqrt(diagonal)
    )
    log_odds = np.where(repaired, -np.inf, log_odds)
    share = softmax(np.column_stack([np.zeros(n), log_odds]), axis=1)  # P_0, P_1, ..., P_J
    z = known.logits[:, None, :] - r[:, :, None] * beta
    kappa = moderating(known.variances[:, None, :] + beta**2 / diagonal[:, :, None])
    without = softmax(kappa[:, :, None] * z, axis=2)
    answer = share[:, :1] * known.probability + (share[:, 1:, None] * without).sum(axis=1)
    return answer, share[:, 1:]
