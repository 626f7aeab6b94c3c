"""Help lists every option once, under a heading that says what it is about."""

from __future__ import annotations

import re

import click
import pytest

from gpuga.cli.main import cli, run
from gpuga.cli.sections import LAST, SECTIONS, Sectioned

MANY = ["protect", "audit", "bound", "expose", "compare", "publish", "explain", "report"]


def command_of(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", MANY)
def test_every_option_stands_once_in_the_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(command_of(name), Sectioned)
    assert run([name, "--help"]) == 0
    before, _, text = capsys.readouterr().out.partition("Result:")
    shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.M)
    longest = [
        next(word for word in option.opts if word.startswith("--"))
        for option in command_of(name).params
        if isinstance(option, click.Option) and not option.hidden
    ]
    own = set(longest) - set(shown)  # those of the command alone come before
    assert len(shown) == len(set(shown))
    assert set(shown) == {*longest, "--help"} - own
    assert all(f"\n  {word}" in before for word in own)


def test_no_section_lists_an_option_that_no_command_has() -> None:
    names = {one.name for name in MANY for one in command_of(name).params} | {"help"}
    assert {name for listed in SECTIONS.values() for name in listed} <= names


def test_what_belongs_to_methods_alone_comes_last(capsys: pytest.CaptureFixture[str]) -> None:
    run(["protect", "--help"])
    text = capsys.readouterr().out
    headings = re.findall(r"^(\w[\w ]*):$", text, re.M)
    assert headings == [*SECTIONS, LAST]
    assert text.index("--out") < text.index("--levels") < text.index("--groups")
