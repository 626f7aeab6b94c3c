"""The example of a DEAP user's own operator runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "evolution" / "own_selection.py"


def test_a_swapped_operator_gives_a_safe_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    calls = runpy.run_path(str(EXAMPLE))["main"]()
    assert calls > 0
    assert "safe: True" in capsys.readouterr().out
