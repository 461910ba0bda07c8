"""Fusion: random sources under every combination rule."""

from __future__ import annotations

from typing import Any

import numpy as np

import shafer

from .hostile_weights import Size, any_precision, hostile_weights, log_uniform
from .invariants import check_mass_evidence, close, rounding

# These go through all 2^K sets. The bold rule refuses sources without inner conflict.
ENUMERATED = ("disjunctive", "dubois_prade")


def fusion(seed: int) -> int:
    """Check what holds of all combinations: ranges, order of sources, vacuous sources."""
    rng = np.random.default_rng(seed)
    size = Size(log_uniform(rng, 1, 500), log_uniform(rng, 1, 4), log_uniform(rng, 2, 20))
    largest = float(rng.choice([5.0, 800.0, 1e8]))
    precision = any_precision(rng)
    sources = [
        shafer.Evidence.from_weights(hostile_weights(rng, size, largest).astype(precision))
        for _ in range(int(rng.integers(2, 5)))
    ]
    cases = _by_weights(sources) + _by_mixtures(rng, sources)
    if size.K <= 4 and largest == 5.0:
        cases += _by_enumeration([source[:20] for source in sources[:2]])
    return cases


def _vacuous_like(evidence: shafer.Evidence) -> shafer.Evidence:
    return shafer.Evidence.from_weights(np.zeros_like(evidence.weights))


def _by_weights(sources: list[shafer.Evidence]) -> int:
    """Check Dempster's and the cautious rule, whose results are evidence again."""
    for combination in ("dempster", "cautious"):
        pooled = shafer.combine(sources, combination)
        tolerance = rounding(pooled)
        check_mass_evidence(pooled, tolerance)
        _agree(shafer.combine(sources[::-1], combination), pooled, tolerance, "order of sources")
        with_vacuous = shafer.combine([*sources, _vacuous_like(sources[0])], combination)
        _agree(with_vacuous, pooled, tolerance, "vacuous source")
    whole = np.concatenate([source.weights for source in sources], axis=1)
    all_components = shafer.Evidence.from_weights(whole)
    tolerance = rounding(all_components)
    _agree(shafer.combine(sources), all_components, tolerance, "components of all sources")
    return 7 * len(sources[0])


def _by_mixtures(rng: np.random.Generator, sources: list[shafer.Evidence]) -> int:
    """Check discounted sources and Yager's rule."""
    n, tolerance = len(sources[0]), 0.0
    for source in sources:
        tolerance = tolerance + rounding(source)
    chances = rng.choice([0.0, 1e-6, 0.5, 0.999, 1.0], (n, len(sources)))
    for combination in ("dempster", "yager"):
        mixed = shafer.combine(sources, combination, reliability=chances)
        check_mass_evidence(mixed, tolerance)
        backwards = shafer.combine(sources[::-1], combination, reliability=chances[:, ::-1])
        _agree(backwards, mixed, tolerance, "order of discounted sources")
    nothing = shafer.combine(sources, reliability=np.zeros((n, len(sources))))
    close(np.asarray(nothing.ignorance), 1.0, 1e-6, "no source is reliable")
    reliable = shafer.combine(sources, reliability=np.ones((n, len(sources))))
    _agree(reliable, shafer.combine(sources), tolerance, "all sources are reliable")
    return 6 * n


def _by_enumeration(sources: list[shafer.Evidence]) -> int:
    """Check the rules that go through all sets of classes."""
    for combination in ENUMERATED:
        found = shafer.combine(sources, combination)
        check_mass_evidence(found, 1e-4)
        _agree(shafer.combine(sources[::-1], combination), found, 1e-4, combination)
        masses = np.asarray(found.masses())
        close(masses.sum(axis=-1), 1.0, 1e-5, f"sum of the masses by {combination}")
    return 2 * len(ENUMERATED) * len(sources[0])


def _agree(first: Any, second: Any, tolerance: Any, name: str) -> None:
    """Check that two combinations give the same beliefs and plausibilities."""
    bound = 1e-6 if second.belief.dtype == np.float32 else 1e-12
    per_class = bound + np.broadcast_to(4 * np.asarray(tolerance), (len(second),))[:, None]
    for quantity in ("belief", "plausibility"):
        one, other = getattr(first, quantity), getattr(second, quantity)
        close(np.asarray(one), np.asarray(other), per_class, f"{name}: {quantity}")
