"""`gpuga methods`: every method, one line each, or one method with its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gpuga.declared import Parameter
    from gpuga.methods import Method


@click.command()
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List all methods with a short description and the source of each; with NAME, describe one and its options."""
    from gpuga.methods import METHODS, find_method

    if name is not None:
        click.echo("\n".join(_described(find_method(name))))
        return
    width = max(len(method.name) for method in METHODS)
    for method in METHODS:
        click.echo(f"{method.name:<{width}}  {method.summary} ({method.source})")


def _described(method: Method) -> list[str]:
    """A method with its options, two lines each."""
    start = ["  --start  (pattern)", "      Pattern to start from; may be repeated."] if method.starts else []
    options = [line for one in method.options for line in _option(one)] + start
    return [f"{method.name}: {method.summary} ({method.source})", *(options or ["  no options of its own"])]


def _option(one: Parameter) -> list[str]:
    place = ", Python only" if one.python_only else ""
    return [f"  {one.flag}  ({one.range}; default: {one.usual}{place})", f"      {one.meaning}"]
