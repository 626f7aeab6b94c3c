"""`gpuga tabulate`: microdata to a table with its primaries marked."""

from __future__ import annotations

from typing import Any

import click

from gpuga.cli.options import json_option, notes_on_stderr, progress_option, quiet_option, written_options


@click.command()
@click.argument("microdata", type=click.Path())
@click.option("--by", required=True, metavar="A,B", help="Columns that become the dimensions.")
@click.option("--value", required=True, metavar="COLUMN", help="Column to sum.")
@click.option(
    "--rule", "rules", multiple=True, required=True, metavar="RULE",
    help="Rule for sensitive cells; may be repeated. frequency:M (fewer than M contributors; frequency:M,R: levels of "
    "R percent, else 15), nk:N,K (the N largest have more than K percent), p:P (the largest can be estimated to within "
    "P percent) or pq:P,Q (the same with prior knowledge to within Q percent).",
)  # fmt: skip
@click.option("--out", required=True, type=click.Path(), metavar="TABLE", help="Output file: .csv, .parquet or .jj.")
@click.option(
    "--hierarchy", multiple=True, metavar="DIM=FILE.hrc",
    help="Hierarchy of a dimension; may be repeated, also for the same dimension.",
)  # fmt: skip
@click.option("--weight", metavar="COLUMN", help="Column of sampling weights.")
@click.option("--respondent", metavar="COLUMN", help="Column of respondents, each of which is one contributor.")
@click.option("--holding", metavar="COLUMN", help="Column of holdings, each of which is one contributor.")
@click.option("--waiver", metavar="COLUMN", help="Column that marks who has waived protection: 1, true or yes.")
@click.option("--cost", metavar="COLUMN", help="Column whose sum is the cost of suppressing a cell.")
@click.option(
    "--decimals",
    type=click.IntRange(0, 9),
    metavar="N",
    help="Round values to this many decimals.  [default: keep all]",
)
@click.option(
    "--negative", type=click.Choice(["refuse", "absolute"]), default="refuse", show_default=True,
    help="Negative values: refuse them, or apply the rules to absolute amounts.",
)  # fmt: skip
@click.option(
    "--zeros", type=click.Choice(["rules", "unsafe", "safe"]), default="rules", show_default=True,
    help="Cells whose respondents all reported zero: sensitive by the rules, always or never.",
)  # fmt: skip
@click.option("--zero-level", default="1", show_default=True, metavar="AMOUNT", help="Protection level of such cells.")
@click.option(
    "--no-singletons",
    is_flag=True,
    help="Do not protect sensitive cells against single respondents of other cells, who know these cells.",
)
@click.option("--total", default="Total", show_default=True, metavar="CODE", help="Code of the totals.")
@written_options
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Number of threads for reading.  [default: all]")
@json_option
@progress_option
@quiet_option
def tabulate(
    microdata: str, rules: tuple[str, ...], out: str, json_path: str | None, quiet: bool, **wanted: Any
) -> None:
    """Tabulate the records in MICRODATA: a table with totals, sensitive cells and protection levels.

    The table contains all values and is confidential. A cell is sensitive if any rule says so; its protection level is
    the widest that a rule requires.
    """
    from gpuga.audience import CONFIDENTIAL
    from gpuga.cli.microdata_options import tabulate_arguments
    from gpuga.cli.places import check_places
    from gpuga.cli.progress import progress_on_terminal, undisturbed
    from gpuga.cli.report import json_text
    from gpuga.errors import printable
    from gpuga.files.atomic import write_together
    from gpuga.microdata import tabulate
    from gpuga.microdata.table_file import check_suffix, tabulation_content

    hierarchies = [pair.partition("=")[2] for pair in wanted["hierarchy"]]
    check_places({"MICRODATA": microdata, "--hierarchy": hierarchies}, {"--out": out, "--json": json_path})
    check_suffix(out)
    with notes_on_stderr(), progress_on_terminal(quiet) as progress:
        tabulation = tabulate(microdata, **tabulate_arguments(rules=rules, **wanted), progress=progress)
        progress.stage("write")
        content = tabulation.summary() | {"rules": dict(zip(rules, tabulation.fired, strict=True))}
        summary = [(json_path, json_text(content))] if json_path else []
        results = [(out, tabulation_content(tabulation, out)), *summary]
        with undisturbed():
            write_together(results)
    if not quiet:
        click.echo(f"{CONFIDENTIAL}\n{printable(out, 300)}: contains all values")
        click.echo("\n".join(_lines(content)))


def _lines(content: dict[str, Any]) -> list[str]:
    """How the table came out, for people."""
    from gpuga.errors import printable

    plain = {name: figure for name, figure in content.items() if name not in ("schema", "rules", "primary_share")}
    plain["primaries"] = f"{content['primaries']} ({100 * content['primary_share']:.1f} % of the cells)"
    lines = [f"{name.replace('_', ' ')}: {figure}" for name, figure in plain.items()]
    return [*lines, *(f"rule {printable(rule)}: {count} primaries" for rule, count in content["rules"].items())]
