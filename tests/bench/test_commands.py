"""The dispatcher: every name leads to a module with a main, anything else is told what there is."""

from __future__ import annotations

import re

import pytest

from bench.__main__ import COMMANDS, main


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_describes_each_of_its_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert f"usage: python -m bench {command} " in said
    options = said.partition("\noptions:\n")[2]
    for option in re.split(r"\n(?=  -)", options):
        name, _, meaning = option.strip().replace("\n", "  ").partition("  ")
        assert meaning.strip(), f"{name} says nothing"


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_an_unknown_command_is_told_the_names(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "papers" in capsys.readouterr().err


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n  {command} " in said for command in COMMANDS)
