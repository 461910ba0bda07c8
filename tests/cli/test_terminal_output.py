"""Text on terminals of all kinds."""

from __future__ import annotations

import sys

import pytest

from shafer._terminal import note

from .running import shell


def test_letters_a_terminal_does_not_have() -> None:
    done = shell("explain", "--row", 17, PYTHONIOENCODING="cp1252")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("cp1252")
    assert "typea 78         +0.99  ########################" in text
    assert "obesity 32.73    -0.42" in text
    assert "\ufffd" not in text


def test_a_narrow_terminal() -> None:
    done = shell("explain", "--row", 17, COLUMNS="60", PYTHONIOENCODING="utf-8")
    assert max(map(len, done.stdout.decode().splitlines())) <= 60


@pytest.mark.parametrize("watching", [True, False])
def test_what_takes_long_is_said_beside_the_output(
    watching: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watching)
    note("Reading …")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == ("Reading …\n" if watching else "")
