"""Linked tables on the command line: protected together into a folder of patterns, and audited together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpuga.errors import InputError, printable

if TYPE_CHECKING:
    from gpuga import Audit, Plan, ProtectedTables
    from gpuga.context import Clock
    from gpuga.files.tables import TableOfPlan
    from gpuga.table.attacker_model import SafetyOptions
    from gpuga.table.table import Mask

SAID_IN_THE_FILE = "is said in the .toml file, or is for single tables"


class Destination(NamedTuple):
    """Where the results of a run go: the folder of the patterns, the JSON file, and whether lines are printed."""

    folder: str
    json_path: str | None
    quiet: bool


def refuse_for_linked(
    reading: dict[str, Any], further: dict[str, Any], arguments: dict[str, Any] | None = None
) -> None:
    """Refuse options that linked tables do not take."""
    given = {f"--{name.replace('_', '-')}": value for name, value in reading.items() if name != "table"}
    options = (arguments or {}).get("options", {})
    given |= {f"--{name}": options.get(name) for name in ("alternatives", "checkpoint", "resume", "log")}
    for option, value in (given | further).items():
        if value:
            raise InputError(SAID_IN_THE_FILE, field=option)


def pattern_path(folder: str, name: str) -> str:
    """Where the pattern of a table lies."""
    return str(Path(folder) / f"{name}.csv")


def protect_linked(path: str, asked: dict[str, Any], clock: Clock, written: Destination) -> None:
    """Protect the tables of a TOML file together and write one pattern each."""
    import gpuga
    from gpuga.cli.progress import ending_on_interrupt, progress_on_terminal, ready_to_compile
    from gpuga.cli.report import json_text, protection_lines
    from gpuga.files.atomic import write_together
    from gpuga.files.pattern import pattern_content

    found, planned = _read(path, written, writes=True)
    _say_attacker(planned, asked, written.quiet)
    ready_to_compile(written.quiet)
    with _notes(), ending_on_interrupt(clock):
        with progress_on_terminal(written.quiet, clock) as progress:
            done = gpuga.protect_tables(planned, clock=clock, progress=progress, **asked)
        results = [
            (pattern_path(written.folder, one.member.name), pattern_content(one.source, pattern, "pattern.csv"))
            for one, pattern in zip(found, done.suppressed, strict=True)
        ]
        if written.json_path:
            results.append((written.json_path, json_text(_summary(found, done))))
        write_together(results)
    if not written.quiet:
        lines = [line for protection in done.protections for line in protection_lines(protection)]
        click.echo("\n".join([*lines, *_losses(found, done), f"patterns: {printable(written.folder, 300)}"]))


def audit_linked(path: str, folder: str, asked: SafetyOptions, clock: Clock, written: Destination) -> int:
    """Audit the patterns of linked tables together: what one table publishes is known in all."""
    import gpuga
    from gpuga.cli.progress import progress_on_terminal
    from gpuga.cli.report import audit_content, json_text
    from gpuga.context import Context
    from gpuga.files.atomic import write_whole
    from gpuga.files.pattern import read_pattern

    found, planned = _read(path, written, writes=False)
    _say_attacker(planned, asked, written.quiet)
    patterns = [read_pattern(one.source, pattern_path(folder, one.member.name)) for one in found]
    verdicts: list[Audit] = []
    with _notes(), progress_on_terminal(written.quiet, clock) as progress:
        for cluster in planned.clusters:
            hidden = cluster.linked.together([patterns[at] for at in cluster.members])
            context = Context(clock=clock, progress=progress)
            intervals = written.json_path is not None
            verdicts.append(gpuga.audit(cluster.linked.table, hidden, intervals=intervals, context=context, **asked))
    safe = all(verdict.safe for verdict in verdicts)
    if written.json_path:
        clusters = [
            {"tables": names} | audit_content(verdict) for names, verdict in zip(_names(planned), verdicts, strict=True)
        ]
        write_whole(written.json_path, json_text({"safe": safe, "clusters": clusters}))
    if not written.quiet:
        click.echo("\n".join(_verdicts(planned, verdicts)))
    return 0 if safe else 1


def _read(path: str, written: Destination, *, writes: bool) -> tuple[list[TableOfPlan], Plan]:
    """The tables and their plan, once all places are looked at; says what was read."""
    from gpuga.audience import CONFIDENTIAL
    from gpuga.cli.places import check_places
    from gpuga.cli.plan import plan_lines, planned_of
    from gpuga.files.tables import files_named, read_tables

    with _notes():
        found = read_tables(path)
        planned = planned_of(found)
    patterns = [pattern_path(written.folder, one.member.name) for one in found]
    if writes:
        _make_folder(written.folder)
    inputs = {"TABLES": (path, *files_named(path)), "patterns": () if writes else patterns}
    check_places(inputs, {"--out": patterns if writes else (), "--json": written.json_path})
    if not written.quiet:
        click.echo("\n".join([CONFIDENTIAL, *plan_lines(planned)]))
    return found, planned


def _say_attacker(planned: Plan, asked: Mapping[str, Any], quiet: bool) -> None:
    """What the attacker is taken to know of the joint tables."""
    from gpuga.cli.report import attacker_lines

    attacker: Any = {name: asked[name] for name in ("whole", "level_zero")}
    lines = [line for cluster in planned.clusters for line in attacker_lines(cluster.linked.table, attacker)]
    if not quiet:
        click.echo("\n".join(dict.fromkeys(lines)))


def _make_folder(folder: str) -> None:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError("is a file: linked tables need a folder", path=folder, field="--out") from None
    except OSError as fault:
        raise InputError(f"cannot be made ({fault.strerror})", path=folder, field="--out") from None


def _notes() -> Any:
    from gpuga.cli.options import notes_on_stderr

    return notes_on_stderr()


def _names(planned: Plan) -> list[list[str]]:
    """The tables of every cluster by name."""
    return [[planned.members[at].name for at in cluster.members] for cluster in planned.clusters]


def _counts(one: TableOfPlan, suppressed: Mask) -> dict[str, Any]:
    from gpuga.cli.losses import loss_content
    from gpuga.report.losses import losses_of
    from gpuga.report.names import Names

    table = one.source.table
    return loss_content(losses_of(table, suppressed), table, Names.of(one.source))


def _summary(found: list[TableOfPlan], done: ProtectedTables) -> dict[str, Any]:
    """SUMMARY.json of linked tables: one entry per table, one per cluster."""
    from gpuga.cli.report import summary

    return {
        "schema": 1,
        "safe": done.safe,
        "tables": [
            {"name": one.member.name, "losses": _counts(one, pattern)}
            for one, pattern in zip(found, done.suppressed, strict=True)
        ],
        "clusters": [
            {"tables": names} | summary(protection)
            for names, protection in zip(_names(done.plan), done.protections, strict=True)
        ],
    }


def _losses(found: list[TableOfPlan], done: ProtectedTables) -> list[str]:
    """What every table loses, in two lines each."""
    from gpuga.cli.losses import loss_lines

    lines = []
    for one, pattern in zip(found, done.suppressed, strict=True):
        first, *_, totals = loss_lines(_counts(one, pattern))
        lines += [f"{printable(one.member.name)}: {first}", f"  {totals}"]
    return lines


def _verdicts(planned: Plan, verdicts: list[Audit]) -> list[str]:
    from gpuga.cli.report import named

    lines = []
    for cluster, names, verdict in zip(planned.clusters, _names(planned), verdicts, strict=True):
        said = ", ".join(map(printable, names))
        if verdict.safe:
            lines.append(f"{said}: safe, all {verdict.audited} sensitive cells are protected")
        else:
            undecided = f", {len(verdict.undecided)} of them undecided" if verdict.undecided else ""
            lines.append(f"{said}: not safe, {len(verdict.unsafe)} cells are not protected{undecided}")
            lines += named(cluster.linked.table, verdict.unsafe)
    return lines
