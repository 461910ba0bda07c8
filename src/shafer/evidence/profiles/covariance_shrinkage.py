"""How far to pull an estimated covariance towards a multiple of the identity."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray

# Less would leave directions without any variance, which cannot be divided by.
LEAST_SHRINKAGE = 1e-6


def shrinkage_intensity(centred: FloatArray, share: FloatArray | None = None) -> float:
    r"""Return the intensity δ in (0, 1] of Ledoit and Wolf (2004) for centred rows x, (n, p).

    With shares q of the rows (1/n by default), S = Σ q x xᵀ and its mean variance m = tr S / p,

    .. math:: \delta = \min\Bigl(1, \frac{\sum_i q_i^2 \lVert x_i x_i^T - S\rVert^2}
              {\lVert S - m I\rVert^2}\Bigr),

    and (1 − δ) S + δ m I is expected to be closer to the true covariance than S. It is never less
    than 1e-6, so that the result can be inverted. Norms are Frobenius'; nothing larger than the
    smaller of (n, n) and (p, p) is formed.
    """
    n, p = centred.shape
    share = np.full(n, 1.0 / n) if share is None else share
    scaled = centred * np.sqrt(share)[:, None]
    small = scaled @ scaled.T if n < p else scaled.T @ scaled
    squared = float((small**2).sum())  # ‖S‖², the same for either product
    trace = float((scaled**2).sum())
    if n < p:
        images = np.einsum("ij,ij->i", small, small)  # q x'Sx = the row's squared norm in Gram form
    else:
        images = share * np.einsum("ij,ij->i", centred @ small, centred)
    norms = (centred**2).sum(axis=1)
    # Σ q² (‖x‖⁴ − 2 x'Sx + ‖S‖²)
    scatter = (share * norms) @ (share * norms) - 2.0 * share @ images
    scatter += squared * float(share @ share)
    distance = squared - trace**2 / p
    if scatter <= 0.0 or distance <= 0.0:
        return LEAST_SHRINKAGE
    return float(np.clip(scatter / distance, LEAST_SHRINKAGE, 1.0))
