"""Write the tables of docs/kernels.md: operations, where they run and who calls them; every kernel with its figures.

The figures are read from bench/occupancy.csv and bench/kernel_work.json, which `python -m tests.ptx.figures` writes.

python docs/make_kernels.py            write it
python docs/make_kernels.py --check    only say whether it is up to date
"""

from __future__ import annotations

import ast
import csv
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuga.kernels.backend import Backend
from gpuga.kernels.crossing import Crossing
from gpuga.kernels.cuda_kernels import KERNELS
from gpuga.kernels.general import GeneralCpu
from gpuga.kernels.two_way import TwoWayCpu

sys.path.insert(0, str(Path(__file__).parent))
from pages import remade, write_or_check

PAGE = Path(__file__).with_name("kernels.md")
PACKAGE = PAGE.parents[1] / "gpuga"
BEGIN = "<!-- made by docs/make_kernels.py: begin -->\n"
FIGURES = "<!-- figures made by docs/make_kernels.py: begin -->\n"
BENCH = PAGE.parents[1] / "bench"
ARCHITECTURES = ("sm_80", "sm_90")


@dataclass(frozen=True)
class Gpu:
    """A GPU by its data sheet: multiprocessors, boost clock in GHz, memory bandwidth in GB/s."""

    name: str
    multiprocessors: int
    clock: float
    bandwidth: float

    def milliseconds(self, instructions: int, moved: int) -> float:
        """The roofline: no less than issuing the instructions (4 warps per cycle and multiprocessor), or the bytes."""
        issued = instructions / (4 * self.multiprocessors * self.clock * 1e9)
        return 1000 * max(issued, moved / (self.bandwidth * 1e9))


GPUS = (Gpu("A100 (SXM, 40 GB)", 108, 1.41, 1555), Gpu("H100 (SXM)", 132, 1.98, 3350))


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
        "Crossover (`Crossing`, `TwoWayCuda`, `GeneralCuda`)",
        frozenset({"kernels", "crossing", "work"}),
        "cpu, cuda",
    ),
    Group(
        GeneralCpu,
        "Generations of general tables (`GeneralCpu`, `GeneralCuda`)",
        frozenset({"cpu", "work"}),
        "cpu, cuda; what concerns single circuits (`certificate`, `add_circuits`, `genes_of`) on the cpu",
    ),
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


def figures() -> str:
    """Every kernel as a line of a Markdown table."""
    with (BENCH / "occupancy.csv").open(encoding="utf-8", newline="") as file:
        built = {(row["kernel"], row["architecture"]): row for row in csv.DictReader(file)}
    work = json.loads((BENCH / "kernel_work.json").read_text(encoding="utf-8"))
    shown = [f"{what}, {arch}" for what in ("registers", "occupancy") for arch in ARCHITECTURES]
    header = ["kernel", "threads", *shown, "shared bytes", "PTX instructions", "warp instructions per pattern"]
    header += ["bytes per pattern", *(f"ms per 1,000 patterns, {gpu.name}" for gpu in GPUS)]
    rows = [header, ["---"] * 2 + ["---:"] * (len(header) - 2)]
    for name in dict.fromkeys(kernel for kernel, _ in built):
        own = [built[name, arch] for arch in ARCHITECTURES]
        cells = [f"`{name}`", threads(name), *(row["registers"] for row in own), *(row["occupancy"] for row in own)]
        cells += [own[0]["static shared bytes"], f"{work['instructions'][name]:,}"]
        done = work["per_pattern"].get(name)
        if done is None:
            cells += ["–"] * (2 + len(GPUS))
        else:
            each = (done["instructions"], done["bytes"])
            cells += [f"{n:,}" for n in each] + [f"{1000 * gpu.milliseconds(*each):.3g}" for gpu in GPUS]
        rows.append(cells)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def threads(name: str) -> str:
    """Which thread does what: how the kernel's own words begin."""
    function, _, count = KERNELS[name]
    words = str(inspect.getdoc(function)).split("\n")[0].partition(":")[0].partition(",")[0].partition(";")[0]
    return f"{words.rstrip('.').lower()}, {count} a block"


def page(text: str) -> str:
    """The page with its tables made anew."""
    calling = callers()
    tables = "\n".join(table(group, calling) for group in GROUPS)
    return remade(remade(text, BEGIN, tables), FIGURES, figures())


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, sys.argv[1:]))
