"""`gpuga publish`: the table as it may leave the office."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    bundled,
    files_read,
    notes_on_stderr,
    progress_option,
    protect_secondary_option,
    quiet_option,
    seconds_option,
    table_options,
)
from gpuga.cli.sections import Sectioned

if TYPE_CHECKING:
    from gpuga.context import Clock
    from gpuga.files.public import Interval, Wanted
    from gpuga.table.attacker_model import AttackerOptions
    from gpuga.table.table import Mask, Table


_SHOWN = (
    click.option("--flag", default="c", show_default=True, metavar="TEXT", help="Flag of suppressed cells."),
    click.option(
        "--intervals",
        is_flag=True,
        help="Add the interval of every suppressed cell that readers can compute from the file anyway.",
    ),
    click.option("--sdmx", is_flag=True, help="Add the SDMX columns OBS_STATUS and CONF_STATUS."),
    click.option(
        "--primary-code",
        type=click.Choice(["C", "A", "O", "T", "G", "M"]),
        help="With --sdmx: CONF_STATUS of all primaries. C: no reason given, A: too few contributors; O, T, G, M: "
        "dominance.  [default: by the column rule of TABLE, else C]",
    ),
    click.option(
        "--single-code", is_flag=True, help="With --sdmx: do not tell secondary suppressions (D) from primary ones."
    ),
)
_shown_options = bundled("shown", _SHOWN)


@click.command(cls=Sectioned)
@table_options
@click.argument("pattern", type=click.Path())
@click.option(
    "--out", required=True, type=click.Path(), metavar="PUBLIC", help="Output file: .csv, .xlsx, .parquet or .tab."
)
@_shown_options
@seconds_option
@attacker_options
@protect_secondary_option
@progress_option
@quiet_option
def publish(
    reading: dict[str, Any],
    pattern: str,
    out: str,
    shown: dict[str, Any],
    seconds: float | None,
    attacker: AttackerOptions,
    protect_secondary: bool,
    quiet: bool,
) -> None:
    """Write TABLE for publication: dimensions, values, and one flag for every suppressed cell.

    PATTERN is audited first; if it is not safe, nothing is written (exit code 1). In CSV files, labels that a
    spreadsheet would take for formulas are prefixed with an apostrophe. With --intervals, columns low and high give
    what readers can compute, rounded outwards (blank: no limit). With --sdmx, secondary suppressions are marked D and
    primary ones by the rule that tabulate found, where TABLE has it: readers who can tell them apart, or know the rule,
    know more, so use it for data exchange, or with --single-code.
    """
    from gpuga.cli.audit import judged
    from gpuga.cli.places import check_places
    from gpuga.context import Clock
    from gpuga.errors import GpugaError, printable
    from gpuga.files.atomic import write_whole
    from gpuga.files.public import check_public, public_content
    from gpuga.files.rules import rule_code, rules_of

    intervals = shown.pop("intervals")
    wanted = _wanted(**shown)
    by_rule = shown["sdmx"] and shown["primary_code"] is None and not shown["single_code"]
    check_public(out, wanted.flag)
    check_places(files_read(reading) | {"PATTERN": pattern}, {"--out": out})
    clock = Clock(seconds)  # reading counts
    source, suppressed, verdict = judged(
        reading, pattern, clock, {**attacker, "protect_secondary": protect_secondary}, intervals=False, quiet=quiet
    )
    if not verdict.safe:
        first = source.table.label(verdict.unsafe[0])
        many = f"{len(verdict.unsafe)} cells are not protected, such as {first}"
        raise GpugaError(f"{printable(pattern, 300)} is not safe, and nothing was written: {many}")
    if intervals:
        wanted = replace(wanted, intervals=_exact_intervals(source.table, suppressed, attacker, clock))
    if by_rule:
        wanted = replace(wanted, codes={cell: rule_code(rule) for cell, rule in rules_of(source).items()})
    with notes_on_stderr():
        write_whole(out, public_content(source, suppressed, out, wanted))
    if not quiet:
        hidden = int(suppressed[: len(source.table) - source.table.groups].sum())
        click.echo(f"{printable(out, 300)}: {hidden} cells suppressed; ready for publication")


def _wanted(flag: str, sdmx: bool, primary_code: str | None, single_code: bool) -> Wanted:
    """What the file shows of suppressed cells."""
    from gpuga.errors import InputError
    from gpuga.files.public import SECONDARY, Wanted

    for option, given in (("--primary-code", primary_code), ("--single-code", single_code)):
        if given and not sdmx:
            raise InputError("is for --sdmx", field=option)
    if single_code and primary_code not in (None, "C"):
        raise InputError("would give away that the suppressed cells are of one kind: C is the single code",
                         field="--primary-code")  # fmt: skip
    code = (primary_code or "C") if sdmx else None
    return Wanted(flag, code, "C" if single_code else SECONDARY)


def _exact_intervals(table: Table, suppressed: Mask, attacker: AttackerOptions, clock: Clock) -> dict[int, Interval]:
    """The attacker's intervals, once all are known: a narrower one would tell readers more than the file does.

    Whether values are taken to be whole hangs, where nothing is said, on the size of the sensitive ones, which the
    intervals must not tell: only --whole yes makes them those of a reader who knows it.
    """
    import gpuga
    from gpuga.context import Context
    from gpuga.errors import GpugaError

    asked: AttackerOptions = {**attacker, "whole": "yes" if attacker["whole"] == "yes" else "no"}
    cells = gpuga.audit(table, suppressed, intervals=True, context=Context(clock=clock), **asked).cells
    if not all(cell.exact for cell in cells):
        what = "not all intervals are known exactly, and nothing was written: allow more time with --seconds"
        raise GpugaError(f"{what}, or leave --intervals out")
    return {cell.cell: (cell.min, cell.max) for cell in cells}
