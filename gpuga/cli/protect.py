"""`gpuga protect`: a table goes in, a proven-safe pattern comes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.method_options import method_options, start_option
from gpuga.cli.options import (
    attacker_options,
    backend_option,
    files_read,
    json_option,
    notes_on_stderr,
    progress_option,
    protect_secondary_option,
    quiet_option,
    read_options,
    seconds_option,
    seed_option,
    table_options,
    verbose_option,
)
from gpuga.cli.sections import Sectioned
from gpuga.cli.wish_options import Wishes, numbered, wish_options
from gpuga.methods import DEFAULT

if TYPE_CHECKING:
    from gpuga.declared import Parameters
    from gpuga.files.read import Source
    from gpuga.table.table import Mask


@click.command(cls=Sectioned)
@table_options
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="PATTERN",
    help="Output file for the pattern: .csv, .xlsx or .parquet. For linked tables: a folder for all patterns.",
)
@click.option(
    "--method", metavar="NAME", default=DEFAULT, show_default=True, help="Suppression method; gpuga methods lists them."
)
@backend_option("evaluates populations of patterns")
@click.option(
    "--lp",
    type=click.Choice(["auto", "cuopt", "highs"]),
    default="auto",
    show_default=True,
    help="Solver for linear programs; auto is highs: cuopt must be named.",
)
@seconds_option
@seed_option
@method_options
@attacker_options
@protect_secondary_option
@start_option
@wish_options
@click.option(
    "--one-by-one",
    is_flag=True,
    help="With TABLES.toml: apply the method to single tables in turn, then audit and repair them together.",
)
@click.option("--proof", type=click.Path(), metavar="FILE", help="Write a proof of safety, which gpuga verify checks.")
@json_option
@progress_option
@quiet_option
@verbose_option
def protect(
    reading: dict[str, Any],
    out: str,
    seconds: float | None,
    start: tuple[str, ...],
    proof: str | None,
    json_path: str | None,
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> None:
    """Find a safe suppression pattern for TABLE and write it to PATTERN.

    TABLE is a .jj file, or a .csv, .xlsx, .parquet or .tab file with one row per cell (with --wide a pivot table, with
    --by a file of records). The pattern has the same rows with
    suppressed values left blank and a column suppression (for .jj: index,suppression). Every pattern is audited in
    exact arithmetic before it is written. Brackets list the methods that take an option, with their defaults; gpuga
    methods NAME describes one method.

    TABLE may also be a .toml file of linked tables (gpuga plan): they are protected together, and --out is a folder.
    """
    import gpuga
    from gpuga.cli.further import further_files, further_lines
    from gpuga.cli.linked import Destination, protect_linked, refuse_for_linked
    from gpuga.cli.losses import loss_content, loss_lines
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import ending_on_interrupt, progress_on_terminal, ready_to_compile
    from gpuga.cli.report import heading, json_text, protection_lines, summary
    from gpuga.context import Clock
    from gpuga.errors import GpugaError, InputError, printable
    from gpuga.files.atomic import write_together
    from gpuga.files.pattern import check_kind, pattern_content
    from gpuga.files.tables import is_plan
    from gpuga.methods import find_method
    from gpuga.protect import chosen_parameters
    from gpuga.report.losses import losses_of
    from gpuga.report.names import Names

    wishes, attacker, one_by_one = Wishes.of(given), given["attacker"], given.pop("one_by_one")
    arguments = _arguments(given)
    if is_plan(reading["table"]):
        further = {"--start": start, "--proof": proof, "--like": wishes.like, "--front": wishes.front}
        refuse_for_linked(reading, further, arguments)
        asked = arguments | {"one_by_one": one_by_one, "keep": wishes.keep, "keep_totals": wishes.keep_totals}
        return protect_linked(reading["table"], asked, Clock(seconds), Destination(out, json_path, quiet))
    if one_by_one:
        raise InputError("is for linked tables, which a .toml file names", field="--one-by-one")
    arguments["options"] |= wishes.options()
    parameters, _ = chosen_parameters(find_method(arguments["method"]), arguments["options"], start=start)
    files = parameters.values(["file"])
    outputs = _patterns(out, wishes.front, parameters)
    outputs |= {"--json": json_path, "--log": files.get("log"), "--proof": proof}
    inputs = files_read(reading) | {"--start": start, "--like": wishes.like or ()}
    check_places(inputs, outputs, files.get("checkpoint"))
    clock = Clock(seconds)  # reading counts
    source = read_options(**reading)
    check_kind(source, out)
    if not quiet:
        click.echo(heading(source.table, attacker))
    ready_to_compile(quiet)
    with notes_on_stderr(), ending_on_interrupt(clock):
        with progress_on_terminal(quiet, clock) as progress:
            protection = gpuga.protect(
                source.table,
                **arguments,
                **wishes.arguments(source),
                start=tuple(_start(source, path) for path in start),
                proof=proof is not None,
                clock=clock,
                progress=progress,
            )
        results = [(out, pattern_content(source, protection.suppressed, out))]
        results += further_files(source, protection, out, wishes.front)
        losses = loss_content(losses_of(source.table, protection.suppressed), source.table, Names.of(source))
        if json_path:
            results.append((json_path, json_text(summary(protection) | {"losses": losses})))
        if proof and protection.audit.proof is not None:
            results.append((proof, protection.proof_content(proof)))
        write_together(results)
    if verbose:
        click.echo(f"back end {protection.backend}: {protection.backend_why}", err=True)
    if not quiet:
        said = [*protection_lines(protection), *loss_lines(losses), *further_lines(protection, out, wishes.front)]
        click.echo("\n".join([*said, f"pattern: {printable(out, 300)}"]))
    if proof and protection.audit.proof is None:
        raise GpugaError(
            "the pattern is safe and was written, but the time limit was reached before its proof was complete: "
            "allow more with --seconds"
        )


def _patterns(out: str, front: str | None, parameters: Parameters) -> dict[str, str | Iterable[str] | None]:
    """All files of patterns that a run may write."""
    from gpuga.cli.further import alternative_paths
    from gpuga.parameters import MOST_ON_FRONT

    further = parameters.values(["result"]).get("alternatives", 0)
    # the best pattern may join those of a front
    fronts = () if front is None else (front, *(numbered(front, n + 1) for n in range(MOST_ON_FRONT + 1)))
    return {"--out": (out, *alternative_paths(out, further)), "--front": fronts}


def _start(source: Source, path: str) -> Mask:
    """A pattern to start from: any that publishes no sensitive cell and suppresses no frozen one."""
    from gpuga.errors import InputError
    from gpuga.files.pattern import read_pattern

    pattern = read_pattern(source, path)
    try:
        source.table.check_pattern(pattern)
    except InputError as fault:
        raise fault.at(path) from None
    return pattern


_COMMON = ("method", "backend", "device", "lp", "seed", "protect_secondary")


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `gpuga.protect`: common ones by name, the method's own as options."""
    arguments = {name: given.pop(name) for name in _COMMON}
    arguments |= given.pop("attacker")
    arguments["options"] = {name: value for name, value in given.items() if value is not None and value is not False}
    return arguments
