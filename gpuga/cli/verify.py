"""`gpuga verify`: a proof of safety, checked by a small program of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import quiet_option, table_options

if TYPE_CHECKING:
    from gpuga.verify import Table


@click.command()
@table_options
@click.argument("pattern", type=click.Path())
@click.argument("proof", type=click.Path())
@click.option("--strict", is_flag=True, help="Require a proof that levels are exceeded.")
@click.option(
    "--whole",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    help="yes: require a proof against an attacker who knows that values are whole numbers.",
)
@click.option(
    "--level-zero",
    type=click.Choice(["exact", "ignore"]),
    default="ignore",
    help="exact: require a proof that covers sensitive cells whose levels are all 0.",
)
@click.option("--protect-secondary", is_flag=True, help="Require a proof that covers secondary suppressions.")
@quiet_option
def verify(reading: dict[str, Any], pattern: str, proof: str, quiet: bool, **wanted: Any) -> int:
    """Check the PROOF that gpuga protect --proof wrote for TABLE and PATTERN.

    Use the same options for reading TABLE as with gpuga protect. The checker is a single file, gpuga/verify.py, which
    needs Python's standard library only and can be copied and run on its own. The exit code is 0 if the proof is
    accepted and 1 if it is refused.
    """
    from gpuga import verify as checker
    from gpuga.errors import InputError

    try:
        table = _table(**reading)
        suppressed = checker.read_pattern(_columns(pattern), table)
        head, records = checker.read_proof(proof)
        checker.demand(head, **wanted)
        lines = checker.check(table, suppressed, head, records)
    except checker.Unreadable as fault:
        raise InputError(str(fault)) from None
    except checker.Refused as fault:
        lines = [f"refused: {fault}"]
    if not quiet:
        click.echo("\n".join([checker.NOTICE, *lines]))
    return 0 if lines[0].startswith("accepted") else 1


def _table(table: str, **given: Any) -> Table:
    """The table as the checker reads it, by the options of `table_options`."""
    from gpuga import verify as checker

    trees = checker.files_by_dimension(given["hierarchy"])
    total, totals = checker.codes_of_totals(given["total"])
    reading = checker.Reading(
        given["levels"], given["weights"], total, trees, given["ignore"], given["dimension"], totals
    )
    return checker.long_table(_columns(table), reading) if _is_parquet(table) else checker.read_table(table, reading)


def _columns(path: str) -> dict[str, list[str]]:
    """The columns of a file as texts; those of Parquet as they would stand in a CSV file."""
    from pathlib import Path

    from gpuga import verify as checker
    from gpuga.files.parquet import read_arrow
    from gpuga.table.builders import frame_columns

    if not _is_parquet(path):
        return checker.sheet(path)
    columns = frame_columns(read_arrow(Path(path)))
    return {name: [_text(entry) for entry in column] for name, column in columns.items()}


def _text(entry: object) -> str:
    """A value as it would stand in a file; what is missing is blank."""
    from gpuga.table.exact import is_missing

    if is_missing(entry):
        return ""
    return repr(float(entry)) if isinstance(entry, float) else str(entry).strip()


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(".parquet")
