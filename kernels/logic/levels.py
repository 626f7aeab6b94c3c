"""Reachability of all tasks of one pattern at once: 64 tasks to a word, each at its own capacity.

Tasks come sorted by rising need, so the tasks that may use a half-arc are the first few: those whose need its capacity
covers.  One flood over the pattern's small network then answers for all of them, where 64 patterns to a word would
walk the much larger network of their union once per task.
"""

from __future__ import annotations

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import FULL, ONE, ZERO
from .compile import Truth, device


@device
def covered_needs(need: Int64, capacity: int) -> int:
    """How many of the sorted needs a capacity covers."""
    low, high = 0, need.shape[0]
    while low < high:
        middle = (low + high) // 2
        if need[middle] <= capacity:
            low = middle + 1
        else:
            high = middle
    return low


@device
def open_arcs(capacity: Int64, twin: Int32, arcs: int, need: Int64, own: Int32, opened: Bits) -> None:
    """opened[h, w]: which tasks may walk half-arc h.  No task walks its own arc own[t] (-1: it has none)."""
    words = opened.shape[1]
    for h in range(2 * arcs):
        count = covered_needs(need, capacity[h])
        for w in range(words):
            left = count - w * 64
            if left >= 64:
                opened[h, w] = FULL
            else:
                opened[h, w] = (ONE << np.uint64(left)) - ONE if left > 0 else ZERO
    for t in range(own.shape[0]):
        if own[t] >= 0:
            single = ONE << np.uint64(t & 63)
            opened[own[t], t >> 6] &= ~single
            opened[twin[own[t]], t >> 6] &= ~single


@device
def flood(node_start: Int32, target: Int32, opened: Bits, reached: Bits, queue: Int32, queued: Int32) -> None:
    """Carry every task's bit from the nodes where `reached` uint64[V, words] holds it to all nodes that it reaches."""
    nodes = node_start.shape[0] - 1
    head, waiting = 0, 0
    for v in range(nodes):
        queued[v] = 0
        for w in range(reached.shape[1]):
            if reached[v, w] != ZERO and queued[v] == 0:
                queued[v] = 1
                queue[waiting] = v
                waiting += 1
    while waiting > 0:
        v = queue[head]
        head = head + 1 if head + 1 < nodes else 0
        waiting -= 1
        queued[v] = 0
        for h in range(node_start[v], node_start[v + 1]):
            u = target[h]
            news = ZERO
            for w in range(reached.shape[1]):
                fresh = reached[v, w] & opened[h, w] & ~reached[u, w]
                reached[u, w] |= fresh
                news |= fresh
            if news != ZERO and queued[u] == 0:
                queued[u] = 1
                tail = head + waiting
                queue[tail if tail < nodes else tail - nodes] = u
                waiting += 1


@device
def task_bit(reached: Bits, v: int, t: int) -> Truth:
    """Did task t reach node v?"""
    return (reached[v, t >> 6] >> np.uint64(t & 63)) & ONE != ZERO
