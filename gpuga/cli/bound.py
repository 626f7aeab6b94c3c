"""`gpuga bound`: a proven lower bound on the cost of any safe pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    files_read,
    json_option,
    quiet_option,
    read_options,
    seconds_option,
    table_options,
)

if TYPE_CHECKING:
    from gpuga.table.attacker_model import AttackerOptions


@click.command()
@table_options
@seconds_option
@attacker_options
@json_option
@quiet_option
def bound(
    reading: dict[str, Any], seconds: float | None, attacker: AttackerOptions, json_path: str | None, quiet: bool
) -> None:
    """Compute a proven lower bound on the cost of any safe pattern of TABLE.

    The bound holds in exact arithmetic, whatever the time limit.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import ending_on_interrupt, progress_on_terminal, ready_to_compile
    from gpuga.cli.report import heading, write_json
    from gpuga.context import Clock, Context

    check_places(files_read(reading), {"--json": json_path})
    clock = Clock(seconds)  # reading counts
    source = read_options(**reading)
    if not quiet:
        click.echo(heading(source.table, attacker))
    ready_to_compile(quiet)
    with progress_on_terminal(quiet) as progress, ending_on_interrupt(clock):
        context = Context(clock=clock, progress=progress, strict=attacker["strict"])
        found = gpuga.lower_bound(source.table, context, whole=attacker["whole"], level_zero=attacker["level_zero"])
    shown = source.table.shown_cost(found.lower_bound)
    if json_path:
        content = {"lower_bound": shown, "proven": found.proven, "seconds": round(found.seconds, 3)}
        write_json(json_path, content)
    if not quiet:
        click.echo(f"lower bound {shown:,} ({found.kind}, {found.seconds:.2f} s)")
