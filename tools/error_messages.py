"""List every error and warning message of the package, so that a person can read them all.

Run ``python tools/error_messages.py`` in the repository. Each message is printed with its file,
line and type. Placeholders of f-strings are shown as ``{expression}``. A message in a variable, a
constant or the result of a function is looked up. A message that is a parameter is shown at the
calls of its function. The texts of a table, such as the reasons why a model is not supported, are
listed too. ``--habits`` prints only messages with phrases that are hard to read.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Phrases to replace by plain English.
HABITS = re.compile(
    r"\b(is|are|with|was) no (?!longer)|\bno \w+ but\b|\b(has|have) not\b(?! been)|\bworth\b"
    r"|\bspeaks?\b|\bsays?\b|\bsaid\b|\bat the door\b|\b(has|have) seen\b|\bwhatever\b"
    r"|\bsilen(t|ce)\b|\bnot there\b|\bdoes not suffice\b|\bmean it\b|\bof (its|their) own\b"
)
PACKAGE = Path(__file__).resolve().parents[1] / "src" / "shafer"


@dataclass(frozen=True)
class Message:
    """A message of the package: where it is raised, by which error, and its text."""

    path: Path
    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class Source:
    """A module: its nodes, the node around each, and what names are assigned in each scope."""

    path: Path
    tree: ast.Module
    nodes: list[ast.AST]
    parents: dict[ast.AST, ast.AST]
    assigned: dict[ast.AST, dict[str, list[ast.expr]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Source:
        """Parse a file."""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes: list[ast.AST] = [tree]
        parents = {}
        for node in nodes:  # which grows
            children = list(ast.iter_child_nodes(node))
            nodes += children
            parents.update(dict.fromkeys(children, node))
        return cls(path, tree, nodes, parents)

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """Return the function that a node is in."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return None

    def values_of(self, name: str, node: ast.AST) -> list[ast.expr]:
        """Return what a name was assigned in the function of a node, else in the module."""
        function = self.function_of(node)
        for scope in (function, self.tree):
            if scope is None:
                continue
            if scope not in self.assigned:  # reading a scope takes long, and it is asked often
                self.assigned[scope] = _assigned(scope)
            if found := self.assigned[scope].get(name):
                return found
        return []


