"""Write the table of docs/kernels.md that says which operations there are, where they run and who calls them.

python docs/make_kernels.py            write it
python docs/make_kernels.py --check    only say whether it is up to date
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuga.kernels.backend import Backend
from gpuga.kernels.crossing import Crossing
from gpuga.kernels.general import GeneralCpu
from gpuga.kernels.two_way import TwoWayCpu

sys.path.insert(0, str(Path(__file__).parent))
from pages import remade, write_or_check

PAGE = Path(__file__).with_name("kernels.md")
PACKAGE = PAGE.parents[1] / "gpuga"
BEGIN = "<!-- made by docs/make_kernels.py: begin -->\n"


@dataclass(frozen=True)
class Group:
    """Operations of one class; callers hold it under one of these names."""

    of: Any
    heading: str
    held_as: frozenset[str]
    runs_on: str


GROUPS = (
    Group(
        TwoWayCpu,
        "Generations of two-way tables (`TwoWayCpu`, `TwoWayCuda`)",
        frozenset({"kernels"}),
        "cpu, cuda",
    ),
    Group(
        Crossing,
        "Crossover (`Crossing`, `TwoWayCuda`)",
        frozenset({"kernels", "crossing"}),
        "cpu, cuda (two-way tables)",
    ),
    Group(GeneralCpu, "Generations of general tables (`GeneralCpu`)", frozenset({"cpu"}), "cpu"),
    Group(Backend, "Batches of other methods (`Backend`)", frozenset({"backend", "_backend"}), "numpy, cpu, cuda"),
)


def operations(group: Group) -> list[str]:
    """The public methods of a class, in order."""
    return [name for name, one in vars(group.of).items() if inspect.isfunction(one) and not name.startswith("_")]


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """(holder, method) of every call `holder.method(...)` of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            holder = node.func.value
            if isinstance(holder, ast.Name | ast.Attribute):
                yield holder.id if isinstance(holder, ast.Name) else holder.attr, node.func.attr


def callers() -> dict[tuple[str, str], set[str]]:
    """Which modules of the product call what."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in sorted(PACKAGE.glob("*/*.py")):
        if path.parent.name not in ("kernels", "lp"):
            for call in calls(path):
                found.setdefault(call, set()).add(f"{path.parent.name}/{path.stem}")
    return found


def table(group: Group, calling: dict[tuple[str, str], set[str]]) -> str:
    """The operations of a group as a Markdown table."""
    rows = [
        f"### {group.heading}",
        f"Runs on {group.runs_on}.",
        "",
        "| call | what it does | called by |",
        "|---|---|---|",
    ]
    for name in operations(group):
        by = sorted(set().union(*(calling.get((holder, name), set()) for holder in group.held_as)))
        what = inspect.getdoc(getattr(group.of, name)).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        rows.append(f"| `{name}` | {what} | {', '.join(f'`{one}`' for one in by)} |")
    return "\n".join(rows) + "\n"


def uncalled() -> list[str]:
    """Operations that nobody calls."""
    calling = callers()
    return [
        f"{group.of.__name__}.{name}"
        for group in GROUPS
        for name in operations(group)
        if not any((holder, name) in calling for holder in group.held_as)
    ]


def page(text: str) -> str:
    """The page with its table made anew."""
    calling = callers()
    return remade(text, BEGIN, "\n".join(table(group, calling) for group in GROUPS))


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, sys.argv[1:]))
