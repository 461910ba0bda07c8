"""Find every public function and method whose parameters name classes, columns or files."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import shafer

PACKAGES = shafer._SUBPACKAGES

WATCHED = frozenset(
    {"acts", "beside", "by", "chosen", "class_", "classes", "coarse", "columns", "component"}
    | {"component_names", "feature_names", "focus", "groups", "label", "labels", "loss", "names"}
    | {"out", "over", "path", "prior", "rates", "sets", "statements", "subset", "truth"}
    | {"utility", "y", "y_pred", "y_set", "y_true"}
)


def public_callables() -> Iterator[tuple[str, Any]]:
    """Every public function, class and method, as ``package.Class.method``."""
    seen: set[int] = set()
    for package in (*PACKAGES, None):  # names that only ``shafer`` itself has come last
        module = shafer if package is None else importlib.import_module(f"shafer.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            path = name if package is None else f"{package}.{name}"
            if package is None and id(thing) in seen:
                continue
            seen.add(id(thing))
            if inspect.isclass(thing) and not inspect.isabstract(thing):
                yield path, thing
                yield from _methods(path, thing)
            elif inspect.isfunction(thing):
                yield path, thing


def _methods(name: str, owner: type) -> Iterator[tuple[str, Any]]:
    for key, member in inspect.getmembers(owner, callable):
        ours = (getattr(member, "__module__", None) or "").startswith("shafer")
        if ours and (key == "__call__" or not key.startswith("_")):
            yield f"{name}.{key}", member


def watched_parameters() -> dict[str, set[str]]:
    """The parameters of each public callable that name classes, columns or files."""
    found: dict[str, set[str]] = {}
    for name, member in public_callables():
        try:
            parameters = set(inspect.signature(member).parameters) & WATCHED
        except ValueError:  # an exception class
            continue
        if parameters:
            found[name] = parameters
    return found
