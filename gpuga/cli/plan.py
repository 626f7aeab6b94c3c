"""`gpuga plan`: linked tables: which cells they share, and what is protected together."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import files_by_dimension, json_option, notes_on_stderr, quiet_option
from gpuga.errors import InputError, printable

if TYPE_CHECKING:
    from gpuga import Plan
    from gpuga.files.tables import TableOfPlan

KINDS = (".svg", ".dot", ".toml")


@click.command()
@click.argument("tables", nargs=-1, required=True, type=click.Path())
@click.option(
    "--hierarchy",
    multiple=True,
    metavar="DIM=FILE.hrc",
    help="Hierarchy of a dimension of any of the tables; may be repeated.",
)
@click.option("--total", metavar="CODE", help="Code of the totals.  [default: Total]")
@click.option(
    "--out",
    type=click.Path(),
    metavar="FILE",
    help="Write the plan: .svg (a picture), .dot (for Graphviz) or .toml (tables and hierarchies, for gpuga protect).",
)
@json_option
@quiet_option
def plan(
    tables: tuple[str, ...],
    hierarchy: tuple[str, ...],
    total: str | None,
    out: str | None,
    json_path: str | None,
    quiet: bool,
) -> None:
    """Find out which of several tables share cells, and which must be protected together.

    TABLES are files of tables, or one TOML file that names them with their hierarchies and other names of codes. gpuga
    protect TABLES.toml --out FOLDER protects them, gpuga audit TABLES.toml FOLDER audits their patterns together.
    """
    from gpuga.audience import CONFIDENTIAL
    from gpuga.cli.places import check_places
    from gpuga.cli.report import json_text
    from gpuga.files.atomic import write_together
    from gpuga.files.tables import files_named, is_plan

    trees = files_by_dimension(hierarchy)
    read = [*tables, *(file for path in tables if is_plan(path) for file in files_named(path))]
    named = {"TABLES": tuple(read), "--hierarchy": tuple(file for files in trees.values() for file in files)}
    check_places(named, {"--out": out, "--json": json_path})
    if out is not None and Path(out).suffix.lower() not in KINDS:
        raise InputError(f"a plan is written as one of {', '.join(KINDS)}", path=out, field="--out")
    if out is not None and Path(out).suffix.lower() == ".toml" and is_plan(tables[0]):
        raise InputError("the tables stand in a .toml file already", path=out, field="--out")
    with notes_on_stderr():
        found = read_plan(tables, trees, total)
        planned = planned_of(found)
    results = [(json_path, json_text(plan_content(planned)))] if json_path else []
    if out is not None:
        results.append((out, _drawn(Path(out), found, planned, trees, total)))
    write_together(results)
    if not quiet:
        click.echo("\n".join([CONFIDENTIAL, *plan_lines(planned)]))


def _drawn(out: Path, found: list[TableOfPlan], planned: Plan, trees: dict[str, list[str]], total: str | None) -> str:
    """The plan as the suffix of its file asks for it."""
    from gpuga.cli.plan_picture import dot_text, svg_text

    kind = out.suffix.lower()
    if kind == ".toml":
        return toml_text(found, trees, total, out)
    return svg_text(plan_content(planned)) if kind == ".svg" else dot_text(plan_content(planned))


def read_plan(tables: tuple[str, ...], trees: dict[str, list[str]], total: str | None) -> list[TableOfPlan]:
    """The tables of a TOML file, or of several files."""
    from gpuga.files.tables import is_plan, read_files, read_tables

    if not any(is_plan(path) for path in tables):
        return read_files(tables, trees, total=total)
    if len(tables) > 1:
        raise InputError("give one .toml file, or tables, not both", field="TABLES")
    for option, given in (("--hierarchy", trees), ("--total", total)):
        if given:
            raise InputError("is said in the .toml file", field=option)
    return read_tables(tables[0])


def planned_of(found: list[TableOfPlan]) -> Plan:
    """The plan of tables that were read."""
    import gpuga

    return gpuga.plan([one.member for one in found])


def plan_content(planned: Plan) -> dict[str, Any]:
    """PLAN.json."""
    names = [member.name for member in planned.members]
    return {
        "schema": 1,
        "tables": [
            {
                "name": member.name,
                "measure": member.measure,
                "cells": len(member.table) - member.table.groups,
                "sensitive": len(member.table.sensitive),
                "groups": member.table.groups,
                "within": None if whole is None else names[whole],
            }
            for member, whole in zip(planned.members, planned.within, strict=True)
        ],
        "shared": [
            {"tables": [names[pair.one], names[pair.other]], "cells": pair.cells, "suppressible": pair.open}
            for pair in planned.shared
        ],
        "clusters": [
            {
                "tables": [names[at] for at in cluster.members],
                "cells": len(cluster.linked.table) - cluster.linked.table.groups,
                "groups": cluster.linked.table.groups,
                "equations": len(cluster.linked.table.lines),
                "sensitive": len(cluster.linked.table.sensitive),
            }
            for cluster in planned.clusters
        ],
    }


def plan_lines(planned: Plan) -> list[str]:
    """The plan for people: every cluster with its tables, and what these share."""
    content = plan_content(planned)
    clusters = content["clusters"]
    lines = [f"{len(content['tables'])} tables, {len(clusters)} to protect"]
    inside = {one["name"]: one for one in content["tables"]}
    for number, cluster in enumerate(clusters, 1):
        size = f"{cluster['cells']} cells, {cluster['equations']} equations, {cluster['sensitive']} sensitive"
        lines.append(f"{number}. {'together' if len(cluster['tables']) > 1 else 'alone'}: {size}")
        for name in cluster["tables"]:
            within = inside[name]["within"]
            part = "" if within is None else f", all of them cells of {printable(within)}"
            lines.append(f"   {printable(name)}: {inside[name]['cells']} cells{part}")
            lines += [f"     {line}" for line in _shared_by(name, cluster["tables"], content["shared"])]
    return lines


def _shared_by(name: str, cluster: list[str], shared: list[dict[str, Any]]) -> list[str]:
    """What a table shares with those after it, and with tables elsewhere."""
    lines = []
    for pair in shared:
        if pair["tables"][0] == name:
            other = pair["tables"][1]
            apart = "" if other in cluster else ", which are all published: protected apart"
            lines.append(f"-- {pair['cells']} cells in common with {printable(other)}{apart}")
    return lines


def _quoted(text: str) -> str:
    """A text as TOML takes it."""
    return json.dumps(text, ensure_ascii=False)


def toml_text(found: list[TableOfPlan], trees: dict[str, list[str]], total: str | None, out: Path) -> str:
    """The tables as a TOML file that `gpuga protect` takes, with names as seen from its folder."""

    def seen(path: str | Path) -> str:
        return _quoted(os.path.relpath(path, out.parent))

    lines = [] if total is None else [f"total = {_quoted(total)}"]
    if trees:
        lines += ["[hierarchies]"]
        lines += [f"{_quoted(name)} = [{', '.join(map(seen, files))}]" for name, files in trees.items()]
    for one in found:
        lines += ["", "[[table]]", f"file = {seen(one.source.path)}", f"name = {_quoted(one.member.name)}"]
    return "\n".join(lines).lstrip("\n") + "\n"
