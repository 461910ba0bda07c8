"""Fashion-MNIST in full, from the files of Debian's package ``dataset-fashion-mnist``."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path("/usr/share/datasets/fashion-mnist")


def load_files(subset: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the images (n, 28, 28) and classes (n,) of ``"train"`` or ``"t10k"``."""
    images = _read(f"{subset}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
    return images, _read(f"{subset}-labels-idx1-ubyte.gz", 8).astype(np.int64)


def _read(name: str, header: int) -> NDArray[Any]:
    path = FOLDER / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path} was not found. Install the images: apt-get install dataset-fashion-mnist "
            "(30 MB), or run: make fashion-mnist"
        )
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)
