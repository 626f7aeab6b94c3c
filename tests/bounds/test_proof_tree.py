"""The exact tree: what it says when nothing is left open."""

from __future__ import annotations

from gpuga import protect
from gpuga.table.generate import herrington


def test_a_tree_without_open_nodes_proves_the_incumbent():
    assert protect(herrington(20, 20, 0.05, 1), "exact").optimal
