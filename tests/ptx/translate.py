"""PTX to C, one statement per instruction: the part of PTX that the kernels' compilers emit, integers and doubles.

Anything that is not understood raises `PtxError`, so nothing is ever executed with a guessed meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

C_TYPES = {f"{kind}{bits}": f"{'int' if kind == 's' else 'uint'}{bits}_t" for kind in "bus" for bits in (8, 16, 32, 64)}
C_TYPES |= {"pred": "bool", "f64": "double"}
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
BINARY = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
SPECIAL = {"%tid.x": "t->tid", "%ntid.x": "c->ntid", "%ctaid.x": "c->ctaid", "%nctaid.x": "c->nctaid"}
IGNORED = (".loc", ".pragma", ".file", ".maxntid", ".minnctapersm")


class PtxError(Exception):
    """PTX that the translator does not understand, or an error while a kernel ran."""


@dataclass
class Parameter:
    """A kernel parameter: name, PTX type and offset into the parameter block."""

    name: str
    kind: str
    offset: int


@dataclass
class Kernel:
    """A parsed kernel: its parameters, shared variables and body."""

    parameters: list[Parameter]
    shared: dict[str, int]
    shared_bytes: int
    body: str
    first_line: int
    registers: dict[str, tuple[str, str]] = field(default_factory=dict)
    instructions: int = 0

    @property
    def parameter_bytes(self) -> int:
        """Size of the parameter block."""
        return max((p.offset + width(p.kind) for p in self.parameters), default=0)


def width(kind: str) -> int:
    """Bytes of a PTX type."""
    return int(kind[1:]) // 8


def align(offset: int, to: int) -> int:
    """The next multiple."""
    return -(-offset // to) * to


def parse(ptx: str) -> Kernel:
    """Find the one kernel of a PTX module."""
    text = re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), ptx, flags=re.S))
    shared, offset = {}, 0
    for match in re.finditer(r"\.shared\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?;", text):
        offset = align(offset, int(match[1] or width(match[2])))
        shared[match[3]] = offset
        offset += width(match[2]) * int(match[4] or 1)
    entry = re.search(r"\.entry\s+[\w$]+\s*\((.*?)\)[^{]*\{", text, re.S)
    if entry is None or text.count(".entry") != 1 or re.search(r"\.func\b|\bcall\b", text):
        raise PtxError("exactly one kernel without function calls is expected")
    parameters, at = [], 0
    for match in re.finditer(
        r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)(?:\s+\.ptr[^,]*?)?\s+([\w$]+)\s*(?:,|$)", entry[1].strip()
    ):
        at = align(at, width(match[1]))
        parameters.append(Parameter(match[2], match[1], at))
        at += width(match[1])
    depth, end = 1, entry.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return Kernel(
        parameters,
        shared,
        align(offset, 16),
        text[entry.end() : end - 1],
        text[: entry.end()].count("\n") + 1,
    )


class Translator:
    """Translates one kernel's instructions."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.offsets = {p.name: p.offset for p in kernel.parameters}
        self.rules: dict[str, Callable[[list[str], str, list[str], int], str]] = {
            "mov": self.mov, "cvta": self.mov, "cvt": self.convert, "ld": self.load, "st": self.store,
            "mul": self.multiply, "mad": self.multiply, "div": self.divide, "rem": self.divide, "setp": self.compare,
            "selp": self.select, "shl": self.shift, "shr": self.shift, "atom": self.atomic, "red": self.atomic,
            "bar": self.barrier, "bra": self.branch, "ret": self.leave, "exit": self.leave, "bfi": self.insert_bits,
            "bfe": self.extract_bits, "min": self.extreme, "max": self.extreme, "not": self.unary, "neg": self.unary,
            "abs": self.unary, "popc": self.unary, "fma": self.multiply, "shf": self.funnel,
            **dict.fromkeys(BINARY, self.binary),
        }  # fmt: skip

    def read(self, operand: str, kind: str) -> str:
        """A C expression of type C_TYPES[kind] for an operand."""
        if operand.startswith("!"):
            return f"(!{self.read(operand[1:], 'pred')})"
        if operand in self.kernel.registers:
            name, own = self.kernel.registers[operand]
            if (kind == "f64") != (own == "f64"):
                return self.bits_of(operand, f"{'as_double' if kind == 'f64' else 'as_bits'}({name})", kind, own)
            return name if "pred" in (kind, own) else f"(({C_TYPES[kind]}){name})"
        if operand in SPECIAL:
            return f"(({C_TYPES[kind]}){SPECIAL[operand]})"
        if operand in self.kernel.shared:
            return f"(({C_TYPES[kind]}){self.kernel.shared[operand]})"
        if re.fullmatch(r"-?\d+", operand):
            return f"(({C_TYPES[kind]}){int(operand) & (2**64 - 1)}ull)"
        if re.fullmatch(r"-?0[xX][0-9a-fA-F]+U?", operand):
            return f"(({C_TYPES[kind]}){operand.rstrip('U')}ull)"
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", operand) and kind in ("f64", "b64"):
            return f"as_double(0x{operand[2:]}ull)" if kind == "f64" else f"0x{operand[2:]}ull"
        raise PtxError(f"operand {operand}")

    def bits_of(self, operand: str, expression: str, kind: str, own: str) -> str:
        """An expression whose bits are taken as they are: only between doubles and untyped registers of their size."""
        if {kind, own} != {"f64", "b64"}:
            raise PtxError(f"{operand}: {own} as {kind}")
        return expression

    def write(self, operand: str, kind: str, expression: str) -> str:
        """A C statement that stores an expression of PTX type `kind` in a register."""
        if operand == "_":
            return f"(void)({expression});"
        name, own = self.kernel.registers[operand]
        if (kind == "f64") != (own == "f64"):
            expression = self.bits_of(
                operand, f"{'as_bits' if kind == 'f64' else 'as_double'}({expression})", kind, own
            )
            return f"{name} = {expression};"
        if own == "pred":
            return f"{name} = ({expression}) != 0;"
        return f"{name} = ({C_TYPES[own]})({C_TYPES[kind]})({expression});"

    def address(self, operand: str, space: str, size: int, line: int) -> str:
        """A C pointer for a memory operand.

        Addresses without a space are taken for global ones; any other is outside all arrays there, and reported.
        """
        match = re.fullmatch(r"\[\s*([%\w$.]+)\s*(?:\+\s*(-?\d+))?\s*\]", operand)
        if match is None:
            raise PtxError(f"PTX line {line}: address {operand}")
        if space == "param":
            return f"(c->params + {self.offsets[match[1]]} + {match[2] or 0})"
        at = f"{self.read(match[1], 'u64')} + (int64_t){match[2] or 0}"
        return f"{'shared_at' if space == 'shared' else 'global_at'}(t, c, {at}, {size}, {line})"

    def mov(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        if ops[0].startswith("{"):
            return self.unpacked(kind, ops)
        if ops[1].startswith("{"):
            return self.write(ops[0], kind, self.packed(kind, ops[1]))
        return self.write(ops[0], kind, self.read(ops[1], kind))

    def unpacked(self, kind: str, ops: list[str]) -> str:
        """A register taken apart into narrower ones, the lowest bits first."""
        names = [name.strip() for name in ops[0].strip("{} ").split(",")]
        part = f"b{8 * width(kind) // len(names)}"
        whole = self.read(ops[1], kind)
        return " ".join(self.write(name, part, f"({whole}) >> {8 * width(part) * at}") for at, name in enumerate(names))

    def packed(self, kind: str, operand: str) -> str:
        """Narrower registers as one, the lowest bits first."""
        names = [name.strip() for name in operand.strip("{} ").split(",")]
        part = f"b{8 * width(kind) // len(names)}"
        shifted = (f"(({C_TYPES[kind]}){self.read(n, part)} << {8 * width(part) * x})" for x, n in enumerate(names))
        return f"({' | '.join(shifted)})"

    def convert(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        return self.write(ops[0], parts[-2], f"({C_TYPES[parts[-2]]}){self.read(ops[1], kind)}")

    def load(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        space = next((p for p in parts if p in ("param", "shared")), "global")
        names = [x.strip() for x in ops[0].strip("{} ").split(",")]
        size = width(kind)
        taken = "".join(
            f"memcpy(&v, at + {x * size}, {size}); {self.write(name, kind, 'v')}" for x, name in enumerate(names)
        )
        pause = "" if space == "param" else " MAYBE_YIELD;"
        where = self.address(ops[1], space, size * len(names), line)
        return f"{{ const char *at = {where}; {C_TYPES[kind]} v; {taken} }}{pause}"

    def store(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        space = "shared" if "shared" in parts else "global"
        values = [x.strip() for x in ops[1].strip("{} ").split(",")]
        size = width(kind)
        put = "".join(
            f"v = {self.read(value, kind)}; memcpy(at + {x * size}, &v, {size});" for x, value in enumerate(values)
        )
        where = self.address(ops[0], space, size * len(values), line)
        return f"{{ char *at = {where}; {C_TYPES[kind]} v; {put} }}"

    def binary(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        return self.write(ops[0], kind, f"{self.read(ops[1], kind)} {BINARY[parts[0]]} {self.read(ops[2], kind)}")

    def unary(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        value = self.read(ops[1], kind)
        if parts[0] == "popc":
            return self.write(ops[0], "u32", f"__builtin_popcountll((uint64_t){value})")
        sign = "!" if kind == "pred" else "~"
        return self.write(
            ops[0],
            kind,
            {"not": f"{sign}{value}", "neg": f"-{value}", "abs": f"({value} < 0 ? -{value} : {value})"}[parts[0]],
        )

    def multiply(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        a, b = self.read(ops[1], kind), self.read(ops[2], kind)
        to = WIDER[kind] if "wide" in parts else kind
        if parts[0] == "fma":
            return self.write(ops[0], kind, f"fma({a}, {b}, {self.read(ops[3], kind)})")
        plus = f" + {self.read(ops[3], to)}" if parts[0] == "mad" else ""
        if "hi" in parts:
            wide = "s128" if kind[0] == "s" else "u128"
            return self.write(ops[0], kind, f"({C_TYPES[kind]})((({wide}){a} * {b}) >> {kind[1:]}){plus}")
        return self.write(ops[0], to, f"({C_TYPES[to]}){a} * ({C_TYPES[to]}){b}{plus}")

    def divide(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        a, b = self.read(ops[1], kind), self.read(ops[2], kind)
        sign = "/" if parts[0] == "div" else "%"
        # Division by zero is undefined in PTX: it is reported, not executed.
        return (
            f'if ({b} == 0) {{ fail(t, c, "division by zero", 0, 0, {line}); return; }}'
            f"{self.write(ops[0], kind, f'{a} {sign} {b}')}"
        )

    def extreme(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        a, b = self.read(ops[1], kind), self.read(ops[2], kind)
        return self.write(ops[0], kind, f"({a} {'<' if parts[0] == 'min' else '>'} {b} ? {a} : {b})")

    def funnel(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        """Two registers as one of 64 bits, shifted: its upper half (to the left) or its lower one (to the right)."""
        low, high, by = (self.read(op, "u32") for op in ops[1:4])
        by = f"({by} & 31u)" if "wrap" in parts else f"({by} > 32u ? 32u : {by})"
        both = f"(((uint64_t){high} << 32) | {low})"
        return self.write(ops[0], kind, f"({both} << {by}) >> 32" if parts[1] == "l" else f"{both} >> {by}")

    def shift(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        bits, value, by = int(kind[1:]), self.read(ops[1], kind), self.read(ops[2], "u32")
        beyond = f"({value} < 0 ? -1 : 0)" if parts[0] == "shr" and kind[0] == "s" else "0"
        sign = "<<" if parts[0] == "shl" else ">>"
        return self.write(
            ops[0],
            kind,
            f"({by} >= {bits}u ? ({C_TYPES[kind]}){beyond} : ({C_TYPES[kind]})({value} {sign} {by}))",
        )

    def insert_bits(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        a, b = self.read(ops[1], "u64"), self.read(ops[2], "u64")
        at, length = f"({self.read(ops[3], 'u32')} & 255)", f"({self.read(ops[4], 'u32')} & 255)"
        mask = f"(({length} >= 64 ? ~0ull : ((1ull << {length}) - 1)) << {at})"
        return self.write(ops[0], kind, f"({b} & ~{mask}) | (({a} << {at}) & {mask})")

    def extract_bits(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        if kind[0] == "s":
            raise PtxError(f"PTX line {line}: signed bfe")
        at, length = f"({self.read(ops[2], 'u32')} & 255)", f"({self.read(ops[3], 'u32')} & 255)"
        mask = f"({length} >= 64 ? ~0ull : ((1ull << {length}) - 1))"
        return self.write(
            ops[0], kind, f"({at} >= {kind[1:]} ? 0 : ((uint64_t){self.read(ops[1], kind)} >> {at}) & {mask})"
        )

    def compare(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        if len(parts) != 3:
            raise PtxError(f"PTX line {line}: {'.'.join(parts)}")
        return self.write(ops[0], "pred", f"{self.read(ops[1], kind)} {COMPARE[parts[1]]} {self.read(ops[2], kind)}")

    def select(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        a, b = self.read(ops[1], kind), self.read(ops[2], kind)
        return self.write(ops[0], kind, f"({self.read(ops[3], 'pred')} ? {a} : {b})")

    def atomic(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        space = "shared" if "shared" in parts else "global"
        at = 1 if parts[0] == "atom" else 0
        value = self.read(ops[at + 1], kind)
        what = next((p for p in parts[1:] if p in ("add", "min", "max", "and", "or", "xor", "exch")), None)
        new = {
            "add": f"old + {value}", "and": f"old & {value}", "or": f"old | {value}", "xor": f"old ^ {value}",
            "exch": value, "min": f"({value} < old ? {value} : old)", "max": f"({value} > old ? {value} : old)",
        }  # fmt: skip
        if what is None:
            raise PtxError(f"PTX line {line}: {'.'.join(parts)}")
        keep = self.write(ops[0], kind, "old") if at else ""
        where = self.address(ops[at], space, width(kind), line)
        of = C_TYPES[kind]
        return f"{{ {of} *at = {where}; lock(); {of} old = *at; *at = {new[what]}; unlock(); {keep} }}"

    def barrier(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        if parts[1] != "sync" or ops != ["0"]:
            raise PtxError(f"PTX line {line}: {'.'.join(parts)} {ops}")
        return "BARRIER;"

    def branch(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        return f"goto {label(ops[0])};"

    def leave(self, parts: list[str], kind: str, ops: list[str], line: int) -> str:
        return "return;"

    def instruction(self, line: int, statement: str) -> str:
        """One PTX instruction, possibly predicated, as C."""
        match = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([\w.]+)(?:\s+(.*))?", statement, re.S)
        if match is None:
            raise PtxError(f"PTX line {line}: {statement[:80]}")
        parts, ops = match[3].split("."), operands(match[4] or "")
        if parts[0] not in self.rules:
            raise PtxError(f"PTX line {line}: unsupported instruction {match[3]}")
        kind = parts[-1] if parts[-1] in C_TYPES else ""
        code = self.rules[parts[0]](parts, kind, ops, line)
        return f"if ({match[1]}{self.kernel.registers[match[2]][0]}) {{ {code} }}" if match[2] else code


def label(name: str) -> str:
    """A branch target as a C label."""
    return "L_" + re.sub(r"\W", "_", name.strip())


def operands(text: str) -> list[str]:
    """Split at commas outside braces and brackets."""
    return [part.strip() for part in re.split(r",(?![^{\[]*[}\]])", text) if part.strip()]


def declare(kernel: Kernel, kind: str, names: str) -> None:
    """Enter the registers of a .reg directive."""
    for name in (part.strip() for part in names.split(",")):
        many = re.fullmatch(r"(%[\w$]+)<(\d+)>", name)
        for register in [f"{many[1]}{x}" for x in range(int(many[2]))] if many else [name]:
            kernel.registers[register] = ("R" + re.sub(r"\W", "_", register.lstrip("%")), kind)


def translate(ptx: str, counted: bool = False) -> tuple[Kernel, str]:
    """The parsed kernel and the C source that executes it, and counts instructions and bytes where that is asked."""
    kernel = parse(ptx)
    translator, code = Translator(kernel), []
    above, at = kernel.first_line, 0
    for match in re.finditer(r"([^;{}:]*?(?:\{[^{};]*\}[^;{}]*?)*);|([\w$]+):", kernel.body):
        statement = (match[1] or "").strip()
        above += kernel.body.count("\n", at, match.start())
        at = match.start()
        line = above + match.group().lstrip("\n").count("\n")
        register = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", statement, re.S)
        if match[2]:
            code.append(label(match[2]) + ":;")
        elif register is not None:
            declare(kernel, register[1], register[2])
        elif statement.startswith("."):
            if statement.split()[0] not in (*IGNORED, ".shared"):
                raise PtxError(f"PTX line {line}: directive {statement[:60]}")
        elif statement:
            kernel.instructions += 1
            code.append(("t->steps++; " if counted else "") + translator.instruction(line, statement))
    body = "\n".join(code)
    used = set(re.findall(r"\bR\w+", body))
    registers = [f"{C_TYPES[kind]} {name} = 0;" for name, kind in kernel.registers.values() if name in used]
    head = f"#define SHARED_BYTES {max(16, kernel.shared_bytes)}\n" + ("#define COUNTED\n" if counted else "")
    tail = "static void kernel(Block *c, Thread *t) {\n" + "\n".join(registers) + f"\n{body}\nreturn;\n}}\n"
    return kernel, f'{head}#include "runtime.c"\n{tail}'
