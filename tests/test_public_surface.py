"""What `help` says of the public functions answers what each of their parameters does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest

import gpuga
from gpuga.protect import RunOptions
from gpuga.table.attacker_model import Asked

FUNCTIONS = [name for name in gpuga.__all__ if inspect.isfunction(getattr(gpuga, name))]


def unexplained(function: Callable[..., object]) -> list[str]:
    """The parameters that a docstring does not name; further keywords may be named as those of another function."""
    said = inspect.getdoc(function) or ""
    missing = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            if not re.search(r"(?:those of|as in) `gpuga\.\w+`", said) and "What safe means" not in said:
                missing.append(f"**{name}")
        elif f"`{name}`" not in said and not re.search(rf"`{name}\W", said):
            missing.append(name)
    return missing


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_explained(name: str) -> None:
    function = getattr(gpuga, name)
    if name == "read_table":  # its keywords are explained by itself: others refer to it
        said = inspect.getdoc(function) or ""
        assert all(
            f"`{one}`" in said for one in ("levels", "weights", "total", "ignore", "encoding", "decimal", "sheet")
        )
    else:
        assert unexplained(function) == []


def test_help_on_protect_has_an_item_for_every_keyword_of_a_run() -> None:
    said = inspect.getdoc(gpuga.protect) or ""
    own = [name for name, one in inspect.signature(gpuga.protect).parameters.items() if one.kind is not one.VAR_KEYWORD]
    for name in (*own, *RunOptions.__annotations__, *Asked.__dataclass_fields__):
        assert f"\n- `{name}`: " in said, name


def test_a_parameter_that_is_not_explained_is_found() -> None:
    def one(table: object, most: int, **run: object) -> None:
        """Something with a `table`."""

    assert unexplained(one) == ["most", "**run"]
