"""Sorting in place, without further memory."""

from __future__ import annotations

from ..layout import Int32, Int64
from .compile import Truth, bare, whole


@bare
def _after(item: Int32, key: Int64, x: int, y: int) -> Truth:
    """Does entry x come after entry y?"""
    return key[x] > key[y] or (key[x] == key[y] and item[x] > item[y])


@bare
def _sink(item: Int32, key: Int64, at: int, count: int) -> None:
    """Let entry `at` of a heap with the last entry on top fall to its place."""
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and _after(item, key, below + 1, below):
            below += 1
        if not _after(item, key, below, at):
            return
        item[at], item[below] = item[below], item[at]
        key[at], key[below] = key[below], key[at]
        at = below


@bare
def sort_by_key(item: Int32, key: Int64, count: int) -> None:
    """Sort the first entries by rising key, smaller items first among equals (heap sort: no recursion)."""
    for at in range(count // 2 - 1, -1, -1):
        _sink(item, key, whole(at), count)
    for last in range(count - 1, 0, -1):
        item[0], item[last] = item[last], item[0]
        key[0], key[last] = key[last], key[0]
        _sink(item, key, whole(0), last)
