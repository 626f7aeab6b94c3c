"""The dispatcher: every name leads to a module with a main, anything else is told what there is."""

from __future__ import annotations

import importlib

import pytest

from bench.__main__ import COMMANDS, main


@pytest.mark.parametrize("module", COMMANDS.values(), ids=list(COMMANDS))
def test_every_command_has_a_main(module):
    assert callable(importlib.import_module(module).main)


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_an_unknown_command_is_told_the_names(arguments, capsys):
    assert main(arguments) == 2
    assert "papers" in capsys.readouterr().err
