"""`gpuga audit`: the attacker's verdict on a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    files_read,
    json_option,
    protect_secondary_option,
    quiet_option,
    read_options,
    seconds_option,
    table_options,
)

if TYPE_CHECKING:
    from gpuga import Audit
    from gpuga.files.read import Source


@click.command()
@table_options
@click.argument("pattern", type=click.Path())
@seconds_option
@attacker_options
@protect_secondary_option
@click.option("--show", is_flag=True, help="Print the interval that an attacker can compute for each suppressed cell.")
@json_option
@quiet_option
def audit(
    pattern: str,
    seconds: float | None,
    strict: bool,
    whole: str,
    level_zero: str,
    protect_secondary: bool,
    show: bool,
    json_path: str | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """Check whether PATTERN protects every sensitive cell of TABLE.

    The exit code is 0 if the pattern is safe and 1 if it is not; cells that are undecided at the time limit count as
    not safe. PATTERN is a file written by gpuga protect, or any CSV file with the dimensions (or an index) and a
    column suppression; cells that it does not list are published.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import progress_on_terminal
    from gpuga.cli.report import audit_content, heading, write_json
    from gpuga.context import Clock, Context
    from gpuga.files.pattern import read_pattern

    check_places(files_read(reading) | {"PATTERN": pattern}, {"--json": json_path})
    clock = Clock(seconds)  # reading counts
    source = read_options(**reading)
    suppressed = read_pattern(source, pattern)
    with progress_on_terminal(quiet) as progress:
        verdict = gpuga.audit(
            source.table,
            suppressed,
            strict=strict,
            whole=whole,
            level_zero=level_zero,
            protect_secondary=protect_secondary,
            intervals=show or json_path is not None,
            context=Context(clock=clock, progress=progress),
        )
    if json_path:
        write_json(json_path, audit_content(verdict))
    if not quiet:
        lines = [heading(source.table, whole, level_zero), *_verdict(source, verdict)]
        click.echo("\n".join([*lines, *(_intervals(source, verdict) if show else [])]))
    return 0 if verdict.safe else 1


def _verdict(source: Source, verdict: Audit) -> list[str]:
    """The verdict, with the cells that are not protected."""
    from gpuga.cli.report import named

    if verdict.safe:
        return [f"safe: all {verdict.audited} sensitive cells are protected"]
    lines = [f"not safe: {len(verdict.unsafe)} cells are not protected"]
    if verdict.undecided:
        lines[0] += f", {len(verdict.undecided)} of them undecided (time limit reached, or no exact answer found)"
    return [*lines, *named(source.table, verdict.unsafe)]


def _intervals(source: Source, verdict: Audit) -> list[str]:
    """The attacker's intervals."""
    from gpuga.cli.report import INTERVALS, number

    lines = [f"{INTERVALS}:"]
    for cell in verdict.cells:
        low, high = ("no limit" if x is None else number(x) for x in (cell.min, cell.max))
        cut = "" if cell.exact else " or wider (time limit)"
        lines.append(f"  {source.table.label(cell.cell)}  {cell.kind}  {low} .. {high}{cut}")
    return lines
