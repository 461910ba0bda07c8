"""How an error tells the user to trust a class: as an argument, or as an option of a command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class TrustWording:
    """The words for trust, and for saving again.

    Attributes
    ----------
    on_command_line : bool
        Whether the user types a command, rather than Python.
    again : str
        How to write a file that can be read.
    """

    on_command_line: bool
    again: str

    def given(self, names: Sequence[str]) -> str:
        """Return what the user writes to trust some classes."""
        if self.on_command_line:
            return " ".join(f"--trust {shlex.quote(name)}" for name in names)
        return f"trusted={list(names)!r}"

    def advice(self, names: Sequence[str]) -> str:
        """Return the sentence that tells how to trust some classes."""
        verb = "add:" if self.on_command_line else "pass"
        end = "" if self.on_command_line else "."
        return f"If you trust them, {verb} {self.given(names)}{end}"
