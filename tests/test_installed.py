"""What works on this machine: every back end, solver and extra has its line, with what is missing."""

from __future__ import annotations

import pytest

from gpuga import installed
from gpuga.installed import EXTRAS, parts
from gpuga.kernels.backend import available_backends


def test_every_back_end_solver_and_extra_is_listed_once() -> None:
    named = [(part.kind, part.name) for part in parts({})]
    assert len(set(named)) == len(named)
    assert [name for kind, name in named if kind == "back end"] == list(available_backends())
    assert [name for kind, name in named if kind == "solver"] == ["highs", "cuopt"]
    assert [name for kind, name in named if kind == "extra"] == [extra for _, extra, _ in EXTRAS]


def test_what_every_installation_has_works() -> None:
    problems = {part.name: part.problem for part in parts({})}
    assert problems["numpy"] is problems["cpu"] is problems["highs"] is None


def test_an_extra_that_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda module: None)
    missing = {part.name: part.problem for part in parts({}) if part.kind == "extra"}
    assert missing["files"] == "not installed: pip install 'gpuga[files]'"
    assert None not in missing.values()
