"""Deletion, insertion and the pointing game, over networks, seeds, images and methods.

Details were chosen on the first split: networks of seed 0, and the first half of the test images.
They are confirmed on the second split: networks of other seeds, and the second half. The scores of
a finished network are kept in ``results/maps``; if the run is stopped, it continues there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from maps.fashion_files import load_files
from maps.image_deletion import areas, fillings
from maps.image_methods import METHODS, Maps, Positions, Subject
from maps.map_times import milliseconds
from maps.networks import ARCHITECTURES
from maps.pointing_game import Games, make_games, positive_share, right_answers, wins
from maps.train_networks import FOLDER, accuracy, as_input, trained

SEPARATOR = " | "
REFERENCE = "captum GradCAM"
IMAGES = 200
GAMES = 200
SLOW = 4  # methods of pixels get the first quarter of them
_BACKGROUND = 200
_TIMED = 16


@dataclass(frozen=True)
class Split:
    """The seeds of the networks, the test images, and the methods."""

    name: str
    seeds: tuple[int, ...]
    rows: slice
    methods: tuple[str, ...]

    def seeds_of(self, architecture: str) -> tuple[int, ...]:
        """Return the seeds of one architecture; the flattened map has one a split."""
        return self.seeds[:1] if architecture.startswith("flat") else self.seeds


_FAST = tuple(name for name in METHODS if "evidence" in name or "GradCAM" in name)
SPLITS = (
    Split("chosen on", (0,), slice(0, 5000), (*_FAST, "random")),
    Split("confirmed on", (1, 2), slice(5000, 10000), tuple(METHODS)),
)
Scores = dict[tuple[str, str], NDArray[np.float64]]  # (method, measure) -> one number an image


def study() -> list[dict[str, Any]]:
    """Return the means, intervals and differences of all splits, networks and methods."""
    rows: list[dict[str, Any]] = []
    bar = tqdm(total=sum(len(s.seeds_of(name)) for s in SPLITS for name in ARCHITECTURES))
    for split in SPLITS:
        for architecture in ARCHITECTURES:
            scores: list[Scores] = []
            for seed in split.seeds_of(architecture):
                scores.append(_kept_scores(architecture, seed, split))
                bar.update()
            rows += _summary(split.name, architecture, scores)
    bar.close()
    return rows


def networks() -> list[dict[str, Any]]:
    """Return the accuracy of each network on the 10,000 test images."""
    return [
        {"network": name, "seed": seed, "accuracy": round(accuracy(trained(name, seed)), 4)}
        for name in ARCHITECTURES
        for split in SPLITS
        for seed in split.seeds_of(name)
    ]


def times() -> list[dict[str, Any]]:
    """Return the milliseconds per image of each method, for a batch of 16."""
    rows = []
    for architecture in ARCHITECTURES:
        subject = _subject(trained(architecture, 0))
        images = as_input(load_files("t10k")[0][:_TIMED])
        classes, rivals = _asked(subject.network, images)
        for method, taken in milliseconds(subject, images, classes, rivals).items():
            rows.append({"network": architecture, "method": method, "ms": float(f"{taken:.3g}")})
    return rows


def _kept_scores(architecture: str, seed: int, split: Split) -> Scores:
    """Return the scores of a network, from the folder if they are there."""
    path = FOLDER / f"scores-{architecture}-{seed}.npz"
    if not path.exists():
        found = _network_scores(trained(architecture, seed), split)
        np.savez(path, **{SEPARATOR.join(key): values for key, values in found.items()})
    with np.load(path) as arrays:
        return {tuple(key.split(SEPARATOR)): arrays[key] for key in arrays.files}


def _network_scores(network: nn.Sequential, split: Split) -> Scores:
    images, y = load_files("t10k")
    X, y = as_input(images[split.rows]), y[split.rows]
    scores = _deletion_scores(_subject(network), X[:IMAGES], split.methods)
    if isinstance(network[-3], nn.AdaptiveAvgPool2d):
        scores |= _pointing_scores(network, X, y, split.methods)
    return scores


def _deletion_scores(subject: Subject, images: Tensor, methods: tuple[str, ...]) -> Scores:
    classes, rivals = _asked(subject.network, images)
    scores: Scores = {}
    for method in methods:
        count = _count(method, len(images))
        X, k = images[:count], classes[:count]
        maps = METHODS[method](subject, X, k, rivals[:count])
        for filling, pixels in fillings(subject, X).items():
            for measure, area in areas(subject, X, k, maps, pixels).items():
                scores[method, f"{measure}, {filling}"] = area
    return scores


def _pointing_scores(
    network: nn.Sequential, X: Tensor, y: NDArray[np.int64], methods: tuple[str, ...]
) -> Scores:
    rng = np.random.default_rng(0)
    known = right_answers(network, X, y)
    games = make_games(X[known], y[known], GAMES, rng)
    images, train_y = load_files("train")
    drawn = rng.permutation(len(images))[: 4 * _BACKGROUND]
    behind = make_games(as_input(images[drawn]), train_y[drawn], _BACKGROUND, rng).images
    subject = Subject(network, behind, behind.mean(0, keepdim=True))
    scores: Scores = {}
    for method in methods:
        maps = _maps_of_both(METHODS[method], subject, games.first(_count(method, len(games.left))))
        scores[method, "pointing"] = _mean_of_halves(wins, maps)
        scores[method, "positive share"] = _mean_of_halves(positive_share, maps)
    return scores


def _count(method: str, images: int) -> int:
    return images if method in (*_FAST, "random") else images // SLOW


def _maps_of_both(make: Any, subject: Subject, games: Games) -> tuple[Maps, Maps]:
    left = make(subject, games.images, games.left, games.right)
    return left, make(subject, games.images, games.right, games.left)


def _mean_of_halves(score: Any, maps: tuple[Maps, Maps]) -> NDArray[np.float64]:
    return np.asarray(score(maps[0], True) + score(maps[1], False)) / 2


def _subject(network: nn.Sequential) -> Subject:
    images, _ = load_files("train")
    background = as_input(images[:_BACKGROUND])
    return Subject(network, background, as_input(images[:5000]).mean(0, keepdim=True))


def _asked(network: nn.Module, images: Tensor) -> tuple[Positions, Positions]:
    """Return the answer and the runner-up for each image."""
    with torch.no_grad():
        best = network(images).topk(2, dim=1).indices.numpy()
    return best[:, 0].astype(np.intp), best[:, 1].astype(np.intp)


def _summary(split: str, architecture: str, scores: list[Scores]) -> list[dict[str, Any]]:
    """Return mean, 95 % interval, and difference from GradCAM with its interval."""
    rows = []
    for method, measure in scores[0]:
        found = [one[method, measure] for one in scores]
        reference = [one[REFERENCE, measure] for one in scores]
        gain = [a - b[: len(a)] for a, b in zip(found, reference, strict=True)]
        rows.append(
            {
                "split": split,
                "network": architecture,
                "measure": measure,
                "method": method,
                "images": sum(map(len, found)),
                "mean": _rounded(np.mean([part.mean() for part in found])),
                "interval": _interval(found),
                "minus_gradcam": _rounded(np.mean([part.mean() for part in gain])),
                "difference_interval": _interval(gain),
            }
        )
    return rows


def _interval(parts: list[NDArray[np.float64]], draws: int = 2000) -> list[float]:
    """Return a 95 % bootstrap interval of the mean over networks; images are drawn anew.

    All networks of a split have the same images, so a draw is the same for all.
    """
    means = np.zeros(draws)
    for part in parts:
        rng = np.random.default_rng(0)
        means += part[rng.integers(0, len(part), (draws, len(part)))].mean(axis=1) / len(parts)
    return [_rounded(end) for end in np.quantile(means, [0.025, 0.975])]


def _rounded(value: Any) -> float:
    return round(float(value), 4)
