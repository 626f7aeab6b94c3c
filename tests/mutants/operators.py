"""The changes: one small slip of the pen in one place of a module, as text, so that line numbers stay.

What nobody relies on is left alone: docstrings, annotations, decorators, texts, asserts (`strict=` of zip is one),
`__repr__`, calls that report progress, how far a warning or a quoted text reaches, and what a maximum of nothing is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
ARITHMETIC = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "//", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.MatMult: "*",
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor", "zeros": "ones", "ones": "zeros",
    "int64": "int32", "union": "intersection", "startswith": "endswith", "sorted": "list",
}  # fmt: skip
RETURNS = {"bool": ("True", "False"), "int": ("0",)}
GUARDS = {"strict", "stacklevel", "initial"}
SILENT = {"progress"}  # what is said on the way is no result


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, the code it alters before and after, and the module's text with it."""

    path: str
    function: str
    before: str
    after: str
    source: str = field(repr=False)
    lines: tuple[int, int] = (0, 0)  # of the statement, a compound one without its body
    again: int = 0  # how many equal changes of equal code stand before it in the function

    @property
    def name(self) -> str:
        """The mutant by its text, which outlives changes elsewhere in the file."""
        number = f" [{self.again + 1}]" if self.again else ""
        return f"{self.path}::{self.function}{number}: {self.before}  ->  {self.after}"


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    seen: dict[str, int] = {}
    out = []
    for edit in sorted(set(_Walk(source).edits())):
        start, end = edit.start, edit.end
        first, last = source.rfind("\n", 0, start) + 1, source.find("\n", end)
        before, after = source[first:last], source[first:start] + edit.text + source[end:last]
        changed = source[:start] + edit.text + source[end:]
        made = Mutant(path, edit.function, _flat(before), _flat(after), changed, edit.lines)
        again = seen.get(made.name, 0)
        seen[made.name] = again + 1
        out.append(replace(made, again=again))
    return out


def _flat(text: str) -> str:
    return " ".join(text.split())


class Edit(NamedTuple):
    """A piece of text to put in place of another, and where that is."""

    start: int
    end: int
    text: str
    function: str
    lines: tuple[int, int]


class _Walk:
    """All edits of a module."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = source.splitlines(keepends=True)
        self.here = (0, 0)

    def edits(self) -> Iterator[Edit]:
        yield from self._block(ast.parse(self.source).body, "", None)

    def _at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _block(self, body: list[ast.stmt], name: str, kind: str | None) -> Iterator[Edit]:
        for statement in body:
            yield from self._statement(statement, name, kind)

    def _statement(self, node: ast.stmt, name: str, kind: str | None) -> Iterator[Edit]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from self._definition(node, name)
            return
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.Pass | ast.Global):
            return
        if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _silent(node.value)):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        body = getattr(node, "body", None)
        self.here = node.lineno, (max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno)
        for text in self._instead(node, kind):
            yield Edit(*self._span(node), text, name, self.here)
        if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
            change = self._operator(node.target, node.value, ARITHMETIC[type(node.op)] + "=")
            yield Edit(*change, name, self.here)
        for part, value in ast.iter_fields(node):
            if part == "annotation" or (isinstance(node, ast.AnnAssign) and part == "target"):
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.stmt):
                    yield from self._statement(each, name, kind)
                elif isinstance(each, ast.ExceptHandler):
                    yield from self._block(each.body, name, kind)
                elif isinstance(each, ast.AST):
                    yield from self._expressions(each, name)

    def _definition(self, node: ast.FunctionDef | ast.ClassDef, name: str) -> Iterator[Edit]:
        if node.name in ("__repr__", "__str__"):
            return
        inner = f"{name}.{node.name}" if name else node.name
        if isinstance(node, ast.ClassDef):
            yield from self._block(node.body, inner, None)
            return
        self.here = node.lineno, node.lineno
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            yield from self._expressions(default, inner)
        kind = ast.unparse(node.returns) if node.returns is not None else None
        yield from self._block(node.body, inner, kind)

    def _instead(self, node: ast.stmt, kind: str | None) -> Iterator[str]:
        """Statements that may stand for this one."""
        stored = isinstance(node, ast.Assign) and all(
            isinstance(t, ast.Subscript | ast.Attribute) for t in node.targets
        )
        if stored or isinstance(node, ast.Expr | ast.AugAssign | ast.Raise):
            yield "pass"
        elif isinstance(node, ast.Continue):
            yield "break"
        elif isinstance(node, ast.Break):
            yield "continue"
        elif isinstance(node, ast.Return) and node.value is not None and kind in RETURNS:
            yield from (f"return {v}" for v in RETURNS[kind] if ast.unparse(node.value) != v)

    def _expressions(self, node: ast.AST, name: str) -> Iterator[Edit]:
        if isinstance(node, ast.JoinedStr):
            return
        for start, end, text in self._changes(node):
            yield Edit(start, end, text, name, self.here)
        quotes = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "printable"
        for value in (v for part, v in ast.iter_fields(node) if part != "annotation"):
            for each in value if isinstance(value, list) else [value]:
                guard = isinstance(each, ast.keyword) and each.arg in GUARDS and isinstance(each.value, ast.Constant)
                length = quotes and isinstance(each, ast.Constant)
                if isinstance(each, ast.AST) and not guard and not length:
                    yield from self._expressions(each, name)

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
                yield self._operator(left, right, COMPARISONS[type(op)])
        elif isinstance(node, ast.BinOp) and not _text(node):
            yield self._operator(node.left, node.right, ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            other = "or" if isinstance(node.op, ast.And) else "and"
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield self._operator(left, right, other)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            start, end = self._span(node)
            yield start, end, f"({self.source[slice(*self._span(node.operand))]})"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            value = (not node.value) if isinstance(node.value, bool) else node.value + 1
            yield (*self._span(node), repr(value))
        elif isinstance(node, ast.Name | ast.Attribute):
            word = node.id if isinstance(node, ast.Name) else node.attr
            if word in NAMES and isinstance(node.ctx, ast.Load):
                _, end = self._span(node)
                yield end - len(word), end, NAMES[word]

    def _operator(self, left: ast.AST, right: ast.AST, text: str) -> tuple[int, int, str]:
        """The operator between two operands, brackets and line breaks left as they are."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = self.source[start:end]
        bare = "".join(" " if c in "()\\\n" else c for c in between)
        old = bare.strip()
        at = start + bare.index(old)
        return at, at + len(old), text


def _silent(value: ast.expr) -> bool:
    """Whether a call only reports progress."""
    return isinstance(value, ast.Call) and any(f".{word}." in f".{ast.unparse(value.func)}." for word in SILENT)


def _text(node: ast.BinOp) -> bool:
    """Whether an operation puts texts together."""
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str)) for s in sides
    )
