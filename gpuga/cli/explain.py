"""`gpuga explain`: why cells are suppressed, what they cost, and where protection is tightest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    files_read,
    json_option,
    progress_option,
    protect_secondary_option,
    seconds_option,
    table_options,
)
from gpuga.cli.sections import Sectioned

if TYPE_CHECKING:
    from gpuga.context import Clock
    from gpuga.report.data import Judged
    from gpuga.table.attacker_model import AttackerOptions, SafetyOptions


@click.command(cls=Sectioned)
@table_options
@click.argument("pattern", type=click.Path())
@click.option(
    "--cell",
    "cells",
    multiple=True,
    metavar="DIM=CODE,...",
    help="Explain this cell (.jj: its index); may be repeated.",
)
@click.option(
    "--most", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Maximum number of cells listed."
)
@seconds_option
@attacker_options
@protect_secondary_option
@json_option
@progress_option
def explain(
    reading: dict[str, Any],
    pattern: str,
    cells: tuple[str, ...],
    most: int,
    seconds: float | None,
    attacker: AttackerOptions,
    protect_secondary: bool,
    json_path: str | None,
) -> int:
    """Explain PATTERN: which sensitive cells need which secondary suppressions, and which cells are protected tightest.

    A sensitive cell needs a secondary suppression if it is no longer protected once that cell alone is published.
    Without --cell, the costliest secondary suppressions and the tightest cells are listed. With --cell, it is also
    computed what a pattern costs that publishes the cell (within --seconds, else 10 seconds for each cell).
    --seconds limits everything but the audit. The exit code is 1 if the pattern is not safe.
    """
    from gpuga.cli.explained import cell_content, cell_lines, named_cell, overview_content, overview_lines
    from gpuga.cli.places import check_places
    from gpuga.cli.report import heading, write_json
    from gpuga.context import Clock

    check_places(files_read(reading) | {"PATTERN": pattern}, {"--json": json_path})
    clock = Clock(seconds)  # reading counts
    asked: SafetyOptions = {**attacker, "protect_secondary": protect_secondary}
    judged = _judged(reading, pattern, clock, asked, 0 if cells else most)
    lines, content = [heading(judged.table, attacker)], overview_content(judged, most)
    if cells:
        explained = [cell_content(judged, named_cell(judged.names, text), clock, asked) for text in cells]
        lines += [line for one in explained for line in cell_lines(one)]
        content = {"safe": judged.verdict.safe, "cells": explained}
    else:
        lines += overview_lines(content)
    if json_path:
        write_json(json_path, content)
    click.echo("\n".join(lines))
    return 0 if judged.verdict.safe else 1


def _judged(reading: dict[str, Any], pattern: str, clock: Clock, asked: SafetyOptions, most: int) -> Judged:
    """The pattern with its verdict, its intervals and the needs of its costliest secondary suppressions."""
    from gpuga import __version__
    from gpuga.cli.audit import judged
    from gpuga.cli.progress import progress_on_terminal, ready_to_compile
    from gpuga.context import Clock, Context
    from gpuga.files.rules import rules_of
    from gpuga.report.data import Judged, in_detail
    from gpuga.report.names import Names

    ready_to_compile(quiet=False)
    source, suppressed, verdict = judged(reading, pattern, Clock(), asked, intervals=False, quiet=False, proofs=True)
    found = Judged(source.table, suppressed, verdict, Names.of(source), __version__, rules=rules_of(source))
    with progress_on_terminal(False, clock) as progress:
        return in_detail(found, most, Context(clock=clock, progress=progress), **asked)
