from __future__ import annotations

import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from shafer.datasets import load_fashion, load_fashion_network


@pytest.mark.parametrize(("subset", "each"), [("test", 30), ("train", 20)])
def test_images(subset: str, each: int) -> None:
    fashion = load_fashion(subset)
    assert fashion.images.shape == (10 * each, 28, 28)
    assert fashion.images.dtype == np.uint8
    assert np.array_equal(fashion.data.reshape(fashion.images.shape), fashion.images)
    names, counts = np.unique(fashion.target, return_counts=True)
    assert set(names) == set(fashion.target_names)
    assert (counts == each).all()
    assert "MIT licence" in fashion.DESCR
    images, target = load_fashion(subset, return_X_y=True)
    assert np.array_equal(images, fashion.images)
    assert np.array_equal(target, fashion.target)


def test_subsets_differ() -> None:
    train = {image.tobytes() for image in load_fashion("train").images}
    test = {image.tobytes() for image in load_fashion("test").images}
    assert len(train) == 200
    assert len(test) == 300
    assert not train & test
    with pytest.raises(ValueError, match="subset must be 'test' or 'train'; got 'both'"):
        load_fashion("both")


def test_files_are_small_and_licensed() -> None:
    folder = resources.files("shafer.datasets").joinpath("data")
    assert len(folder.joinpath("fashion.npz").read_bytes()) < 300_000
    assert len(folder.joinpath("fashion_network.npz").read_bytes()) < 200_000
    assert "Copyright (c) 2017 Zalando SE" in folder.joinpath("fashion_LICENSE.txt").read_text()


def test_images_need_no_torch() -> None:
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.split('.')[0] == 'torch': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import shafer; print(shafer.datasets.load_fashion().images.shape)\n"
        "try: shafer.datasets.load_fashion_network()\n"
        "except ImportError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == (
        "(300, 28, 28)\nload_fashion_network needs PyTorch. Run: pip install torch\n"
    )


def test_network_takes_any_size() -> None:
    import torch

    fashion, network = load_fashion(), load_fashion_network()
    assert not network.training
    images = torch.from_numpy(fashion.images / 255.0).float()[:, None]
    with torch.no_grad():
        answers = network(images).argmax(1).numpy()
        assert network(torch.zeros(2, 1, 28, 56)).shape == (2, 10)
    assert (fashion.target_names[answers] == fashion.target).mean() > 0.87
