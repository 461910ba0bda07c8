"""Every public name has a complete page in the reference, which is written from its docstring.

A page has a summary of one line, the parameters of the signature, what is returned, an example that
runs as a doctest, and "See Also" with names that exist.

- A method needs a summary, its parameters and what it returns. Those that users call most need an
  example too. A property needs a summary.
- An error needs no parameters.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pydoc
import re
import runpy
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from numpydoc.docscrape import NumpyDocString

import shafer

ROOT = Path(__file__).parent.parent
PACKAGES = [*shafer._SUBPACKAGES]
PACKAGES.append("models.torch")
CONSTANTS = {
    "BETTING_RULES",
    "PRECISE_RULES",
    "RULES",
}  # docs/reference/decision.rst describes them
TAKES_MINUTES = {"shafer.paper.reproduce"}  # its example is shown, and not run as a doctest
MOST_CALLED = {
    "shafer.Evidence": ["contrast", "decide", "from_weights", "grouped", "reasons", "save"],
    "shafer.EvidentialClassifier": ["conformalize", "evidence", "predict", "predict_set"],
    "shafer.Explainer": ["__call__", "conformalize", "control_error", "load", "predict_set"],
    "shafer.MassEvidence": ["acts", "decide", "focal_sets", "to_frame"],
    "shafer.Monitor": ["check"],
    "shafer.belief.MassFunction": ["conditioned_on", "discounted", "from_dict", "simple"],
}
# The docstring of a method as its page shows it, with what the base class describes.
completed = runpy.run_path(str(ROOT / "docs" / "_ext" / "inherited_sections.py"))["completed"]


class Public(NamedTuple):
    """A public class or function, and where users find it."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


def public_names(package: str) -> Iterator[Public]:
    """Yield the names of a package; one that ``shafer`` itself has belongs there."""
    path = f"shafer.{package}" if package else "shafer"
    module = importlib.import_module(path)
    for name in module.__all__ if package else shafer._HOME:
        value = getattr(module, name)
        at_top = package and getattr(shafer, name, None) is value
        if not inspect.ismodule(value) and not at_top and name not in CONSTANTS:
            yield Public(path, name, value)


def lacking(value: Any, *, example: str = ">>> ") -> list[str]:
    """Return what the docstring of a class or function lacks, in words."""
    page = read(inspect.cleandoc(value.__doc__ or ""))
    found = [*lacks_summary(page)]
    if not inspect.isclass(value):
        found += [*lacks_parameters(page, value), *lacks_returns(page, value)]
    elif not issubclass(value, Exception):
        found += lacks_parameters(page, value)
    found += [*lacks_example(page, example), *([] if page["See Also"] else ["See Also"])]
    return found


