"""Small tables that the tests of evolution share."""

from __future__ import annotations

import pytest

from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table


@pytest.fixture(scope="session")
def plane() -> Table:
    return herrington(15, 12, 0.06, 3)


@pytest.fixture(scope="session")
def solid() -> Table:
    return smith3d((6, 5, 4), 0.12, 0.1, 2)
