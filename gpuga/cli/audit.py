"""`gpuga audit`: the attacker's verdict on a pattern."""

from __future__ import annotations

from typing import Any

import click

from gpuga.cli.options import files_read, json_option, quiet_option, read_options, strict_option, table_options


@click.command()
@table_options
@click.argument("pattern", type=click.Path())
@strict_option
@click.option("--protect-secondary", is_flag=True, help="No secondary may be exactly determined either.")
@click.option("--show", is_flag=True, help="Print the attacker's intervals.")
@json_option
@quiet_option
def audit(
    pattern: str,
    strict: bool,
    protect_secondary: bool,
    show: bool,
    json_path: str | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """Judge PATTERN on TABLE: can an attacker come too close to a sensitive cell?

    Ends with exit code 0 when the pattern is safe and 1 when it is not. PATTERN is what protect writes,
    or any CSV file with the dimensions (or index) and a column suppression; cells that it does not name
    are published.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import progress_on_terminal
    from gpuga.cli.report import INTERVALS, audit_content, heading, named, number, write_json
    from gpuga.context import Context
    from gpuga.files.pattern import read_pattern

    check_places(files_read(reading) | {"PATTERN": pattern}, {"--json": json_path})
    source = read_options(**reading)
    suppressed = read_pattern(source, pattern)
    with progress_on_terminal(quiet) as progress:
        verdict = gpuga.audit(
            source.table,
            suppressed,
            strict=strict,
            protect_secondary=protect_secondary,
            intervals=show or json_path is not None,
            context=Context(progress=progress),
        )
    if json_path:
        write_json(json_path, audit_content(verdict))
    if quiet:
        return 0 if verdict.safe else 1
    click.echo(heading(source.table))
    if verdict.safe:
        click.echo(f"safe: all {verdict.audited} sensitive cells are protected")
    else:
        click.echo(f"not safe: {len(verdict.unsafe)} cells are not protected")
        click.echo("\n".join(named(source.table, verdict.unsafe)))
    if show:
        click.echo(f"{INTERVALS}:")
        for cell in verdict.cells:
            low, high = ("no limit" if x is None else number(x) for x in (cell.min, cell.max))
            click.echo(f"  {source.table.label(cell.cell)}  {cell.kind}  {low} .. {high}")
    return 0 if verdict.safe else 1
