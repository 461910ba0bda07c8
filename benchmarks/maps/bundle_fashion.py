"""Write the images and the network that ``shafer.datasets`` carries.

``python -m maps.bundle_fashion`` needs Debian's package, and trains the network if it is not there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maps.fashion_files import load_files
from maps.train_networks import accuracy, trained

DATA = Path(__file__).parent.parent.parent / "src" / "shafer" / "datasets" / "data"
EPOCHS = 8


def first_of_each(y: NDArray[np.int64], count: int) -> NDArray[np.intp]:
    """Return the rows of the first ``count`` images of each class, in the order of the files."""
    rows = [np.flatnonzero(y == k)[:count] for k in range(10)]
    return np.sort(np.concatenate(rows))


def main() -> None:
    """Write both files."""
    arrays = {}
    for name, file, count in (("train", "train", 20), ("test", "t10k", 30)):
        images, y = load_files(file)
        rows = first_of_each(y, count)
        arrays[f"{name}_images"], arrays[f"{name}_target"] = images[rows], y[rows].astype(np.uint8)
    np.savez_compressed(DATA / "fashion.npz", **arrays)
    network = trained("gap7", 0, EPOCHS)
    state = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    np.savez_compressed(DATA / "fashion_network.npz", **state)
    print(f"accuracy of the network on the test images: {accuracy(network):.4f}")


if __name__ == "__main__":
    main()
