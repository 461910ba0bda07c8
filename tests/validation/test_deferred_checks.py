"""Checks that wait until they can be read together."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from shafer._checks import check_later, deferred_checks


class _OnDevice(torch.Tensor):
    """A tensor that says it is on a CUDA device."""

    is_cuda = True


def _flag(value: bool) -> torch.Tensor:
    return torch.tensor(value).as_subclass(_OnDevice)


def _fails(text: str) -> None:
    raise ValueError(text)


def test_elsewhere_they_are_read_at_once() -> None:
    with deferred_checks():
        check_later(np.asarray(True), lambda: _fails("no"))
        with pytest.raises(ValueError, match="first"):
            check_later(torch.tensor(False), lambda: _fails("first"))


def test_on_a_device_they_wait() -> None:
    seen = []

    def inside() -> None:
        with deferred_checks():
            check_later(_flag(True), lambda: _fails("true"))
            with deferred_checks():  # the outer one reads them
                check_later(_flag(False), lambda: seen.append("repaired"))
                check_later(_flag(False), lambda: _fails("second"))
            seen.append("reached")

    with pytest.raises(ValueError, match="second"):
        inside()
    assert seen == ["reached", "repaired"]
    with pytest.raises(ValueError, match="alone"):
        check_later(_flag(False), lambda: _fails("alone"))


def test_they_come_before_errors_that_they_caused() -> None:
    def inside() -> None:
        with deferred_checks():
            check_later(_flag(False), lambda: _fails("the cause"))
            raise KeyError("the consequence")

    with pytest.raises(ValueError, match="the cause"):
        inside()
