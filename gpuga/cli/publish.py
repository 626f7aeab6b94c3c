"""`gpuga publish`: the table as it may leave the office."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    files_read,
    notes_on_stderr,
    protect_secondary_option,
    quiet_option,
    seconds_option,
    table_options,
)

if TYPE_CHECKING:
    from gpuga.table.attacker_model import AttackerOptions, SafetyOptions


@click.command()
@table_options
@click.argument("pattern", type=click.Path())
@click.option("--out", required=True, type=click.Path(), metavar="PUBLIC", help="Output file: .csv or .parquet.")
@click.option("--flag", default="c", show_default=True, metavar="TEXT", help="Flag of suppressed cells.")
@seconds_option
@attacker_options
@protect_secondary_option
@quiet_option
def publish(
    reading: dict[str, Any],
    pattern: str,
    out: str,
    flag: str,
    seconds: float | None,
    attacker: AttackerOptions,
    protect_secondary: bool,
    quiet: bool,
) -> None:
    """Write TABLE for publication: dimensions, values, and one flag for every suppressed cell.

    PATTERN is audited first; if it is not safe, nothing is written (exit code 1). In CSV files, labels that a
    spreadsheet would take for formulas are prefixed with an apostrophe.
    """
    from gpuga.cli.audit import judged
    from gpuga.cli.places import check_places
    from gpuga.context import Clock
    from gpuga.errors import GpugaError, printable
    from gpuga.files.atomic import write_whole
    from gpuga.files.public import check_public, public_content

    check_public(out, flag)
    check_places(files_read(reading) | {"PATTERN": pattern}, {"--out": out})
    clock = Clock(seconds)  # reading counts
    asked: SafetyOptions = {**attacker, "protect_secondary": protect_secondary}
    source, suppressed, verdict = judged(reading, pattern, clock, asked, intervals=False, quiet=quiet)
    if not verdict.safe:
        first = source.table.label(verdict.unsafe[0])
        many = f"{len(verdict.unsafe)} cells are not protected, such as {first}"
        raise GpugaError(f"{printable(pattern, 300)} is not safe, and nothing was written: {many}")
    with notes_on_stderr():
        write_whole(out, public_content(source, suppressed, out, flag))
    if not quiet:
        hidden = int(suppressed[: len(source.table) - source.table.groups].sum())
        click.echo(f"{printable(out, 300)}: {hidden} cells suppressed; ready for publication")
