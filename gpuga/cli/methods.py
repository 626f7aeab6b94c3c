"""`gpuga methods`: every method, one line each, or one method with its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gpuga.methods import Method
    from gpuga.parameters import Option


@click.command()
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List every method: its name, what it does, where it comes from. With NAME: the options of that method."""
    from gpuga.methods import METHODS, find_method

    if name is not None:
        click.echo("\n".join(_described(find_method(name))))
        return
    width = max(len(method.name) for method in METHODS)
    for method in METHODS:
        click.echo(f"{method.name:<{width}}  {method.summary} ({method.source})")


def _described(method: Method) -> list[str]:
    """A method with its options, one line each."""
    start = ["  --start  patterns to start from"] if method.starts else []
    options = [*map(_option, method.options), *start]
    return [f"{method.name}: {method.summary} ({method.source})", *(options or ["  no options of its own"])]


def _option(option: Option) -> str:
    kinds = {int: "whole number", float: "number", bool: "flag", str: "text", tuple: "words"}
    kind = f"one of {', '.join(option.choices)}" if option.choices else kinds[option.kind]
    if option.kind is tuple:
        kind = f"some of {', '.join(option.choices)}"
    least = f", at least {option.least}" if option.kind in (int, float) else ""
    place = " (Python only)" if option.python_only else ""
    return f"  {option.flag}  {kind}{least}{place}"
