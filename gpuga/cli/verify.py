"""`gpuga verify`: a proof of safety, checked by a small program of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import notes_on_stderr, quiet_option, table_options
from gpuga.cli.sections import Sectioned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuga.files.notation import Written
    from gpuga.verify import PlainTable


@click.command(cls=Sectioned)
@table_options
@click.argument("pattern", type=click.Path())
@click.argument("proof", type=click.Path())
@click.option("--strict", is_flag=True, help="Require a proof that levels are exceeded.")
@click.option(
    "--whole",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    help="yes: require a proof against an attacker who knows that values are whole numbers; else: accept any proof.",
    show_default=True,
)
@click.option(
    "--level-zero",
    type=click.Choice(["exact", "ignore"]),
    default="ignore",
    help="exact: require a proof that covers sensitive cells whose levels are all 0; else: accept any proof.",
    show_default=True,
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
        with notes_on_stderr():
            table = _table(**reading)
            suppressed = checker.read_pattern(_pattern(pattern), table)
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


def _table(table: str, **given: Any) -> PlainTable:
    """The table as the checker reads it, by the options of `table_options`.

    What the checker cannot read by itself (Parquet, workbooks, decimal commas and the like) gpuga reads for it.
    """
    from dataclasses import fields

    from gpuga import verify as checker
    from gpuga.files.notation import Written

    if given["by"] is not None:
        raise checker.Unreadable("--by: a proof is checked on a table; gpuga tabulate writes that of records")
    trees = checker.files_by_dimension(given["hierarchy"])
    total, totals = checker.codes_of_totals(given["total"])
    reading = checker.ReadAs(
        given["levels"], given["weights"], total, trees, given["ignore"], given["dimension"], totals
    )
    written = Written(**{field.name: given[field.name] for field in fields(Written)})
    if table.lower().endswith(".jj"):
        return checker.read_table(table, reading)
    if written != Written() or table.lower().endswith((".parquet", ".xlsx", ".tab")):
        return checker.long_table(_columns(table, written, given["dimension"]), reading)
    try:
        return checker.read_table(table, reading)
    except checker.Unreadable:
        return checker.long_table(_columns(table, written, given["dimension"]), reading)


def _columns(path: str, written: Written, dimensions: Sequence[str]) -> dict[str, list[str]]:
    """The columns of a file as they would stand in a plain CSV file."""
    from pathlib import Path

    from gpuga.files.read import plain_columns

    columns = plain_columns(Path(path), written, dimensions)
    return {name: [_text(entry) for entry in column] for name, column in columns.items()}


def _pattern(path: str) -> dict[str, list[str]]:
    """The columns of a pattern, as the checker reads them by itself where it can."""
    from gpuga import verify as checker
    from gpuga.files.notation import Written

    if path.lower().endswith((".parquet", ".xlsx")):
        return _columns(path, Written(), ())
    return checker.sheet(path)


def _text(entry: object) -> str:
    """A value as it would stand in a file; what is missing is blank."""
    from gpuga.table.exact import is_missing

    if is_missing(entry):
        return ""
    return repr(float(entry)) if isinstance(entry, float) else str(entry).strip()
