"""What the mutation script changes, and what it leaves alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from mutant_sites import mutants_of, mutated

SOURCE = '''
"""A docstring with 1 number."""
from typing import TYPE_CHECKING, TypeAlias
if TYPE_CHECKING:
    import numpy
Number: TypeAlias = int | float
__all__ = ["f"]
BLOCK = 2**3

@cache(maxsize=1)
def f(x: int | None, y=-1) -> int | None:
    """Another docstring."""
    if x < 0 or not y:
        raise ValueError(f"x must be at least {0}; got {x}.")
    total = 0.5
    total += min(x, y)
    del y
    return max(zip(x, y, strict=True))
'''


def changes(source: str) -> list[str]:
    return [f"{mutant.before} → {mutant.after}" for mutant in mutants_of(source, "f.py")]


def test_every_kind_of_change() -> None:
    assert sorted(changes(SOURCE)) == sorted(
        [
            "BLOCK = 2 ** 3 → BLOCK = 2 * 3",
            "BLOCK = 2 ** 3 → BLOCK = 3 ** 3",
            "BLOCK = 2 ** 3 → BLOCK = 2 ** 4",
            "x: int | None, y=-1 → x: int | None, y=1",
            "x: int | None, y=-1 → x: int | None, y=-2",
            "x < 0 or not y → x < 0 and (not y)",
            "x < 0 or not y → x <= 0 or not y",
            "x < 0 or not y → x < 1 or not y",
            "x < 0 or not y → x < 0 or y",
            "raise ValueError(f'x must be at least {0}; got {x}.') → pass",
            "total = 0.5 → total = 1.0",
            "total += min(x, y) → total -= min(x, y)",
            "total += min(x, y) → pass",
            "total += min(x, y) → total += max(x, y)",
            "del y → pass",
            "return max(zip(x, y, strict=True)) → return None",
            "return max(zip(x, y, strict=True)) → return min(zip(x, y, strict=True))",
        ]
    )


def test_a_mutant_is_one_change() -> None:
    unchanged = set(mutated("BLOCK = 1\nx = 2\n", 0).splitlines()) & {"BLOCK = 1", "x = 2"}
    assert unchanged == {"x = 2"}
    for mutant in mutants_of(SOURCE, "f.py"):
        compile(mutated(SOURCE, mutant.number), "f.py", "exec")


def test_where_it_is() -> None:
    (mutant,) = mutants_of("# ü\n\nx = 1\n", "f.py")
    assert str(mutant) == "f.py:3  x = 1  →  x = 2"


def test_the_lines_of_its_statement() -> None:
    source = "def f(\n    x=1,\n    y=2,\n):\n    return g(\n        x,\n        3,\n    )\n"
    found = {mutant.after: mutant.lines for mutant in mutants_of(source, "f.py")}
    assert found == {
        "x=2, y=2": range(1, 3),
        "x=1, y=3": range(1, 4),
        "return None": range(5, 9),
        "return g(x, 4)": range(5, 8),
    }


@pytest.mark.parametrize("source", ["x: int | None", "import a.b", "'1'", "x = f'{1}'"])
def test_nothing_to_change(source: str) -> None:
    assert changes(source) == []
