"""The table of operations in the documentation is up to date, and none of them is without a caller."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "make_kernels.py"))


def test_the_table_of_operations_is_up_to_date(script: dict[str, Any]) -> None:
    text = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    assert script["page"](text) == text, "run make docs"


@pytest.mark.parametrize("name", ["TwoWayCpu", "Crossing", "Backend"])
def test_every_operation_that_a_device_has_is_called(script: dict[str, Any], name: str) -> None:
    assert [one for one in script["uncalled"]() if one.startswith(name)] == []
