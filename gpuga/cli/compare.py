"""`gpuga compare`: several methods on one table, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    device_option,
    files_read,
    json_option,
    progress_option,
    quiet_option,
    read_options,
    seed_option,
    table_options,
    time_limit,
)
from gpuga.cli.sections import Sectioned
from gpuga.methods import COMPARED, method_names

if TYPE_CHECKING:
    from gpuga.compare import Comparison
    from gpuga.table.attacker_model import AttackerOptions


@click.command(cls=Sectioned)
@table_options
@click.option("--methods", default=",".join(COMPARED), show_default=True, metavar="A,B,C", help="Methods to compare.")
@time_limit("Time limit for each method")
@seed_option
@device_option
@attacker_options
@json_option
@progress_option
@quiet_option
def compare(
    reading: dict[str, Any],
    methods: str,
    seconds: float | None,
    attacker: AttackerOptions,
    json_path: str | None,
    quiet: bool,
    **run: Any,
) -> None:
    """Run several methods on TABLE and compare cost, gap to the best lower bound, time and safety.

    --seconds limits each method, and methods run one after the other: the total time is up to the number of methods
    times that, plus the time for reading TABLE.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import progress_on_terminal, ready_to_compile
    from gpuga.cli.report import heading, write_json

    check_places(files_read(reading), {"--json": json_path})
    names = method_names(methods)
    source = read_options(**reading)
    if not quiet:
        click.echo(heading(source.table, attacker))
    ready_to_compile(quiet)
    with progress_on_terminal(quiet) as progress:
        comparison = gpuga.compare(source.table, names, seconds=seconds, progress=progress, **run, **attacker)
    rows = _rows(comparison)
    if json_path:
        write_json(json_path, {"schema": 1, "lower_bound": _bound(comparison), "methods": rows})
    if not quiet:
        click.echo("\n".join(_lines(rows)))


def _bound(comparison: Comparison) -> float | int | None:
    bound = comparison.lower_bound
    return None if bound is None else comparison.table.shown_cost(bound)


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row of figures per method."""
    from gpuga.cli.report import details_of

    rows: list[dict[str, Any]] = []
    for entry in comparison.entries:
        found = entry.protection
        if found is None:
            rows.append({"method": entry.method, "fault": entry.fault})
            continue
        rows.append(
            {
                "method": entry.method,
                "cost": found.cost,
                "secondary": found.secondary,
                "gap": comparison.gap(entry),
                "optimal": comparison.gap(entry) == 0.0,
                "seconds": round(found.seconds, 3),
                "safe": found.audit.safe,
                "details": details_of(found),
            }
        )
    return rows


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    """The rows as a table for people."""
    head = f"{'method':<15}{'cost':>16}{'secondary':>11}{'gap':>10}{'seconds':>10}  safe"
    lines = [head]
    for row in rows:
        if "fault" in row:
            lines.append(f"{row['method']:<15}{row['fault']}")
            continue
        gap = "" if row["gap"] is None else "optimal" if row["optimal"] else f"{100 * row['gap']:.2f} %"
        safe = "yes" if row["safe"] else "no"
        figures = f"{row['cost']:>16,}{row['secondary']:>11}{gap:>10}{row['seconds']:>10.2f}"
        lines.append(f"{row['method']:<15}{figures}  {safe}")
    return lines
