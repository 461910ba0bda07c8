"""Files: saved evidence that was cut, flipped or overwritten is refused or reads the same."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy import sparse

import shafer

from .hostile_weights import Size, any_precision, hostile_array, hostile_weights, log_uniform

DAMAGED_PER_FILE = 40
QUANTITIES = ("belief", "plausibility", "probability", "weights", "ignorance", "conflict")


def files(seed: int) -> int:
    """Save random evidence, damage the file in many ways, and load each."""
    rng = np.random.default_rng(seed)
    evidence = _any_evidence(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evidence.npz"
        evidence.save(path)
        _check_same(shafer.Evidence.load(path), evidence)
        whole = path.read_bytes()
        for _ in range(DAMAGED_PER_FILE):
            path.write_bytes(damaged(rng, whole))
            with suppress(ValueError):
                _check_same(shafer.Evidence.load(path), evidence)
    return DAMAGED_PER_FILE + 1


def _any_evidence(rng: np.random.Generator) -> shafer.Evidence:
    """Draw evidence of every kind of source: dense, linear, sparse, tempered, joined."""
    size = Size(log_uniform(rng, 1, 30), log_uniform(rng, 1, 8), log_uniform(rng, 2, 6))
    precision = any_precision(rng)
    dense = shafer.Evidence.from_weights(
        hostile_weights(rng, size, 800.0).astype(precision),
        classes=[f"κλάση {k}" for k in range(size.K)] if rng.random() < 0.5 else None,
    )
    head = [hostile_array(rng, shape, 40.0) for shape in ((size.K, size.G), (size.K,), (size.G,))]
    pool = shafer.least_commitment(*(a.astype(precision) for a in head), classes=dense.classes)
    features = hostile_array(rng, (size.n, size.G), 40.0).astype(precision)
    kinds = {
        "dense": lambda: dense,
        "linear": lambda: pool(features),
        "sparse": lambda: pool(sparse.csr_array(features)),
        "tempered": lambda: pool(features).tempered(rng.random(size.n)),
        "joined": lambda: shafer.combine({"a": dense, "b": pool(features)}),
    }
    return kinds[str(rng.choice(list(kinds)))]()


def damaged(rng: np.random.Generator, whole: bytes) -> bytes:
    """Cut the file, flip bits, overwrite a run, move a run, or repeat the end."""
    content = bytearray(whole)
    start, stop = sorted(rng.integers(0, len(whole) + 1, 2).tolist())
    kind = rng.integers(6)
    if kind == 0:
        return bytes(content[:stop])
    if kind == 1:
        for position in rng.integers(0, len(content), int(rng.integers(1, 9))):
            content[position] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        content[start : start + 16] = rng.bytes(16)
    elif kind == 3:
        del content[start:stop]
    elif kind == 4:
        content[start:start] = content[start:stop]
    else:
        content += content[start:]
    return bytes(content)


def _check_same(found: shafer.Evidence, expected: shafer.Evidence) -> None:
    """Check that a damaged file that still loads gives the same data."""
    assert found.component_names == expected.component_names, "names differ"
    assert found.classes.tolist() == expected.classes.tolist(), "classes differ"
    for name in QUANTITIES:
        one, other = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert np.array_equal(one, other), f"{name} differs after loading"
