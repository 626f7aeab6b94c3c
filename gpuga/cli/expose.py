"""`gpuga expose`: which primaries are exposed before anything is done."""

from __future__ import annotations

from typing import Any

import click

from gpuga.cli.options import files_read, json_option, quiet_option, read_options, strict_option, table_options


@click.command()
@table_options
@strict_option
@json_option
@quiet_option
def expose(strict: bool, json_path: str | None, quiet: bool, **reading: Any) -> None:
    """Show which sensitive cells of TABLE an attacker could narrow down if only they were suppressed.

    Cells are given by their position in the file, from 0. Exposed cells are initially exposed when the
    lines through them suffice to see it, else consequentially.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.report import exposure_content, heading, write_json

    check_places(files_read(reading), {"--json": json_path})
    source = read_options(**reading)
    content = exposure_content(gpuga.exposure(source.table, strict=strict))
    if json_path:
        write_json(json_path, content)
    if not quiet:
        click.echo(heading(source.table))
        for kind, cells in content.items():
            click.echo(f"{kind.replace('_', ' ')}: {len(cells)}  {_shortened(cells)}")


def _shortened(cells: list[int], most: int = 30) -> str:
    shown = " ".join(map(str, cells[:most]))
    return shown if len(cells) <= most else f"{shown} ..."
