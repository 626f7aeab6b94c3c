"""Write docs/papers.md: every algorithm, operator and parameter of the five papers, and how far ours is faithful.

python docs/make_papers.py            write it
python docs/make_papers.py --check    only say whether it is up to date

The rows stand in papers.toml; methods, options and defaults are looked up where the program declares them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import click

from gpuga.methods import find_method

sys.path.insert(0, str(Path(__file__).parent))
from pages import remade, write_or_check

PAGE, ROWS = Path(__file__).with_name("papers.md"), Path(__file__).with_name("papers.toml")
BEGIN = "<!-- made by docs/make_papers.py: begin -->\n"
SAID = {"yes": "yes", "option": "with the option", "no": "no"}


def papers() -> list[dict[str, Any]]:
    """The papers and their rows, as written."""
    with ROWS.open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["paper"]
    return found


def table(paper: dict[str, Any]) -> str:
    """A paper as a section with one row per algorithm, operator or parameter."""
    lines = [f"## {paper['name']}\n", "| section | what | ours | option | default | faithful | why |", "|" + "---|" * 7]
    for row in paper["rows"]:
        option, default = option_of(row)
        where = f"`{row.get('method') or row['command']}`"
        cells = (row["section"], row["what"], where, option, default, SAID[row["faithful"]], row["why"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def option_of(row: dict[str, str]) -> tuple[str, str]:
    """The option as it is typed, and its default, from the declarations; `KeyError` for one that does not exist."""
    name, _, value = row.get("option", "").partition("=")
    if "method" in row:
        options = {one.name: one for one in find_method(row["method"]).options}
        if not name:
            return "", ""
        one = options[name]
        if value and value not in one.choices:
            raise KeyError(f"{row['method']} has no {name} {value}")
        return f"`{one.flag}{f' {value}' if value else ''}`", one.usual
    return _of_command(row["command"], name)


def _of_command(command: str, name: str) -> tuple[str, str]:
    from gpuga.cli.main import cli

    words = command.split()
    if words[0] == "bench":
        return "", ""
    found: click.Command = cli
    for word in words:
        inner = found.get_command(click.Context(found), word) if isinstance(found, click.Group) else None
        if inner is None:
            raise KeyError(command)
        found = inner
    if not name:
        return "", ""
    parameter = {one.name: one for one in found.params}[name]
    default = parameter.default
    said = re.search(r"\[default: (.+?)\]", getattr(parameter, "help", None) or "")  # of those without one of click
    shown = str(default) if isinstance(default, str | int | float) else said[1] if said else ""
    return f"`{parameter.opts[-1]}`", {"False": "no", "True": "yes"}.get(shown, shown)


def page(text: str) -> str:
    """The page with its tables made anew."""
    return remade(text, BEGIN, "\n" + "\n".join(table(paper) for paper in papers()))


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, sys.argv[1:]))
