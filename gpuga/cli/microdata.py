"""`gpuga microdata`: the risk of records, and their protection by local suppression and global recoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, TypeVar

import click

from gpuga.cli.options import (
    backend_option,
    json_option,
    notes_on_stderr,
    progress_option,
    quiet_option,
    seconds_option,
    seed_option,
    written_options,
)

Command = TypeVar("Command", bound=Callable[..., Any])

_KEYS = (
    click.option("--fields", required=True, metavar="A,B,C", help="Identifying fields."),
    click.option(
        "--dimension",
        type=click.IntRange(0, 63),
        metavar="N",
        default=3,
        show_default=True,
        help="Maximum number of fields in a key: every combination of up to N fields is one.",
    ),
    click.option(
        "--threshold",
        default="3",
        show_default=True,
        metavar="N",
        help="Combinations shared by fewer than N records are unsafe; by number of fields: 1:10,2:5,3:3.",
    ),
    click.option(
        "--key", "keys", multiple=True, metavar="A,B:N", help="Additional key with its threshold; may be repeated."
    ),
    click.option(
        "--missing",
        default="missing",
        show_default=True,
        metavar="TEXT",
        help="Text that stands for a suppressed value.",
    ),
)


def key_options(command: Command) -> Command:
    """The identifying fields, their keys, and the mark of a missing score."""
    return reduce(lambda made, option: option(made), reversed(_KEYS), command)


@click.group()
def microdata() -> None:
    """Assess the risk of microdata; protect them by local suppression and global recoding."""


@microdata.command(short_help="Recode and suppress values until no combination is rare.")
@click.argument("file", type=click.Path())
@key_options
@click.option("--out", required=True, type=click.Path(), metavar="FILE", help="Output file: .csv or .parquet.")
@click.option(
    "--recode", multiple=True, metavar="FIELD=RULES",
    help="Recodings, from fine to coarse: width:5,10, ranges:0-17;18-|0-, prefix:3,2, hrc:FILE or file:FILE.",
)  # fmt: skip
@click.option(
    "--cost",
    type=click.Choice(["entropy", "linear"]),
    default="entropy",
    show_default=True,
    help="Measure of information loss.",
)
@click.option(
    "--suppress-cost", multiple=True, metavar="FIELD=C", help="Cost of a suppression, with --cost linear.  [default: 1]"
)
@click.option(
    "--recode-cost",
    multiple=True,
    metavar="FIELD=D1,D2",
    help="Costs of the recodings, with --cost linear.  [default: by the share of categories that are lost]",
)
@click.option(
    "--recode-weight", type=float, metavar="W",
    help="What a bit lost by recoding counts beside one lost by suppression, with --cost entropy.  [default: 0.1]",
)  # fmt: skip
@click.option(
    "--record-weight", metavar="COLUMN", help="Column of factors: what suppressions in a record cost beside others."
)
@click.option(
    "--suppress-cost-column", multiple=True, metavar="FIELD=COLUMN",
    help="Column of costs: what suppressing the field costs in each record.",
)  # fmt: skip
@click.option(
    "--cap", multiple=True, metavar="FIELD=N", help="Maximum number of suppressions in a field.  [default: no limit]"
)
@click.option(
    "--search", default="tabu", show_default=True, metavar="NAME",
    help="Search over recodings: iterative, repeated, tabu, annealing or exact.",
)  # fmt: skip
@click.option("--greedy", is_flag=True, help="Suppress greedily instead of optimally.")
@click.option(
    "--missing-matches",
    type=click.Choice(["nothing", "anything"]),
    default="nothing",
    show_default=True,
    help="What a suppressed value matches in the re-count (anything: as in Hurkens and Tiourine 1998).",
)
@seed_option
@click.option(
    "--evaluations",
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of recodings evaluated.  [default: depends on the size of the file]",
)
@seconds_option
@backend_option("evaluates recodings")
@written_options
@json_option
@progress_option
@quiet_option
def protect(
    file: str,
    out: str,
    json_path: str | None,
    quiet: bool,
    seconds: float | None,
    backend: str,
    device: int | None,
    **wanted: Any,
) -> None:
    """Recode and suppress values in FILE until no combination of identifying fields is rare.

    Ctrl-C stops the search with the best protection so far; while FILE is being read it aborts the run.
    """
    from gpuga.backends import chosen_for
    from gpuga.cli.microdata_options import protect_parameters
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import ending_on_interrupt, progress_on_terminal
    from gpuga.cli.report import json_text
    from gpuga.context import Clock, Context
    from gpuga.files.atomic import write_together
    from gpuga.microdata import protect_records
    from gpuga.microdata.record_file import opened

    rules = [rule.partition("=")[2] for rule in wanted["recode"]]
    rules = [rule.partition(":")[2] for rule in rules if rule.startswith(("hrc:", "file:"))]
    name = backend if device is None else chosen_for(backend, device).name
    seed = wanted.pop("seed")
    check_places({"FILE": file, "--recode": rules}, {"--out": out, "--json": json_path})
    parameters, clock = protect_parameters(**wanted), Clock(seconds)
    with (
        notes_on_stderr(),
        progress_on_terminal(quiet, clock) as progress,
        opened(file, parameters, progress) as source,
        ending_on_interrupt(clock, "the best protection so far"),
    ):
        context = Context(backend=name, seed=seed, clock=clock, progress=progress)
        protection = protect_records(source.problem, parameters, context)
        progress.stage("write")
        content = protection.account()
        account = [(json_path, json_text(content))] if json_path else []
        write_together([(out, source.content(protection, out)), *account])
    if not quiet:
        for name, figure in list(content.items())[1:]:
            click.echo(f"{name.replace('_', ' ')}: {figure}")


@microdata.command(short_help="Report how rare combinations of identifying fields are.")
@click.argument("file", type=click.Path())
@key_options
@click.option("--weight", metavar="COLUMN", help="Column of sampling weights.")
@click.option("--sensitive", metavar="COLUMN", help="Column whose l-diversity is reported.")
@click.option(
    "--diversity", type=click.IntRange(1), default=2, show_default=True, metavar="L",
    help="Different sensitive values that a combination should have.",
)  # fmt: skip
@written_options
@json_option
@quiet_option
def risk(file: str, json_path: str | None, quiet: bool, **wanted: Any) -> None:
    """Report how rare the combinations of identifying fields in FILE are; nothing is protected."""
    from gpuga.audience import CONFIDENTIAL
    from gpuga.cli.microdata_options import risk_parameters
    from gpuga.cli.places import check_places
    from gpuga.cli.report import write_json
    from gpuga.microdata import file_risk

    check_places({"FILE": file}, {"--json": json_path})
    with notes_on_stderr():
        content = file_risk(file, risk_parameters(**wanted))
    if json_path:
        write_json(json_path, content)
    if not quiet:
        click.echo(CONFIDENTIAL)
        for line in risk_lines(content):
            click.echo(line)


def risk_lines(content: dict[str, Any]) -> Iterator[str]:
    """The figures in words, the keys in the order of their risk."""
    from gpuga.errors import printable

    yield f"records: {content['records']}, unsafe: {content['unsafe_records']}"
    for name, figure in content["all_fields"].items():
        yield f"all fields, {name.replace('_', ' ')}: {figure}"
    yield "key: k, combinations, uniques, unsafe combinations, unsafe records" + (
        ", l" if "l" in content["all_fields"] else ""
    )
    for key in sorted(content["keys"], key=lambda one: (-one["unsafe_records"], one["key"])):
        names = " x ".join(printable(name) for name in key["key"])
        figures = [key["k"], key["combinations"], key["uniques"], key["unsafe_combinations"], key["unsafe_records"]]
        yield f"{names}: " + ", ".join(str(f) for f in [*figures, *([key["l"]] if "l" in key else [])])
