"""`gpuga doctor`: which back ends and solvers work here, and what is missing."""

from __future__ import annotations

import os
import platform

import click


@click.command()
@click.option(
    "--table", type=click.Path(), metavar="FILE", help="Only say how much memory this table takes; it is not read in."
)
@click.option("--total", metavar="CODE", default="Total", show_default=True, help="With --table: code of the totals.")
def doctor(table: str | None, total: str) -> None:
    """Check which back ends and solvers work on this machine, and show how to install the others."""
    if table is not None:
        click.echo("\n".join(memory_lines(table, total)))
        return
    from gpuga import __version__
    from gpuga.installed import parts

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    click.echo(f"gpuga {__version__}, Python {platform.python_version()}, {platform.machine()}, {cores} cores")
    for kind, name, problem, note in parts(os.environ):
        click.echo(f"{'ok' if problem is None else '--':<3}{kind:<9}{name:<12}{note if problem is None else problem}")


def memory_lines(table: str, total: str) -> list[str]:
    """How much memory a table takes, and whether this machine has it."""
    from gpuga.errors import printable
    from gpuga.files.extent import extent_of
    from gpuga.memory import available, memory_plan

    extent = extent_of(table, total)
    cells = extent.most_cells
    plan = memory_plan(extent.rows, extent.size, cells, extent.dimensions, extent.sensitive)
    codes = " x ".join(f"{printable(name)} {count:,}" for name, count in extent.codes.items())
    figures = {
        "reading": plan.reading,
        "table and equations": plan.table,
        "boxes, audit and writing": plan.work,
        "at the most": plan.peak,
        "available here": available(),
    }
    fits = plan.peak <= available()
    return [
        f"{printable(table, 300)}: {extent.rows:,} rows{f', {codes} codes' if codes else ''}, at most {cells:,} cells",
        *(f"  {what:<26}{_shown(number):>12}" for what, number in figures.items()),
        f"{'it fits' if fits else 'it does not fit'}: hypercube protects tables of any size that fits; an evolutionary "
        f"method can have a population of up to {plan.population:,}",
    ]


def _shown(number: int) -> str:
    return f"{number / 2**30:,.2f} GiB"
