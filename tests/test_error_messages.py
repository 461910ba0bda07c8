"""``tools/error_messages.py`` finds every message."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("em", ROOT / "tools" / "error_messages.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look there for their module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


SOURCE = """
import warnings

_CONSTANT = "from a constant"
REASONS: dict[str, str] = {"a": "first reason", "b": _CONSTANT}


class _OwnError(ValueError):
    pass


def plain(n):
    raise ValueError("one " f"{n:.2f} " "line")


def variable(path):
    advice = "Do this."
    message = f"{path!r} is wrong. {advice}"
    raise TypeError(message)


def parameter(text):
    raise _OwnError(text)


def callers():
    parameter("passed by position")
    parameter(text="passed by name")


def made(label):
    return KeyError(f"unknown {label}")


def raised(label):
    raise made(label)


def table(key):
    raise RuntimeError(f"It {REASONS[key]}.")


def worded(n):
    raise ValueError(words(n))


def words(n):
    return "too few " + str(n)


def warned():
    warnings.warn("careful", FutureWarning, stacklevel=2)
"""


def test_every_form_of_a_message(tool, tmp_path):
    (tmp_path / "module.py").write_text(SOURCE, encoding="utf-8")
    found = {(m.kind, m.text) for m in tool.Collector(tmp_path).messages()}
    assert found == {
        ("ValueError", "one {n} line"),
        ("TypeError", "{path} is wrong. Do this."),
        ("_OwnError", "passed by position"),
        ("_OwnError", "passed by name"),
        ("KeyError", "unknown {label}"),
        ("RuntimeError", "It {REASONS[key]}."),
        ("RuntimeError, end of the message", "first reason"),
        ("RuntimeError, end of the message", "from a constant"),
        ("ValueError", "too few {str(n)}"),
        ("FutureWarning", "careful"),
    }


def test_no_error_of_the_package_is_overlooked(tool):
    collector = tool.Collector(ROOT / "src" / "shafer")
    raised = sum(
        isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        for source in collector.sources
        for node in source.nodes
    )
    messages = collector.messages()
    # A message may be raised in several places, and a place may have several messages.
    assert len(messages) > 0.9 * raised
    unresolved = [m for m in messages if not re.search("[A-Za-z]", re.sub(r"{[^}]*}", "", m.text))]
    assert len(unresolved) < 0.05 * raised


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The output is no softmax of a sum.", True),
        ("weights, which FiniteEvidence has not", True),
        ("The model has not been fitted.", False),
        ("FiniteEvidence has no weights.", False),
        ("The file is no longer readable.", False),
    ],
)
def test_phrases_to_reword(tool, text, found):
    assert bool(tool.HABITS.search(text)) is found
