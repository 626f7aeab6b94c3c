"""`gpuga protect`: a table goes in, a proven-safe pattern comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.method_options import method_options, start_option
from gpuga.cli.options import (
    READING,
    attacker_options,
    files_read,
    json_option,
    notes_on_stderr,
    quiet_option,
    read_options,
    seconds_option,
    table_options,
)

if TYPE_CHECKING:
    from gpuga.files.read import Source
    from gpuga.table.table import Mask


@click.command()
@table_options
@click.option("--out", required=True, type=click.Path(), metavar="PATTERN", help="Where the pattern goes.")
@click.option(
    "--method", metavar="NAME", help="gpuga methods lists them, and the options of each.  [default: circuits]"
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "cuda", "cpu", "numpy"]),
    default="auto",
    show_default=True,
    help="Where batches of patterns are evaluated.",
)
@click.option(
    "--lp",
    type=click.Choice(["auto", "cuopt", "highs"]),
    default="auto",
    show_default=True,
    help="Solver of linear programs.",
)
@seconds_option
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@method_options
@attacker_options
@click.option("--protect-secondary", is_flag=True, help="No secondary may be exactly determined either.")
@start_option
@click.option("--proof", type=click.Path(), metavar="FILE", help="Write the proof that gpuga verify checks.")
@json_option
@quiet_option
def protect(
    out: str, json_path: str | None, proof: str | None, quiet: bool, start: tuple[str, ...], **given: Any
) -> None:
    """Find a safe pattern for TABLE and write it.

    TABLE is a .jj, long .csv or .parquet file. The pattern is the same rows with suppressed values left
    blank and a column suppression (.jj: index,suppression). What is written has been audited exactly.
    """
    import gpuga
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import ending_on_interrupt, progress_on_terminal, ready_to_compile
    from gpuga.cli.report import heading, json_text, protection_lines, summary
    from gpuga.context import Clock
    from gpuga.errors import GpugaError, printable
    from gpuga.files.atomic import write_together
    from gpuga.files.pattern import check_kind, pattern_content
    from gpuga.methods import DEFAULT, find_method
    from gpuga.protect import chosen_parameters

    seconds = given.pop("seconds")
    reading = {name: given.pop(name) for name in READING}
    arguments = {"method": DEFAULT} | _arguments(given)
    parameters, _ = chosen_parameters(find_method(arguments["method"]), arguments["options"], start=start)
    files = parameters.values(["file"])
    outputs = {"--out": out, "--json": json_path, "--log": files.get("log"), "--proof": proof}
    check_places(files_read(reading) | {"--start": start}, outputs, files.get("checkpoint"))
    clock = Clock(seconds)  # reading counts
    source = read_options(**reading)
    check_kind(source, out)
    if not quiet:
        click.echo(heading(source.table, arguments["whole"], arguments["level_zero"]))
    ready_to_compile(quiet)
    with notes_on_stderr(), ending_on_interrupt(clock):
        with progress_on_terminal(quiet) as progress:
            protection = gpuga.protect(
                source.table,
                **arguments,
                start=tuple(_start(source, path) for path in start),
                proof=proof is not None,
                clock=clock,
                progress=progress,
            )
        results = [(out, pattern_content(source, protection.suppressed, out))]
        if json_path:
            results.append((json_path, json_text(summary(protection))))
        if proof and protection.audit.proof is not None:
            results.append((proof, protection.proof_content(proof)))
        write_together(results)
    if not quiet:
        click.echo("\n".join([*protection_lines(protection), f"pattern: {printable(out, 300)}"]))
    if proof and protection.audit.proof is None:
        raise GpugaError("the pattern is safe and written, but the time ended before there was a proof to write")


def _start(source: Source, path: str) -> Mask:
    """A pattern to start from: any that publishes no sensitive cell and suppresses no frozen one."""
    from gpuga.errors import InputError
    from gpuga.files.pattern import read_pattern
    from gpuga.safety.audit import check_pattern

    pattern = read_pattern(source, path)
    try:
        check_pattern(source.table, pattern)
    except InputError as fault:
        raise fault.at(path) from None
    return pattern


_COMMON = ("backend", "lp", "seed", "strict", "protect_secondary", "whole", "level_zero")


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `gpuga.protect`: common ones by name, the method's own as options."""
    common = {name: given.pop(name) for name in _COMMON}
    method = given.pop("method")
    options = {name: value for name, value in given.items() if value is not None and value is not False}
    return common | ({} if method is None else {"method": method}) | {"options": options}
