r"""The network of §5.2, many at once: 2-20-10-3, rectified linear units, dropout, softmax.

Every tensor has a leading axis of networks, each with its own data, initial weights and dropout, so
that forty of them cost little more than one. Settings that the paper leaves open are the defaults
of Keras: Glorot's uniform initial weights, zero biases, Adam with a learning rate of 0.001, and a
penalty :math:`\lambda \sum W^2` added to the mean loss of a mini-batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shafer._typing import FloatArray

SIZES = (2, 20, 10, 3)
DROPOUT = 0.5
BATCH = 100
RATE = 0.001


@final
@dataclass(frozen=True, eq=False)
class Networks:
    """S trained networks.

    Attributes
    ----------
    weights : tuple of three tensors of shape (S, inputs, outputs)
    biases : tuple of three tensors of shape (S, 1, outputs)
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.weights[0])

    def __getitem__(self, s: int) -> Networks:
        """Take one network."""
        one = slice(s, s + 1)
        return Networks(tuple(w[one] for w in self.weights), tuple(b[one] for b in self.biases))

    def hidden(self, X: Tensor, kept: Tensor | None = None) -> Tensor:
        """Return the outputs of the last hidden layer, (S, n, 10), of data (S, n, 2).

        ``kept`` is the dropout mask of the first layer, (S, n, 20); none is dropped without it.
        """
        first = torch.relu(torch.baddbmm(self.biases[0], X, self.weights[0]))
        if kept is not None:
            first = first * kept
        return torch.relu(torch.baddbmm(self.biases[1], first, self.weights[1]))

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the logits, (S, n, 3)."""
        return torch.baddbmm(self.biases[2], hidden, self.weights[2])

    def features(self, X: FloatArray) -> FloatArray:
        """Return the outputs of the last hidden layer of the only network, (n, 10)."""
        with torch.no_grad():
            outputs: FloatArray = self.hidden(as_tensor(X[None]))[0].double().numpy()
        return outputs

    def head(self) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients (3, 10) and intercepts (3,) of the only network's last layer."""
        return self.weights[2][0].double().numpy().T, self.biases[2][0, 0].double().numpy()

    def copied(self) -> Networks:
        """Return a copy that further training does not touch."""
        return Networks(
            tuple(w.detach().clone() for w in self.weights),
            tuple(b.detach().clone() for b in self.biases),
        )


def as_tensor(array: NDArray[Any]) -> Tensor:
    """Return single precision for numbers, as PyTorch trains; integers stay."""
    return torch.from_numpy(array.astype(np.float32) if array.dtype.kind == "f" else array)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep PyTorch to one thread, so that sums come out alike in every run."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _initial(count: int, random: torch.Generator) -> Networks:
    """Draw Glorot's uniform weights; biases are zero."""
    weights, biases = [], []
    for inputs, outputs in pairwise(SIZES):
        bound = (6.0 / (inputs + outputs)) ** 0.5
        drawn = torch.rand(count, inputs, outputs, generator=random)
        weights.append(((2.0 * drawn - 1.0) * bound).requires_grad_())
        biases.append(torch.zeros(count, 1, outputs, requires_grad=True))
    return Networks(tuple(weights), tuple(biases))


def _loss(networks: Networks, X: Tensor, y: Tensor, penalty: Tensor, kept: Tensor) -> Tensor:
    """Return the sum over networks of mean log loss and penalty; each has its own gradient."""
    log_probability = torch.log_softmax(networks.logits(networks.hidden(X, kept)), dim=-1)
    fit = -log_probability.gather(2, y[..., None]).mean(dim=(1, 2))
    return (fit + penalty * networks.weights[2].square().sum(dim=(1, 2))).sum()


def train_networks(
    X: FloatArray,
    y: NDArray[np.int64],
    penalty: FloatArray,
    checkpoints: Collection[int],
    seed: int,
    progress: Callable[[range], Any] = iter,
) -> Iterator[tuple[int, Networks]]:
    r"""Train S networks and give them at some numbers of epochs.

    Parameters
    ----------
    X, y : arrays of shape (S, n, 2) and (S, n)
        One training set for each network.
    penalty : array of shape (S,)
        The coefficient :math:`\lambda` of each network.
    checkpoints : collection of int
        Numbers of epochs at which to give the networks; the largest ends the training.
    seed : int
        Seed of initial weights, order of instances and dropout.
    progress : function, optional
        Wraps the epochs for a progress bar.

    Yields
    ------
    epochs, networks
    """
    data, truth, strength = as_tensor(X), as_tensor(y), as_tensor(penalty)
    count, n = truth.shape
    random = torch.Generator().manual_seed(seed)
    networks = _initial(count, random)
    optimizer = torch.optim.Adam([*networks.weights, *networks.biases], lr=RATE, fused=True)
    for epoch in progress(range(1, max(checkpoints) + 1)):
        order = torch.rand(count, n, generator=random).argsort(dim=1)
        shuffled = data.gather(1, order[..., None].expand(-1, -1, data.shape[2]))
        classes = truth.gather(1, order)
        for start in range(0, n, BATCH):
            batch = slice(start, start + BATCH)
            drawn = torch.rand(count, min(BATCH, n - start), SIZES[1], generator=random)
            kept = (drawn >= DROPOUT) / (1.0 - DROPOUT)
            optimizer.zero_grad()
            loss = _loss(networks, shuffled[:, batch], classes[:, batch], strength, kept)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        if epoch in checkpoints:
            yield epoch, networks.copied()
