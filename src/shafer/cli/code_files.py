"""The user's reason codes: a CSV file with the columns component, code and, optionally, text."""

from __future__ import annotations

from pathlib import Path

from shafer._text import listed
from shafer.cli.table_files import read_texts


def read_codes(path: Path) -> dict[str, tuple[str, str | None]]:
    """Return the code and the text of each component, as they are written in the file.

    Raises
    ------
    ValueError
        If the file has other columns, a component twice, or a component without a code.
    """
    frame = read_texts(path)
    names = set(frame.columns)
    if not {"component", "code"} <= names <= {"component", "code", "text"}:
        raise ValueError(
            f"{path} must have the columns 'component' and 'code', and may have 'text'; it has "
            f"{listed(frame.columns)}."
        )
    if not len(frame):
        raise ValueError(f"{path} has no rows. Give at least one component with its code.")
    texts = frame["text"] if "text" in names else [""] * len(frame)
    codes: dict[str, tuple[str, str | None]] = {}
    for row, (name, code, text) in enumerate(
        zip(frame["component"], frame["code"], texts, strict=True)
    ):
        if not (name and code):
            raise ValueError(f"{path} lacks a component or a code in row {row}. Fill it in.")
        if name in codes:
            raise ValueError(f"{path} has {name!r} twice, in row {row} again. Keep one of the two.")
        codes[name] = (code, text or None)
    return codes
