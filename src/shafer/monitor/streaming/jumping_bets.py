r"""Bets against uniform p-values: a martingale that grows when the p-values are not uniform.

The *simple jumper* of Vovk, Petej, Nouretdinov, Ahlberg, Carlsson and Gammerman (2021, "Retrain or
not retrain") holds capital on bets :math:`1 + \varepsilon (p - 1/2)` with
:math:`\varepsilon \in \{-1, 0, 1\}`. Before each row, a share J of the capital is spread evenly
over the three. Here the capital is divided evenly over six such jumpers: three rates J, from slow
to fast, each betting on p (a shift of location) and on :math:`|2p - 1|` (a change of spread). Each
factor has mean 1 for uniform p, so the total is a martingale. By Ville's inequality it ever
reaches 1/α with a chance of at most α.
"""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray

_EPSILONS = np.array([-1.0, 0.0, 1.0])
_RATES = np.array([1e-4, 1e-3, 1e-2, 1e-4, 1e-3, 1e-2])  # slow, middle, fast; twice
N_JUMPERS, N_BETS = len(_RATES), len(_EPSILONS)


def first_capital(n_items: int) -> tuple[FloatArray, FloatArray]:
    """Return the capital before the first row: shares (C, 6, 3) of a bet, and logarithms (C, 6)."""
    return np.full((n_items, N_JUMPERS, N_BETS), 1.0 / N_BETS), np.zeros((n_items, N_JUMPERS))


def bet(
    shares: FloatArray, log_capital: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shares and logarithms of the capital after one row with p-values (C,)."""
    half = N_JUMPERS // 2
    seen = np.empty((len(p), N_JUMPERS))
    seen[:, :half] = p[:, None]
    seen[:, half:] = np.abs(2.0 * p - 1.0)[:, None]
    mixed = shares * (1.0 - _RATES)[:, None] + (_RATES / N_BETS)[:, None]
    grown = mixed * (1.0 + _EPSILONS * (seen - 0.5)[:, :, None])
    total = grown.sum(axis=2)
    return grown / total[:, :, None], log_capital + np.log(total)


def log_martingale(log_capital: FloatArray) -> FloatArray:
    """Return the logarithm of each item's total capital, (C,), from (C, 6)."""
    largest = log_capital.max(axis=1)
    log: FloatArray = largest + np.log(np.exp(log_capital - largest[:, None]).mean(axis=1))
    return log
