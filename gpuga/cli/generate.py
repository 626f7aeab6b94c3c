"""`gpuga generate`: random test tables of the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpuga.cli.options import added, fraction, quiet_option, seed_option
from gpuga.errors import InputError, printable

if TYPE_CHECKING:
    from gpuga.table.table import Table

Command = TypeVar("Command", bound=Callable[..., Any])

_rows = click.option("--rows", type=click.IntRange(min=1), metavar="N", required=True, help="Number of rows.")
_cols = click.option("--cols", type=click.IntRange(min=1), metavar="N", required=True, help="Number of columns.")
_sensitive = click.option(
    "--sensitive", required=True, metavar="SHARE", help="Share of sensitive cells, such as 1% or 0.01."
)
_zeros = click.option("--zeros", required=True, metavar="SHARE", help="Share of zeros, such as 25% or 0.25.")
_common = (
    seed_option,
    click.option(
        "--out", type=click.Path(), required=True, metavar="TABLE", help="Output file: .jj, .csv, .xlsx or .parquet."
    ),
    quiet_option,
)


def _hierarchical(dimensions: int) -> Callable[[Command], Command]:
    return click.option(
        "--hierarchical",
        type=click.IntRange(0, dimensions),
        metavar="N",
        default=0,
        show_default=True,
        help="Number of the hierarchical dimension, 0 for none.",
    )


def common(command: Command) -> Command:
    """The options that every generator takes."""
    return added(command, _common)


@click.group()
def generate() -> None:
    """Generate a random test table; the same seed gives the same table."""


@generate.command()
@_rows
@_cols
@click.option(
    "--sensitive", metavar="SHARE", help="Share of sensitive cells.  [default: as worded in the paper, about 0.8%]"
)
@common
def class1(rows: int, cols: int, sensitive: str | None, seed: int, out: str, quiet: bool) -> None:
    """Counts from 0 to 499.

    Counts of 1 to 4 are sensitive. Numbers of rows and columns do not include the totals.
    """
    from gpuga.table import generate as tables

    share = None if sensitive is None else fraction(sensitive, "--sensitive")
    _write(tables.class1(rows, cols, seed, share), out, quiet)


@generate.command()
@_rows
@_cols
@common
def class2(rows: int, cols: int, seed: int, out: str, quiet: bool) -> None:
    """Values from 0 to 1000, a fifth of them sensitive.

    Levels are 15 %. Numbers of rows and columns do not include the totals.
    """
    from gpuga.table import generate as tables

    _write(tables.class2(rows, cols, seed), out, quiet)


@generate.command()
@_rows
@_cols
@_sensitive
@common
def herrington(rows: int, cols: int, sensitive: str, seed: int, out: str, quiet: bool) -> None:
    """Decimals from 0 to 1000, as in Herrington 2015.

    Levels are 10 %. Numbers of rows and columns do not include the totals.
    """
    from gpuga.table import generate as tables

    _write(tables.herrington(rows, cols, fraction(sensitive, "--sensitive"), seed), out, quiet)


@generate.command()
@_rows
@_cols
@_sensitive
@_zeros
@_hierarchical(2)
@common
def smith2d(
    rows: int, cols: int, sensitive: str, zeros: str, hierarchical: int, seed: int, out: str, quiet: bool
) -> None:
    """Sums of contributions, as in Smith and others 2012.

    Numbers of contributors are drawn from a Poisson distribution. Numbers of rows and columns include the totals.
    """
    from gpuga.table import generate as tables

    shares = fraction(sensitive, "--sensitive"), fraction(zeros, "--zeros")
    _write(tables.smith2d(rows, cols, *shares, seed, hierarchical), out, quiet)


@generate.command()
@click.option("--shape", required=True, metavar="AxBxC", help="Sizes of the dimensions, such as 100x21x24.")
@_sensitive
@_zeros
@_hierarchical(3)
@common
def smith3d(shape: str, sensitive: str, zeros: str, hierarchical: int, seed: int, out: str, quiet: bool) -> None:
    """As smith2d, in three dimensions, one possibly hierarchical.

    Sizes include the totals.
    """
    from gpuga.table import generate as tables

    shares = fraction(sensitive, "--sensitive"), fraction(zeros, "--zeros")
    _write(tables.smith3d(_sizes(shape), *shares, seed, hierarchical), out, quiet)


def _sizes(text: str) -> list[int]:
    sizes = text.lower().split("x")
    if len(sizes) != 3 or not all(s.isascii() and s.isdigit() and len(s) < 10 for s in sizes):
        raise InputError(f"{printable(text)!r} is not a shape such as 100x21x24", field="--shape")
    return [int(s) for s in sizes]


def _write(table: Table, out: str, quiet: bool) -> None:
    """The table and, where a dimension has groups and the format does not hold them, its hierarchy."""
    from pathlib import Path

    from gpuga.cli.report import size_line
    from gpuga.files.hrc import write_hierarchy
    from gpuga.files.read import write_table

    write_table(table, out)
    said = [size_line(table), f"table: {printable(out, 300)}"]
    for dimension in table.grid.dimensions if table.grid is not None else ():
        if Path(out).suffix != ".jj" and int(dimension.depth.max(initial=0)) > 1:
            path = Path(out).with_suffix(f".{dimension.name}.hrc")
            write_hierarchy(dimension, path)
            said.append(f"hierarchy: --hierarchy {dimension.name}={path}")
    if not quiet:
        click.echo("\n".join(said))
