from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from shafer._files.archive import check_array, open_archive, read_array, read_member


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
