"""``PendingChecks``: checks on a device whose results are read together, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, final

import torch
from torch import Tensor


@final
class PendingChecks:
    """Conditions computed on a device; reading one of them would wait for all work before it."""

    def __init__(self) -> None:
        self._flags: list[Tensor] = []
        self._failures: list[Callable[[], NoReturn]] = []

    def add(self, holds: Tensor, failure: Callable[[], NoReturn]) -> None:
        """Note a condition, a boolean tensor of one element, and what raises the error."""
        self._flags.append(holds.reshape(()))
        self._failures.append(failure)

    def settle(self) -> None:
        """Read all conditions at once, and raise the error of the first that does not hold."""
        if not self._flags:
            return
        held = torch.stack(self._flags).tolist()
        failures = self._failures
        self._flags, self._failures = [], []
        for holds, failure in zip(held, failures, strict=True):
            if not holds:
                failure()
