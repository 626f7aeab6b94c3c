"""`gpuga expose`: which primaries are exposed before anything is done."""

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
def expose(
    reading: dict[str, Any], seconds: float | None, attacker: AttackerOptions, json_path: str | None, quiet: bool
) -> None:
    """List the sensitive cells of TABLE that are exposed if no other cell is suppressed.

    Cells are numbered by their position in the file, from 0. A cell is initially exposed if single equations suffice
    to narrow it down, otherwise consequentially exposed. Cells that are undecided at the time limit count as exposed.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.report import exposure_content, heading, write_json
    from gpuga.context import Clock, Context

    check_places(files_read(reading), {"--json": json_path})
    clock = Clock(seconds)  # reading counts
    source = read_options(**reading)
    content = exposure_content(gpuga.exposure(source.table, context=Context(clock=clock), **attacker))
    if json_path:
        write_json(json_path, content)
    if not quiet:
        click.echo(heading(source.table, attacker))
        if clock.expired():
            click.echo("time limit reached: undecided cells count as exposed")
        for kind, cells in content.items():
            click.echo(f"{kind.replace('_', ' ')}: {len(cells)}  {_shortened(cells)}")


def _shortened(cells: list[int], most: int = 30) -> str:
    shown = " ".join(map(str, cells[:most]))
    return shown if len(cells) <= most else f"{shown} ..."
