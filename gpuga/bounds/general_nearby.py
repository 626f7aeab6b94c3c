"""Cheaper patterns of any linear table near the best one, by small trees.

A good pattern found early is worth more than nodes: it settles cells at the root and closes nodes unseen. Cells may
change in which the root's point differs from the best pattern, and those whose change costs the point least; small
trees over few of them are finished within a few nodes.
"""

from __future__ import annotations

import numpy as np

from gpuga.bounds.general_tree import WHOLE, Tree

FIRST_CELLS = 50
MOST_NODES = 40


def search_nearby(tree: Tree) -> None:
    """Search around the incumbent as long as it gets cheaper, then among twice the cells while trees are finished."""
    relaxation, incumbent, size = tree.relaxation, tree.incumbent, FIRST_CELLS
    tree.settle()
    relaxation.solve()
    x, (_, reduced, _) = relaxation.x.copy(), tree.root
    while not tree.clock.expired():
        cost, best = incumbent.cost, incumbent.best[relaxation.free].astype(np.float64)
        alike = np.flatnonzero((np.abs(x - best) < WHOLE) & (tree.low < tree.high))
        stay = alike[np.argsort(np.abs(reduced[alike]), kind="stable")[size:]]
        if not len(stay):
            return
        low, high = tree.low.copy(), tree.high.copy()
        low[stay] = high[stay] = best[stay]
        finished = tree.part(low, high).run(MOST_NODES).closed
        tree.settle()
        if incumbent.cost == cost:
            if not finished:
                return
            size *= 2
