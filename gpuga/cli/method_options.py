"""The options of `gpuga protect` that belong to methods, made from the declarations of their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gpuga.cli.options import added
from gpuga.declared import Parameter
from gpuga.methods import METHODS
from gpuga.parameters import SolverParameters

Command = TypeVar("Command", bound=Callable[..., Any])

ENVIRONMENT = {"cuopt_host": "CUOPT_REMOTE_HOST"}
MOST_CHOICES = 6
"""More choices than these do not fit into the help; `gpuga methods NAME` lists them."""


def method_options(command: Command) -> Command:
    """Every option that some method takes, each once; the method itself validates the value."""
    by_name: dict[str, dict[str, Parameter]] = {}
    for method in METHODS:
        for one in method.options:
            if not one.python_only:
                by_name.setdefault(one.name, {})[method.name] = one
    options = [_option(name, taken) for name, taken in by_name.items()]
    options += [_option(one.name, {"": one}) for one in SolverParameters.declared()]
    return added(command, options)


_STARTS = ", ".join(method.name for method in METHODS if method.starts)
start_option = click.option(
    "--start",
    multiple=True,
    type=click.Path(),
    metavar="PATTERN",
    help=f"Pattern to start from; may be repeated.  [{_STARTS}]",
)


def _option(name: str, taken: dict[str, Parameter]) -> Callable[[Command], Command]:
    first = next(iter(taken.values()))
    choices = list(dict.fromkeys(choice for one in taken.values() for choice in one.choices))
    metavar = first.metavar or ("NAME" if len(choices) > MOST_CHOICES else f"[{'|'.join(choices)}]")
    more: dict[str, Any] = {"is_flag": True} if first.kind is bool else {"metavar": metavar}
    if first.kind in (int, float):
        more["type"] = first.kind
    if name in ENVIRONMENT:
        more |= {"envvar": ENVIRONMENT[name], "show_envvar": True}
    return click.option(first.flag, name, help=_help(taken), default=None, **more)


def _help(taken: dict[str, Parameter]) -> str:
    """What the option means, which methods take it, and their defaults."""
    meanings = _grouped(taken, lambda one: one.meaning)
    if len(meanings) == 1:
        said = next(iter(meanings))
    else:
        said = " ".join(f"{', '.join(methods)}: {meaning}" for meaning, methods in meanings.items())
    if "" in taken:
        return said
    defaults = _grouped(taken, _usual)
    listed = [f"{', '.join(methods)}{f': {usual}' if usual else ''}" for usual, methods in defaults.items()]
    return f"{said}  [{'; '.join(listed)}]"


def _usual(one: Parameter) -> str:
    """The default, where it says something: a file that is not written and a flag that is not set need no word."""
    return one.usual if one.unset or not (one.default is None or one.default is False) else ""


def _grouped(taken: dict[str, Parameter], key: Callable[[Parameter], str]) -> dict[str, list[str]]:
    """The methods by what `key` says of their parameter."""
    groups: dict[str, list[str]] = {}
    for method, one in taken.items():
        groups.setdefault(key(one), []).append(method)
    return groups
