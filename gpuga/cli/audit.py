"""`gpuga audit`: the attacker's verdict on a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpuga.cli.options import (
    attacker_options,
    files_read,
    json_option,
    notes_on_stderr,
    progress_option,
    protect_secondary_option,
    quiet_option,
    read_options,
    seconds_option,
    table_options,
    worker_options,
)
from gpuga.cli.sections import Sectioned

if TYPE_CHECKING:
    from gpuga import Audit
    from gpuga.context import Clock, Context
    from gpuga.files.read import Source
    from gpuga.table.attacker_model import AttackerOptions, SafetyOptions
    from gpuga.table.table import Mask
    from gpuga.table.witnesses import Witnesses


@click.command(cls=Sectioned)
@table_options
@click.argument("pattern", type=click.Path())
@seconds_option
@attacker_options
@protect_secondary_option
@worker_options
@click.option("--show", is_flag=True, help="Print the interval that an attacker can compute for each suppressed cell.")
@json_option
@progress_option
@quiet_option
def audit(
    reading: dict[str, Any],
    pattern: str,
    seconds: float | None,
    attacker: AttackerOptions,
    protect_secondary: bool,
    show: bool,
    json_path: str | None,
    quiet: bool,
    **where: Any,
) -> int:
    """Check whether PATTERN protects every sensitive cell of TABLE.

    The exit code is 0 if the pattern is safe and 1 if it is not; cells that are undecided at the time limit count as
    not safe. PATTERN is a file written by gpuga protect, or any CSV file with the dimensions (or an index) and a
    column suppression; cells that it does not list are published. Of a .toml file of linked tables, PATTERN is the
    folder of their patterns, which are audited together.
    """
    from gpuga.cli.linked import Destination, audit_linked, refuse_for_linked
    from gpuga.cli.places import check_places
    from gpuga.cli.report import audit_content, heading, write_json
    from gpuga.context import Clock
    from gpuga.files.tables import is_plan

    clock = Clock(seconds)  # reading counts
    asked: SafetyOptions = {**attacker, "protect_secondary": protect_secondary}
    if is_plan(reading["table"]):
        refuse_for_linked(reading, {"--show": show} | {f"--{name}": given for name, given in where.items()})
        return audit_linked(reading["table"], pattern, asked, clock, Destination(pattern, json_path, quiet))
    check_places(files_read(reading) | {"PATTERN": pattern}, {"--json": json_path})
    shown = show or json_path is not None
    source, _, verdict = judged(reading, pattern, clock, asked, intervals=shown, quiet=quiet, where=where)
    if json_path:
        write_json(json_path, audit_content(verdict))
    if not quiet:
        lines = [heading(source.table, attacker), *_verdict(source, verdict)]
        click.echo("\n".join([*lines, *(_intervals(source, verdict) if show else [])]))
    return 0 if verdict.safe else 1


class AuditedPattern(NamedTuple):
    """A table, a pattern of it from a file, and the verdict on it."""

    source: Source
    suppressed: Mask
    verdict: Audit


def judged(
    reading: dict[str, Any],
    pattern: str,
    clock: Clock,
    asked: SafetyOptions,
    *,
    intervals: bool,
    quiet: bool,
    proofs: bool = False,
    where: dict[str, Any] | None = None,
) -> AuditedPattern:
    """Read a table and a pattern, and audit it."""
    import gpuga
    from gpuga.cli.progress import progress_on_terminal
    from gpuga.context import Context
    from gpuga.files.pattern import read_pattern

    source = read_options(**reading)
    suppressed = read_pattern(source, pattern)
    with progress_on_terminal(quiet, clock) as progress:
        context = Context(clock=clock, progress=progress)
        proof = _proposed(source, suppressed, asked, where or {}, context)
        verdict = gpuga.audit(
            source.table,
            suppressed,
            intervals=intervals,
            proofs=proofs,
            proof=proof,
            context=context,
            **asked,
        )
    return AuditedPattern(source, suppressed, verdict)


def _proposed(
    source: Source, suppressed: Mask, asked: SafetyOptions, where: dict[str, Any], context: Context
) -> Witnesses | None:
    """What workers found, where some are asked for; the audit checks it before it counts."""
    if all(given is None for given in where.values()):
        return None
    from gpuga.cluster.attackers import proposed_witnesses
    from gpuga.cluster.workers import cores, find_workers

    source.table.check_pattern(suppressed)
    with notes_on_stderr(), find_workers(where["cluster"], where["workers"] or cores()) as workers:
        return proposed_witnesses(source.table, suppressed, asked, workers, context)


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