def _assigned(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Find the values that each name is assigned in a scope."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for node in ast.walk(scope):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for name in {target.id for target in targets if isinstance(target, ast.Name)}:
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            found[name].append(node.value)
    return found


def rendered(node: ast.expr) -> str | None:
    """Return the text of a string expression with its placeholders; None if it is not one."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(rendered(part) or "" for part in parts)
        case ast.FormattedValue(value=value):
            return "{" + ast.unparse(value) + "}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = rendered(left), rendered(right)
            if sides == (None, None):
                return None
            return "".join(
                s or "{" + ast.unparse(n) + "}" for s, n in zip(sides, (left, right), strict=True)
            )
        case ast.IfExp(test=test, body=body, orelse=other):
            return f"{{{ast.unparse(test)} ? {rendered(body)} : {rendered(other)}}}"
        case ast.Call(func=ast.Attribute(value=template, attr="format")):
            return rendered(template)
    return None


def _filled_in(text: str, at: Source, node: ast.expr) -> str:
    """Replace placeholders that are names of constant texts by these texts."""
    for part in ast.walk(node):
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
            values = [rendered(value) for value in at.values_of(part.value.id, node)]
            if len(values) == 1 and values[0] is not None:
                text = text.replace("{" + part.value.id + "}", values[0])
    return text


def _name(function: ast.expr) -> str:
    match function:  # the two that are common: "unparse" is slow
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ast.unparse(function).rpartition(".")[2]


def _error_calls(source: Source) -> Iterator[ast.Call]:
    """Find the calls that make an error or give a warning."""
    for node in source.nodes:
        made = node.exc if isinstance(node, ast.Raise) else None
        if isinstance(node, ast.Return):  # a function that makes an error for its callers
            made = node.value
        if (
            isinstance(made, ast.Call)
            and _name(made.func).lstrip("_")[:1].isupper()
            and (isinstance(node, ast.Raise) or _name(made.func).endswith("Error"))
        ):
            yield made
        elif (
            isinstance(node, ast.Call)
            and _name(node.func) == "warn"
            and ast.unparse(node.func) == "warnings.warn"
        ):
            yield node


class Collector:
    """Collects the messages of all modules below a folder."""

    def __init__(self, package: Path) -> None:
        self.sources = [Source.read(path) for path in sorted(package.rglob("*.py"))]
        self.tables: dict[str, tuple[Source, ast.Dict]] = {}
        self.calls: dict[str, list[tuple[Source, ast.Call]]] = defaultdict(list)
        self.functions: dict[str, list[tuple[Source, ast.FunctionDef]]] = defaultdict(list)
        for source in self.sources:
            for node in source.nodes:
                if isinstance(node, ast.Call):
                    self.calls[_name(node.func)].append((source, node))
                elif isinstance(node, ast.FunctionDef):
                    self.functions[node.name].append((source, node))
            for node in source.tree.body:
                if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(
                    node.value, ast.Dict
                ):
                    name = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    self.tables[ast.unparse(name)] = (source, node.value)

    def messages(self) -> list[Message]:
        """Return every message, in the order of files and lines."""
        found = {
            message
            for source in self.sources
            for call in _error_calls(source)
            for message in self._of_call(source, call)
        }
        return sorted(found, key=lambda m: (str(m.path), m.line, m.text))

    def _of_call(self, source: Source, call: ast.Call) -> Iterator[Message]:
        kind = _name(call.func)
        if kind == "warn":
            kind = ast.unparse(call.args[1]) if len(call.args) > 1 else "UserWarning"
        if not call.args:
            yield Message(source.path, call.lineno, kind, "(no message)")
            return
        yield from self._texts(source, call.args[0], kind)

    def _texts(self, at: Source, node: ast.expr, kind: str, depth: int = 0) -> Iterator[Message]:
        text = rendered(node)
        if text is not None:
            yield Message(at.path, node.lineno, kind, _filled_in(text, at, node))
            yield from self._table_texts(node, kind)
            return
        elsewhere = list(self._elsewhere(at, node)) if depth < 3 else []
        for other, value in elsewhere:
            yield from self._texts(other, value, kind, depth + 1)
        if not elsewhere:
            yield Message(at.path, node.lineno, kind, "{" + ast.unparse(node) + "}")

    def _elsewhere(self, at: Source, node: ast.expr) -> Iterator[tuple[Source, ast.expr]]:
        """Find the expressions that a name or a call stands for."""
        if isinstance(node, ast.Name):
            values = at.values_of(node.id, node)
            yield from ((at, value) for value in values)
            if not values:
                yield from self._passed(at, node)
        elif isinstance(node, ast.Call):
            for source, function in self.functions[_name(node.func)]:
                for part in ast.walk(function):
                    if isinstance(part, ast.Return) and part.value is not None:
                        yield source, part.value

    def _passed(self, source: Source, name: ast.Name) -> Iterator[tuple[Source, ast.expr]]:
        """Find what the calls of a function pass for one of its parameters."""
        function = source.function_of(name)
        if function is None:
            return
        names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
        keywords = [parameter.arg for parameter in function.args.kwonlyargs]
        if name.id not in names + keywords:
            return
        place = names.index(name.id) - (names[0] == "self") if name.id in names else None
        for other, call in self.calls[function.name]:
            for keyword in call.keywords:
                if keyword.arg == name.id:
                    yield other, keyword.value
            if place is not None and place < len(call.args):
                yield other, call.args[place]

    def _table_texts(self, node: ast.expr, kind: str) -> Iterator[Message]:
        """Find the texts of the tables that a message quotes."""
        for part in ast.walk(node):
            if not (isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)):
                continue
            source, table = self.tables.get(part.value.id, (None, None))
            if source is None or table is None:
                continue
            for value in table.values:
                yield from self._texts(source, value, f"{kind}, end of the message", 1)


def main() -> None:
    """Print the messages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", nargs="?", type=Path, default=PACKAGE)
    parser.add_argument("--habits", action="store_true", help="only messages to reword")
    given = parser.parse_args()
    package = given.package.resolve()
    messages = Collector(package).messages()
    if given.habits:
        messages = [message for message in messages if HABITS.search(message.text)]
    for message in messages:
        where = message.path.relative_to(package.parent)
        print(f"{where}:{message.line}  {message.kind}\n    {message.text}")
    print(f"\n{len(messages)} messages in {len({m.path for m in messages})} files.")


if __name__ == "__main__":
    main()
