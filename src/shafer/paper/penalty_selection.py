r"""Choosing the penalty and the number of epochs by 10-fold cross-validation.

The criterion is the log loss of held-out instances; it uses neither the test set nor any figure of
the paper. The penalty :math:`\lambda` is the one with the smallest loss at its best number of
epochs. The number of epochs, given :math:`\lambda`, follows the rule of one standard error: the
smallest whose loss is within one standard error of the least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from sklearn.model_selection import KFold

from shafer._typing import FloatArray
from shafer.paper.gaussian_experiment import N_TRAIN, draw_samples
from shafer.paper.network import as_tensor, one_thread, train_networks

FOLDS = 10
PENALTIES = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


@final
@dataclass(frozen=True, eq=False)
class Selection:
    """Cross-validated log loss over a grid.

    Attributes
    ----------
    penalties : tuple of L floats
    epochs : tuple of E ints
    loss : array of shape (L, E)
        Mean over the folds.
    standard_error : array of shape (L, E)
        Of that mean, from the spread over the folds.
    """

    penalties: tuple[float, ...]
    epochs: tuple[int, ...]
    loss: FloatArray
    standard_error: FloatArray

    @property
    def penalty(self) -> float:
        """The penalty with the smallest loss at its best number of epochs."""
        return self.penalties[int(np.argmin(self.loss.min(axis=1)))]

    def epochs_for(self, penalty: float) -> int:
        """Return the smallest number of epochs within one standard error of the best."""
        row = self.penalties.index(penalty)
        best = int(np.argmin(self.loss[row]))
        bound = self.loss[row, best] + self.standard_error[row, best]
        return self.epochs[int(np.argmax(self.loss[row] <= bound))]


def cross_validate(
    seed: int,
    checkpoints: Sequence[int],
    penalties: Sequence[float] = PENALTIES,
    progress: Callable[[range], Any] = iter,
) -> Selection:
    """Cross-validate on the training set of the first network, all folds and penalties at once.

    Parameters
    ----------
    seed : int
        The seed of the run.
    checkpoints : sequence of int
        Numbers of epochs to compare.
    penalties : sequence of float
        Values of λ to compare.
    progress : function, optional
        Wraps the epochs for a progress bar.
    """
    (sample,) = draw_samples(1, N_TRAIN, (seed, 1))
    folds = list(KFold(FOLDS, shuffle=True, random_state=seed).split(sample.X))
    # N_TRAIN is a multiple of FOLDS, so the folds have one size and stack.
    X, y = (np.stack([part[rows] for rows, _ in folds] * len(penalties)) for part in sample)
    X_out, y_out = (
        as_tensor(np.stack([part[rows] for _, rows in folds] * len(penalties))) for part in sample
    )
    losses = []
    with one_thread():
        strength = np.repeat(penalties, FOLDS)
        for _, networks in train_networks(X, y, strength, checkpoints, seed, progress):
            with torch.no_grad():
                logits = networks.logits(networks.hidden(X_out))
                loss = -torch.log_softmax(logits, dim=-1).gather(2, y_out[..., None])
            losses.append(loss.mean(dim=(1, 2)).double().numpy().reshape(len(penalties), FOLDS))
    by_fold = np.stack(losses, axis=1)  # (L, E, folds)
    return Selection(
        tuple(penalties),
        tuple(sorted(checkpoints)),
        by_fold.mean(axis=2),
        by_fold.std(axis=2, ddof=1) / FOLDS**0.5,
    )
