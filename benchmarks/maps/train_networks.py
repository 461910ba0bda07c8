"""Train the networks of the study on all 60,000 training images, and keep them in a folder.

``python -m maps.train_networks gap14 --seed 0 --epochs 5`` trains one; the study trains those that
it lacks. About 35 s an epoch on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from maps.fashion_files import load_files
from maps.networks import untrained

FOLDER = Path(__file__).parent.parent / "results" / "maps"
BATCH = 128
EPOCHS = 3


def as_input(images: NDArray[np.uint8]) -> Tensor:
    """Return images (n, H, W) of bytes as a network takes them: (n, 1, H, W) from 0 to 1."""
    return torch.from_numpy(images.astype(np.float32) / 255.0)[:, None]


def trained(architecture: str, seed: int, epochs: int = EPOCHS) -> nn.Sequential:
    """Return a trained network, from the folder if it is there."""
    path = FOLDER / f"{architecture}-{seed}-{epochs}.npz"
    network = untrained(architecture)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _train(network, seed, epochs)
        np.savez(path, **{name: t.numpy() for name, t in network.state_dict().items()})
    with np.load(path) as arrays:
        network.load_state_dict({name: torch.from_numpy(arrays[name]) for name in arrays.files})
    return network.eval()


def accuracy(network: nn.Module) -> float:
    """Return the share of the 10,000 test images that a network gets right."""
    images, y = load_files("t10k")
    with torch.no_grad():
        answers = torch.cat([network(part).argmax(1) for part in as_input(images).split(500)])
    return float((answers.numpy() == y).mean())


def _train(network: nn.Module, seed: int, epochs: int) -> None:
    torch.manual_seed(seed)
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.reset_parameters()
    images, y = load_files("train")
    X, target = as_input(images), torch.from_numpy(y)
    steps = epochs * (len(X) // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
    network.train()
    for _ in range(epochs):
        order = torch.randperm(len(X))[: len(X) // BATCH * BATCH]
        for rows in order.split(BATCH):
            loss = nn.functional.cross_entropy(network(_augmented(X[rows])), target[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    network.eval()


def _augmented(batch: Tensor) -> Tensor:
    """Mirror half of the batches: a garment may face either way."""
    return batch.flip(-1) if torch.rand(()) < 0.5 else batch


def main() -> None:
    """Train one network from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("architecture")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args()
    network = trained(options.architecture, options.seed, options.epochs)
    name = f"{options.architecture}, seed {options.seed}, {options.epochs} epochs"
    print(f"{name}: accuracy {accuracy(network):.4f}")


if __name__ == "__main__":
    main()
