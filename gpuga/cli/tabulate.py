"""`gpuga tabulate`: microdata to a table with its primaries marked."""

from __future__ import annotations

from typing import Any

import click

from gpuga.cli.options import json_option, quiet_option


@click.command()
@click.argument("microdata", type=click.Path())
@click.option("--by", required=True, metavar="A,B", help="The columns that become dimensions.")
@click.option("--value", required=True, metavar="COLUMN", help="The column that is summed.")
@click.option(
    "--rule", "rules", multiple=True, required=True, metavar="RULE",
    help="Primary rule, may be repeated: frequency:m[,range%], nk:n,k, p:p, pq:p,q.",
)  # fmt: skip
@click.option("--out", required=True, type=click.Path(), metavar="TABLE", help="Ends in .csv, .parquet or .jj.")
@click.option("--hierarchy", multiple=True, metavar="DIM=FILE.hrc", help="Hierarchy of a dimension.")
@click.option("--weight", metavar="COLUMN", help="Sampling weights.")
@click.option("--respondent", metavar="COLUMN", help="Records of one respondent are one contributor.")
@click.option("--holding", metavar="COLUMN", help="Respondents of one holding are one contributor.")
@click.option("--waiver", metavar="COLUMN", help="Who has waived protection: 1, true or yes.")
@click.option("--cost", metavar="COLUMN", help="What a suppression costs: the sum of this column.")
@click.option("--decimals", type=click.IntRange(0, 9), help="Round the values.  [default: keep all]")
@click.option(
    "--negative", type=click.Choice(["refuse", "absolute"]), default="refuse", show_default=True,
    help="Negative values: refuse them, or apply the rules to absolute amounts.",
)  # fmt: skip
@click.option(
    "--zeros", type=click.Choice(["rules", "unsafe", "safe"]), default="rules", show_default=True,
    help="Cells whose respondents all reported zero: primaries by the rules, always, or never.",
)  # fmt: skip
@click.option("--zero-level", default="1", show_default=True, metavar="AMOUNT", help="Level of such a cell.")
@click.option("--no-singletons", is_flag=True, help="Do not protect primaries of one line against each other.")
@click.option("--total", default="Total", show_default=True, metavar="CODE", help="The code of totals.")
@click.option("--delimiter", default=",", show_default=True, help="What separates the columns of a CSV file.")
@click.option("--threads", type=click.IntRange(1), help="Threads for reading.  [default: all]")
@json_option
@quiet_option
def tabulate(
    microdata: str, rules: tuple[str, ...], out: str, json_path: str | None, quiet: bool, **wanted: Any
) -> None:
    """Make a table with marginals, primaries and protection levels from the records in MICRODATA.

    The table holds every value: it is confidential. A rule that fires makes a cell a primary;
    its level is the widest that a rule asks for.
    """
    from gpuga.audience import CONFIDENTIAL
    from gpuga.cli.places import check_places
    from gpuga.cli.report import write_json
    from gpuga.errors import printable
    from gpuga.microdata import tabulate, write_tabulation
    from gpuga.microdata.words import tabulate_wish

    hierarchies = [pair.partition("=")[2] for pair in wanted["hierarchy"]]
    check_places({"MICRODATA": microdata, "--hierarchy": hierarchies}, {"--out": out, "--json": json_path})
    tabulation = tabulate(microdata, **tabulate_wish(rules=rules, **wanted))
    write_tabulation(tabulation, out)
    content = tabulation.summary()
    if json_path:
        write_json(json_path, content)
    if not quiet:
        click.echo(f"{CONFIDENTIAL}\n{printable(out, 300)}: holds every value")
        for name, figure in list(content.items())[1:]:
            click.echo(f"{name.replace('_', ' ')}: {figure}")
