"""Find every small change ("mutant") that can be made to a Python source, and make one of them.

A mutant changes one thing: a number, a comparison, an operator, ``and``/``or``, ``min``/``max``, a
return value, or it removes a statement. Places where a change has no effect on results
(annotations, docstrings, decorators, error messages, ``__all__``) are left alone.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
FUNCTIONS = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all"}
FUNCTIONS |= {there: here for here, there in FUNCTIONS.items()}
# Keywords that change speed or checks of the library itself, not results.
IGNORED_KEYWORDS = frozenset({"strict", "copy", "stacklevel"})
# Child fields that hold types or decorators.
IGNORED_FIELDS = frozenset({"annotation", "returns", "decorator_list", "exc"})
SIMPLE_STATEMENTS = (ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
LONGEST_CONTEXT = 70  # characters of code shown before and after the arrow


@dataclass(frozen=True)
class Mutant:
    """One change to one file: the ``number``-th of all changes that can be made to it."""

    path: str
    number: int
    line: int
    before: str
    after: str
    lines: range
    """The lines of the statement, up to the change."""
    at_import: bool = False
    """Whether the line runs when the file is imported, and not in a function."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before}  →  {self.after}"


@dataclass(frozen=True)
class _Slot:
    """A node and the place in its parent that refers to it."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    ancestors: tuple[ast.AST, ...]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants_of(source: str, path: str) -> list[Mutant]:
    """List every mutant of a source."""
    return [
        Mutant(
            path,
            number,
            slot.node.lineno,
            *_shown(slot, replacement),
            _lines(slot),
            _at_import(slot),
        )
        for number, (slot, replacement) in enumerate(_changes(ast.parse(source)))
    ]


def mutated(source: str, number: int) -> str:
    """Return the source with its ``number``-th change made."""
    tree = ast.parse(source)
    slot, replacement = list(_changes(tree))[number]
    slot.put(replacement)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _changes(tree: ast.Module) -> list[tuple[_Slot, ast.AST]]:
    return [(slot, new) for slot in _slots(tree, ()) for new in _replacements(slot)]


def _slots(parent: ast.AST, ancestors: tuple[ast.AST, ...]) -> Iterator[_Slot]:
    """Yield every node that may be changed, from the top of the file down."""
    lineage = (*ancestors, parent)
    for field, value in ast.iter_fields(parent):
        if field in IGNORED_FIELDS:
            continue
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in children:
            if isinstance(child, ast.AST) and not _is_ignored(child):
                yield _Slot(child, parent, field, index, lineage)
                yield from _slots(child, lineage)


def _is_ignored(node: ast.AST) -> bool:
    """Tell whether a change inside the node could not change a result."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):  # a docstring
            return True
        case ast.keyword(arg=str(name)):
            return name in IGNORED_KEYWORDS
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return False


def _replacements(slot: _Slot) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    node = slot.node
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2.0 * value if value else 1.0)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in OPERATORS and not _is_union(slot):
            yield ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.BoolOp(op=op):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), node.values)
        case ast.Name(id=name) if name in FUNCTIONS and slot.field == "func":
            yield ast.Name(FUNCTIONS[name], ast.Load())
        case ast.Attribute(attr=name) if name in FUNCTIONS and slot.field == "func":
            yield ast.Attribute(node.value, FUNCTIONS[name], ast.Load())
        case ast.AugAssign(op=op):
            if type(op) in OPERATORS:
                yield ast.AugAssign(node.target, OPERATORS[type(op)](), node.value)
            yield ast.Pass()
        case ast.Return(value=ast.expr()) if not _is_none(node.value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield ast.Pass()


def _lines(slot: _Slot) -> range:
    """Return the lines from the start of the statement to the end of the node."""
    chain = (*slot.ancestors, slot.node)
    start = next(node.lineno for node in reversed(chain) if isinstance(node, ast.stmt))
    return range(start, slot.node.end_lineno + 1)


def _at_import(slot: _Slot) -> bool:
    """Tell whether a node lies in no function's body: defaults of parameters do not either."""
    chain = (*slot.ancestors, slot.node)
    return not any(
        isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and not isinstance(inner, ast.arguments)
        for outer, inner in itertools.pairwise(chain)
    )


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_union(slot: _Slot) -> bool:
    """Tell whether ``A | B`` is a type: at the top of a module, or inside isinstance."""
    if not isinstance(slot.node, ast.BinOp) or not isinstance(slot.node.op, ast.BitOr):
        return False
    in_function = any(isinstance(node, ast.FunctionDef) for node in slot.ancestors)
    return not in_function or any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "cast")
        for node in slot.ancestors
    )


def _shown(slot: _Slot, replacement: ast.AST) -> tuple[str, str]:
    """Write the code around a change, before and after it."""
    context: ast.AST = slot.node
    for ancestor in reversed(slot.ancestors):
        if isinstance(ancestor, ast.stmt) and not isinstance(ancestor, SIMPLE_STATEMENTS):
            break
        if isinstance(ancestor, ast.Module) or len(ast.unparse(ancestor)) > LONGEST_CONTEXT:
            break
        context = ancestor
    before = ast.unparse(context)
    if context is slot.node:
        return _one_line(before), _one_line(ast.unparse(replacement))
    slot.put(replacement)
    after = ast.unparse(context)
    slot.put(slot.node)
    return _one_line(before), _one_line(after)


def _one_line(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= LONGEST_CONTEXT else line[: LONGEST_CONTEXT - 1] + "…"