def lacking_members(cls: type, with_example: list[str]) -> Iterator[str]:
    """Yield what the methods and properties of a class lack."""
    for name, member in members(cls):
        if isinstance(member, property | cached_property):
            found = list(lacks_summary(read(inspect.cleandoc(member.__doc__ or ""))))
        else:
            function = getattr(member, "__func__", member)
            page = read(completed(cls, name))
            first = 0 if isinstance(member, staticmethod) else 1
            found = [*lacks_summary(page), *lacks_parameters(page, function, first)]
            found += lacks_returns(page, function)
            found += lacks_example(page) if name in with_example else []
        if found:
            yield f"{cls.__name__}.{name} lacks {', '.join(found)}"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class that are written in this library."""
    for name in dir(cls):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        member = vars(owner)[name]
        shown = name == "__call__" or not name.startswith("_")
        ours = owner.__module__.startswith("shafer.") or owner.__module__ == __name__
        kinds = (classmethod, staticmethod, property, cached_property)
        if shown and ours and (inspect.isfunction(member) or isinstance(member, kinds)):
            yield name, member


def read(text: str) -> NumpyDocString:
    return NumpyDocString(text)


def lacks_summary(page: NumpyDocString) -> list[str]:
    one_line = len(page["Summary"]) == 1 and page["Summary"][0].endswith((".", ":", ";", "?"))
    return [] if one_line else ["a summary of one line"]


def lacks_parameters(page: NumpyDocString, value: Callable[..., Any], first: int = 0) -> list[str]:
    """Compare with the signature. Arguments that are given by name may be in any order."""
    parameters = list(inspect.signature(value).parameters.values())[first:]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = [stars.get(parameter.kind, "") + parameter.name for parameter in parameters]
    titles = ["Parameters", "Other Parameters"]
    if inspect.isclass(value) and not page["Parameters"]:
        titles = ["Attributes"]  # of a result: its fields, and more
    described = [
        name.strip() for title in titles for entry in page[title] for name in entry.name.split(",")
    ]
    by_position = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    missing = [name for name in names if name not in described]
    unknown = [name for name in described if name not in names and titles != ["Attributes"]]
    in_order = [name for name in described if name in by_position] == by_position
    return [
        *(f"parameter {name}" for name in missing),
        *(f"parameter {name} in the signature" for name in unknown),
        *(
            []
            if in_order or missing or titles == ["Attributes"]
            else ["the order of the signature"]
        ),
    ]


def lacks_returns(page: NumpyDocString, value: Callable[..., Any]) -> list[str]:
    nothing = inspect.signature(value).return_annotation in (None, "None")
    return [] if nothing or page["Returns"] or page["Yields"] else ["returns"]


def lacks_example(page: NumpyDocString, start: str = ">>> ") -> list[str]:
    return [] if any(line.startswith(start) for line in page["Examples"]) else ["an example"]


@cache
def pages() -> frozenset[str]:
    """Return the full names of all pages of the reference."""
    return frozenset(public.path for package in ["", *PACKAGES] for public in public_names(package))


def unknown_relatives(public: Public) -> Iterator[str]:
    """Yield the names in "See Also" that have no page, neither their own nor that of a class."""
    texts = [inspect.cleandoc(public.value.__doc__ or "")]
    if inspect.isclass(public.value):
        texts += [inspect.cleandoc(member.__doc__ or "") for _, member in members(public.value)]
    relatives = [names for text in texts for names, _ in read(text)["See Also"]]
    for name, _ in itertools.chain.from_iterable(relatives):
        paths = [name, f"{public.module}.{name}", f"{public.path}.{name}"]
        if not any(map(has_page, paths)):
            yield f"{public.path}: {name}"


def has_page(path: str) -> bool:
    on_page = path in pages() or path.rpartition(".")[0] in pages()
    return on_page and pydoc.locate(path) is not None


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_every_name_has_a_complete_page(package: str) -> None:
    found = []
    for public in public_names(package):
        example = ".. code-block:: python" if public.path in TAKES_MINUTES else ">>> "
        lacks = lacking(public.value, example=example)
        found += [f"{public.path} lacks {', '.join(lacks)}"] if lacks else []
        if inspect.isclass(public.value):
            found += lacking_members(public.value, MOST_CALLED.get(public.path, []))
    assert found == []


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_see_also_names_pages(package: str) -> None:
    assert [name for public in public_names(package) for name in unknown_relatives(public)] == []


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_every_constant_is_described(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "decision.rst").read_text("utf-8")
    assert re.search(rf"^\.\. py:data:: {name}\n\n   \w", page, re.MULTILINE)


@pytest.mark.parametrize("path", MOST_CALLED)
def test_the_methods_that_are_called_most_exist(path: str) -> None:
    cls = pydoc.locate(path)
    assert [name for name in MOST_CALLED[path] if not hasattr(cls, name)] == []


def bare(rows: Any, *, top: int = 3) -> int:
    """Count."""
    return len(rows) + top


def whole(rows: Any, *, top: int = 3, least: int = 0) -> int:
    """Count.

    Parameters
    ----------
    rows : sequence
    least, top : int

    Returns
    -------
    int

    See Also
    --------
    bare : The same, not described.

    Examples
    --------
    >>> whole([], top=2)
    2
    """
    return len(rows) + top + least


def swapped(first: Any, second: Any, third: Any) -> None:
    """Do nothing
    in two lines.

    Parameters
    ----------
    second, first, third : object
    fourth : object

    See Also
    --------
    shafer.Nobody : Does not exist.

    Examples
    --------
    No code.
    """


class Counter:
    """Counts rows.

    Parameters
    ----------
    step : int
    """

    def __init__(self, step: int, start: int = 0) -> None:
        self.step, self.start = step, start

    def count(self, rows: Any) -> int:
        """Count the rows.

        Parameters
        ----------
        rows : sequence

        Returns
        -------
        int
        """
        return self.start + self.step * len(rows)

    def reset(self, start: int) -> int:
        """Start again."""
        return start

    @property
    def undescribed(self) -> int:
        return self.step


class DoubleCounter(Counter):
    """Counts rows twice."""

    def count(self, rows: Any) -> int:
        """Count the rows twice."""
        return 2 * super().count(rows)


def test_a_docstring_that_lacks_something_is_found() -> None:
    assert lacking(whole) == []
    assert lacking(bare) == ["parameter rows", "parameter top", "returns", "an example", "See Also"]
    assert lacking(swapped) == [
        "a summary of one line",
        "parameter fourth in the signature",
        "the order of the signature",
        "an example",
    ]
    assert lacking(Counter) == ["parameter start", "an example", "See Also"]
    assert list(unknown_relatives(Public("shafer", "swapped", swapped))) == [
        "shafer.swapped: shafer.Nobody"
    ]


def test_a_member_that_lacks_something_is_found() -> None:
    reset = "reset lacks parameter start, returns"
    summary = "undescribed lacks a summary of one line"
    assert list(lacking_members(Counter, ["count"])) == [
        "Counter.count lacks an example",
        f"Counter.{reset}",
        f"Counter.{summary}",
    ]
    assert list(lacking_members(DoubleCounter, [])) == [
        f"DoubleCounter.{reset}",
        f"DoubleCounter.{summary}",
    ]
