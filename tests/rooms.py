"""The rooms of the house and the arrows between them, read from the imports; drawn in CONTRIBUTING.md.

`make house` (`python -m tests.rooms`) draws them anew and prints the modules that most others import.
`tests/test_house.py` checks that the drawing is up to date and that every arrow goes down.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms: made by make house -->\n", "<!-- rooms: end -->\n"


@dataclass(frozen=True)
class Room:
    """A room: its folder and single modules, what happens there, and the rooms below that it may use."""

    name: str
    subject: str
    may_use: frozenset[str]
    modules: tuple[str, ...]


def _room(name: str, subject: str, may_use: str = "", modules: str = "") -> Room:
    homes = tuple(f"gpuga.{module}" for module in modules.split()) or (name if name == "bench" else f"gpuga.{name}",)
    return Room(name, subject, frozenset(may_use.split()), homes)


ROOMS = (
    _room("kernels", "batched operations on plain arrays: numpy, CPU, CUDA"),
    _room("lp", "linear programs on plain arrays: HiGHS, cuOpt"),
    _room("verify", "the small program that checks proofs; standard library only"),
    _room(
        "base",
        "errors, audience, compilation, declared parameters",
        "kernels",
        "errors audience compiling compiled declared version",
    ),
    _room("table", "cells, equations, levels, weights; what the attacker knows; exact integers; generators", "base"),
    _room(
        "run",
        "what is passed along: back end, context, parameters, clock, found patterns",
        "base table kernels lp",
        "backends context parameters protection memory",
    ),
    _room("files", "formats, one module each, read and write", "base table verify"),
    _room("safety", "the attacker: witnesses, audit, exposure", "base table run kernels lp"),
    _room("report", "what a pattern takes away and why; a page to look at", "base table run files safety"),
    _room("problem", "what has to be protected, with which cells; presolve", "base table run safety kernels lp"),
    _room("circuits", "certificates: circuits, cheapest changes, paths", "base table run safety problem kernels lp"),
    _room("heuristics", "constructive methods, local search", "base table run safety problem circuits lp"),
    _room("bounds", "lower bounds and exact methods", "base table run files safety problem circuits kernels lp verify"),
    _room(
        "evolution",
        "genetic algorithms, checkpoints",
        "base table run files safety problem circuits heuristics bounds kernels lp",
    ),
    _room(
        "cluster",
        "islands of one table, its attackers, and many jobs, on processes of this machine or a Dask cluster",
        "base table run files safety problem bounds evolution kernels lp",
    ),
    _room("microdata", "tabulation, local suppression, recoding", "base table run files safety kernels lp"),
    _room(
        "recipe",
        "the public surface: the register of methods, `protect` for all of them",
        "base table run files safety report problem circuits heuristics bounds evolution cluster microdata kernels lp "
        "verify",
        "__init__ methods anytime further unmet_wishes protect records linked result proof_file compare compile_ahead "
        "installed",
    ),
    _room(
        "cli",
        "one small file per command: words and numbers in and out",
        "base table run files report cluster microdata recipe verify",
        "cli __main__",
    ),
    _room(
        "bench",
        "experiments and measurements; `docs/bench.md`",
        "base table run files safety problem circuits heuristics bounds evolution cluster microdata kernels recipe cli",
    ),
)
"""From the ground up: a room may use rooms that stand above it in this list, and of those only what it names."""

EXCEPTIONS = tomllib.loads((ROOT / "tests" / "house.toml").read_text(encoding="utf-8"))
"""Where the house does not keep its rules yet."""


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its name; `kernels` and `lp` under the names that they install as."""
    found = {}
    for folder, name in (("gpuga", "gpuga"), ("kernels", "gpuga.kernels"), ("lp", "gpuga.lp"), ("bench", "bench")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if folder == "gpuga" and parts[0] in ("kernels", "lp"):
                continue  # links
            found[".".join([name, *parts])] = path
    return found


def room_of(module: str) -> str:
    """The room in which a module stands."""
    for room in ROOMS:
        if any(module == home or module.startswith(f"{home}.") for home in room.modules):
            return room.name
    raise LookupError(f"{module} stands in no room: name it in tests/rooms.py")


@cache
def syntax(path: Path) -> ast.Module:
    """The syntax tree of a file, which many rules look at."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports by their full names, wherever in the file."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            yield from (_module(alias.name) for alias in node.names if _ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and _ours(node.module):
            yield from {_module(f"{node.module}.{alias.name}") for alias in node.names}


def _ours(name: str) -> bool:
    return name.split(".")[0] in ("gpuga", "bench")


def _module(name: str) -> str:
    """The module that a name stands for, or in which it stands."""
    known = modules()
    while name not in known and f"{name}.__init__" not in known:
        name = name.rpartition(".")[0]
    return name if name in known else f"{name}.__init__"


@dataclass(frozen=True)
class Arrow:
    """One module imports another of another room."""

    source: str
    target: str

    @property
    def rooms(self) -> tuple[str, str]:
        """From which room to which."""
        return room_of(self.source), room_of(self.target)


@cache
def arrows() -> tuple[Arrow, ...]:
    """All imports from room to room."""
    every = (Arrow(name, target) for name, path in modules().items() for target in set(imported(path)))
    return tuple(sorted((a for a in every if len(set(a.rooms)) == 2), key=lambda a: (a.source, a.target)))


def drawing() -> str:
    """The table of rooms and the picture of their arrows, in Markdown."""
    used = {arrow.rooms for arrow in arrows()}
    users: defaultdict[str, set[str]] = defaultdict(set)
    for source, target in used:
        users[target].add(source)
    lines = ["| room | what happens there | fan-in |", "|---|---|---|"]
    lines += [f"| {_place(room)} | {room.subject} | {len(users[room.name])} |" for room in reversed(ROOMS)]
    return "\n".join([*lines, "", "```mermaid", *_mermaid(used), "```", ""])


def _place(room: Room) -> str:
    folder = ROOT / room.name if room.name in ("kernels", "lp", "bench") else ROOT / "gpuga" / room.name
    place = f"`{folder.relative_to(ROOT)}`" if folder.is_dir() else room.name
    single = [home.removeprefix("gpuga.") + ".py" for home in room.modules if not folder.is_dir()]
    installed = " (installs as `gpuga." + room.name + "`)" if room.name in ("kernels", "lp") else ""
    return place + installed + (f": `gpuga/{{{','.join(single)}}}`" if single else "")


def _mermaid(used: set[tuple[str, str]]) -> Iterator[str]:
    """Full arrows for what the rules allow, without those that a longer way replaces; dotted ones for exceptions."""
    allowed = {(room.name, below) for room in ROOMS for below in room.may_use} & used
    below: defaultdict[str, set[str]] = defaultdict(set)
    for room in ROOMS:
        for source, target in allowed:
            if source == room.name:
                below[source] |= {target} | below[target]
    yield "flowchart TD"
    for source, target in sorted(allowed):
        if not any(target in below[between] for start, between in allowed if start == source):
            yield f"    {source} --> {target}"
    for source, target in sorted(used - allowed):
        yield f"    {source} -.-> {target}"


def draw(page: str) -> str:
    """The page with the drawing as it is now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has no place for the rooms")
    return before + begin + drawing() + end + after


def main() -> None:
    """Draw the rooms in CONTRIBUTING.md and print the modules that most others import."""
    PAGE.write_text(draw(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    users = Counter(target for path in modules().values() for target in set(imported(path)))
    print("imported by so many modules:")
    for name, count in users.most_common(12):
        print(f"{count:>5}  {name}")
    print(f"{len(EXCEPTIONS['arrows'])} arrows still break the rules (tests/house.toml)")


if __name__ == "__main__":
    main()
