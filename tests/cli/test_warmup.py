"""``shafer warmup``: where the kernels go, and one line if they cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.running import refused, run
from shafer._kernels import compilation, warm_up
from shafer._kernels.compiled import numba_kernels


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Compile two small kernels in place of all, into an empty folder."""
    from shafer._kernels.compiled.kernel import kernel

    def of_weights(kernels: Any, dtype: str) -> None:
        assert kernels is numba_kernels
        kernel(error_model="numpy")(lambda x: x)({"float32": 1, "float64": 1.0}[dtype])

    monkeypatch.setattr(warm_up, "_sum_weights", of_weights)
    monkeypatch.setattr(warm_up, "_follow_trees", lambda kernels: None)
    found = [tmp_path / "kernels"]
    monkeypatch.setattr(compilation, "folders", lambda: found)
    return found


def test_kernels_are_compiled_once(few: list[Path]) -> None:
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("2 kernels were compiled in ")
    assert str(few[0]) in result.output.replace("\n", "")
    assert len(list(few[0].iterdir())) == 2
    assert run("warmup").output == "All kernels are compiled already.\n"


def test_no_folder_takes_them(few: list[Path]) -> None:
    few[0].write_text("a file")
    compilation._warn_not_stored.cache_clear()
    refused("2 kernels were compiled, but no folder takes them", "warmup")
    compilation._warn_not_stored.cache_clear()


def test_numba_is_missing_or_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise compilation.UnusableError("NUMBA_DISABLE_JIT switches the compiler off")

    with monkeypatch.context() as patch:
        patch.setattr(warm_up, "warm_up", broken)
        refused("numba cannot compile here: NUMBA_DISABLE_JIT", "warmup")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    refused("numba is not installed", "warmup")
