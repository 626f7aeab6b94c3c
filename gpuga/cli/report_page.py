"""`gpuga report`: one file to look at, for the office or for the public."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    attacker_options,
    bundled,
    files_read,
    notes_on_stderr,
    progress_option,
    protect_secondary_option,
    quiet_option,
    seconds_option,
    table_options,
)
from gpuga.cli.sections import Sectioned

if TYPE_CHECKING:
    from pathlib import Path

    from gpuga.context import Clock
    from gpuga.report.data import Judged
    from gpuga.table.attacker_model import AttackerOptions, SafetyOptions

_PAGE = (
    click.option("--out", required=True, type=click.Path(), metavar="REPORT.html", help="Output file."),
    click.option("--public", is_flag=True, help="Public edition: no suppressed value, level, rule or cost."),
    click.option("--summary", type=click.Path(), metavar="FILE", help="Summary of gpuga protect --json."),
    click.option("--log", type=click.Path(), metavar="FILE", help="Log of gpuga protect --log, for the cost curve."),
)


@click.command(cls=Sectioned)
@table_options
@click.argument("pattern", type=click.Path())
@bundled("page", _PAGE)
@seconds_option
@attacker_options
@protect_secondary_option
@progress_option
@quiet_option
def report(
    reading: dict[str, Any],
    pattern: str,
    page: dict[str, Any],
    seconds: float | None,
    attacker: AttackerOptions,
    protect_secondary: bool,
    quiet: bool,
) -> int:
    """Write a report on PATTERN as one HTML file that needs no network.

    PATTERN is audited first. The office edition shows every value, interval and reason, and is confidential. The public
    edition is made from published values only, and only of a safe pattern; it may be published beside the table.
    --seconds limits the work on intervals and reasons, not the audit; the page says what is missing. The exit code is 1
    if the pattern is not safe.
    """
    from gpuga.audience import CONFIDENTIAL
    from gpuga.cli.places import check_places
    from gpuga.context import Clock
    from gpuga.errors import GpugaError, printable
    from gpuga.files.atomic import write_whole
    from gpuga.files.public import note_order
    from gpuga.report.page import page_text

    out, public = page["out"], page["public"]
    _check_page(page)
    inputs = files_read(reading) | {"PATTERN": pattern, "--summary": page["summary"], "--log": page["log"]}
    check_places(inputs, {"--out": out})
    clock = Clock(seconds)  # reading counts
    found = _judged(reading, pattern, page, clock, {**attacker, "protect_secondary": protect_secondary}, quiet)
    if public and not found.verdict.safe:
        what = f"{len(found.verdict.unsafe)} cells are not protected, such as {found.names(found.verdict.unsafe[0])}"
        raise GpugaError(f"{printable(pattern, 300)} is not safe, and nothing was written: {what}")
    with notes_on_stderr():
        if public:
            note_order(found.table, found.suppressed)
        write_whole(out, page_text(found, public=public))
    if not quiet:
        click.echo(f"{printable(out, 300)}: {'ready for publication' if public else CONFIDENTIAL}")
    return 0 if found.verdict.safe else 1


def _check_page(page: dict[str, Any]) -> None:
    """Refuse names of other kinds, and what the public edition must not know."""
    from gpuga.errors import InputError

    if not page["out"].lower().endswith((".html", ".htm")):
        raise InputError("the name of a report ends in .html", path=page["out"])
    for option in ("summary", "log"):
        if page["public"] and page[option] is not None:
            raise InputError("costs are sums of suppressed values, which the public edition must not know",
                             field=f"--{option}")  # fmt: skip


def _judged(
    reading: dict[str, Any], pattern: str, page: dict[str, Any], clock: Clock, asked: SafetyOptions, quiet: bool
) -> Judged:
    """The pattern with its verdict and everything that the edition may tell."""
    from pathlib import Path

    from gpuga import __version__
    from gpuga.cli.audit import judged
    from gpuga.cli.progress import progress_on_terminal
    from gpuga.context import Clock, Context
    from gpuga.files.rules import rules_of
    from gpuga.report.curve import read_log
    from gpuga.report.data import MOST_NEEDS, Judged, in_detail
    from gpuga.report.names import Names

    office = not page["public"]
    source, suppressed, verdict = judged(reading, pattern, Clock(), asked, intervals=False, quiet=quiet, proofs=office)
    found = Judged(source.table, suppressed, verdict, Names.of(source), __version__)
    if not office:
        return found
    with progress_on_terminal(quiet, clock) as progress:
        found = in_detail(found, MOST_NEEDS, Context(clock=clock, progress=progress), **asked)
    made = {} if page["summary"] is None else _summary(Path(page["summary"]), found)
    curve = [] if page["log"] is None else read_log(Path(page["log"]))
    origin = _origin(reading["table"], pattern)
    return replace(found, made=made, curve=curve, origin=origin, rules=rules_of(source))


def _summary(path: Path, found: Judged) -> dict[str, Any]:
    """The summary of the run that made the pattern, once it is known to be that."""
    import json

    from gpuga.errors import InputError
    from gpuga.files.source import read_text

    try:
        summary = json.loads(read_text(path))
    except ValueError:
        raise InputError("is not JSON", path=path) from None
    table = found.table
    figures = {"cells": len(table), "cost": table.shown_cost(table.cost(found.suppressed))}
    if not isinstance(summary, dict) or any(summary.get(name) != figure for name, figure in figures.items()):
        raise InputError("is not the summary of this pattern", path=path)
    return summary


def _origin(table: str, pattern: str) -> dict[str, str]:
    """What the files are and what they hold, for whoever has to find them again, and the command."""
    import sys
    from hashlib import sha256
    from pathlib import Path

    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    return {
        "table": f"{Path(table).name}, SHA-256 {sha256(Path(table).read_bytes()).hexdigest()}",
        "pattern": f"{Path(pattern).name}, SHA-256 {sha256(Path(pattern).read_bytes()).hexdigest()}",
        "command": f"gpuga {' '.join(words)}",
    }
