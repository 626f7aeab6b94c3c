"""Write the tables of docs/methods.md from the register of methods and the declarations of their parameters.

python docs/make_methods.py            write them
python docs/make_methods.py --check    only say whether they are up to date
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpuga.declared import Parameter
from gpuga.methods import METHODS, Method
from gpuga.parameters import SolverParameters

sys.path.insert(0, str(Path(__file__).parent))
from pages import remade, write_or_check

PAGE = Path(__file__).with_name("methods.md")
BEGIN = "<!-- made by docs/make_methods.py: begin -->\n"


def table(parameters: tuple[Parameter, ...]) -> str:
    """Parameters as a Markdown table."""
    rows = ["| option | in Python | values | default | meaning |", "|---|---|---|---|---|"]
    for one in parameters:
        option = "" if one.python_only else f"`{one.flag}`"
        values = _choices(one) if one.choices else one.range
        rows.append(f"| {option} | `{one.name}` | {values} | {one.usual} | {one.meaning} |")
    return "\n".join(rows) + "\n"


def _choices(one: Parameter) -> str:
    return f"{'any of ' if one.kind is tuple else ''}{one.listed(quote='`')}"


def section(method: Method) -> str:
    """A method as a section of the page."""
    start = "It can start from given patterns (`--start`, in Python `start=`).\n" if method.starts else ""
    own = f"\n{table(method.options)}" if method.options else ""
    text = f"{method.summary[0].upper()}{method.summary[1:]}. Source: {method.source}.\n"
    return f"### {method.name}\n{text}{start}{own}"


def page(text: str) -> str:
    """The page with its tables made anew."""
    sections = "\n".join(section(method) for method in METHODS)
    solver = f"### Options of every method\n{table(SolverParameters.declared())}"
    return remade(text, BEGIN, f"\n{sections}\n{solver}\n")


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page, sys.argv[1:]))
