"""Files are written whole or not at all, and archives are read within limits."""

from __future__ import annotations

import io
import os
import stat
import sys
import threading
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import shafer
from shafer._files import atomic as _files
from shafer._files.archive import check_array, open_archive, read_array, read_member
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


# Safe archive.


def archive_of(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names given twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return buffer


def test_a_plain_archive() -> None:
    raw = io.BytesIO()
    np.save(raw, np.arange(6.0).reshape(2, 3))
    with open_archive(archive_of(("a.npy", raw.getvalue()), ("b", b"text"))) as archive:
        assert check_array(archive, "a.npy") == ((2, 3), np.dtype(float))
        np.testing.assert_array_equal(read_array(archive, "a.npy"), [[0, 1, 2], [3, 4, 5]])
        assert read_member(archive, "b") == b"text"
        with pytest.raises(ValueError, match="'b' has 4 bytes; at most 3"):
            read_member(archive, "b", most=3)
        with pytest.raises(ValueError, match="no member 'c'"):
            read_member(archive, "c")
        with pytest.raises(ValueError, match="'b' is not a NumPy array"):
            check_array(archive, "b")


@pytest.mark.parametrize("n", [1, 10**9])
def test_elements_without_bytes_are_refused(n: int) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|V0", "fortran_order": False, "shape": (n,)}
    )
    with (
        open_archive(archive_of(("a.npy", header.getvalue()))) as archive,
        pytest.raises(ValueError, match=r"its array 'a\.npy' has elements of 0 bytes"),
    ):
        check_array(archive, "a.npy")


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../up", "a/../../b", "a\\..\\b", "C:\\x", "a//b", "\x1b[2J"]
)
def test_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match="does not have a plain file name") as caught:
        open_archive(archive_of((name, b"x")))
    assert "\x1b" not in str(caught.value)


def test_members_that_are_refused() -> None:
    with pytest.raises(ValueError, match="2 members named 'a'"):
        open_archive(archive_of(("a", b"1"), ("b", b"2"), ("a", b"3")))
    with pytest.raises(ValueError, match="by another method than zip's usual one"):
        open_archive(archive_of(("a", b"1"), method=zipfile.ZIP_LZMA))
    raw = bytearray(archive_of(("a", b"1")).getvalue())
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ValueError, match="is encrypted"):
        open_archive(io.BytesIO(bytes(raw)))


def test_a_bomb() -> None:
    bomb = archive_of(("a", b"\0" * 2**26), method=zipfile.ZIP_DEFLATED)
    assert len(bomb.getvalue()) < 2**17
    with pytest.raises(ValueError, match="would unpack to 67,108,864 bytes"):
        open_archive(bomb)
    large = np.random.default_rng(0).bytes(2**20)
    with open_archive(archive_of(*((f"{i}", large) for i in range(30)))) as archive:
        assert len(archive.namelist()) == 30  # a large file may hold much


def test_files_cut_short(tmp_path: Path) -> None:
    whole = archive_of(("a", b"x" * 1000)).getvalue()
    for cut in range(0, len(whole), 97):
        with pytest.raises(ValueError, match="not a complete zip archive"):
            open_archive(io.BytesIO(whole[:cut]))
    damaged = whole.replace(b"x" * 10, b"y" * 10, 1)
    with (
        open_archive(io.BytesIO(damaged)) as archive,
        pytest.raises(ValueError, match="'a' is damaged"),
    ):
        read_member(archive, "a")
