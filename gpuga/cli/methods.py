"""`gpuga methods`: every method, one line each."""

from __future__ import annotations

import click


@click.command()
def methods() -> None:
    """List every method: its name, what it does, where it comes from."""
    from gpuga.methods import METHODS

    width = max(len(method.name) for method in METHODS)
    for method in METHODS:
        click.echo(f"{method.name:<{width}}  {method.summary} ({method.source})")
