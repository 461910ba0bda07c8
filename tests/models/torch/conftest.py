from __future__ import annotations

import pytest
import torch
from sklearn.datasets import load_iris
from torch import Tensor


@pytest.fixture(scope="module", autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def iris() -> tuple[Tensor, Tensor]:
    X, y = load_iris(return_X_y=True)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y)
