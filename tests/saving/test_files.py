from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import shafer
from shafer._files import atomic as _files
from shafer._files.atomic import replacing

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and pipes of POSIX systems")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"two", "three"])  # type: ignore[list-item]
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755, 0o666])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    path.chmod(mode)
    with replacing(path) as file:
        [other] = [p for p in tmp_path.iterdir() if p != path]
        assert mode_of(other) == mode  # before the first byte
        file.write(b"two")
    assert path.read_bytes() == b"two"
    assert mode_of(path) == mode


@posix
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_obeys_the_umask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        with replacing(tmp_path / "file") as file:
            file.write(b"one")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "file") == mode


@posix
def test_rights_of_a_group_are_not_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    path.chmod(0o660)
    real = os.fstat

    def other_group(descriptor: int) -> os.stat_result:
        values = list(real(descriptor))
        values[stat.ST_GID] += 1
        return os.stat_result(values)

    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fstat", other_group)
    monkeypatch.setattr(os, "fchown", refuse)
    with replacing(path) as file:
        file.write(b"two")
    assert mode_of(path) == 0o600


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with replacing(tmp_path / "link") as file:
        file.write(b"two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"two"


@posix
def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    evidence = shafer.Evidence.from_weights(np.ones((2, 3, 2)))
    evidence.save(pipe)
    reader.join(20)
    assert pipe.is_fifo()
    (tmp_path / "copy").write_bytes(received[0])
    np.testing.assert_array_equal(shafer.Evidence.load(tmp_path / "copy").belief, evidence.belief)


@posix
def test_a_pipe_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "_WAIT_FOR_READER", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No program reads the named pipe"):
        shafer.Evidence.from_weights(np.ones((2, 3, 2))).save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


@posix
def test_a_device_stays_a_device() -> None:
    before = os.stat(os.devnull)
    shafer.Evidence.from_weights(np.ones((2, 3, 2))).save(os.devnull)
    assert os.stat(os.devnull).st_mode == before.st_mode
    assert os.stat(os.devnull).st_ino == before.st_ino


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder. Give the name of a file"):
        replacing(tmp_path).__enter__()


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Make it first: '.*missing'"):
        shafer.Evidence.from_weights(np.zeros((1, 1, 2))).save(tmp_path / "missing" / "ev.npz")
