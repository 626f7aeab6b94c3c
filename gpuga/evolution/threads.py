"""Work on the individuals of a group, spread over threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numba import get_num_threads

Item = TypeVar("Item")
Made = TypeVar("Made")


def on_threads(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """What `work` makes of each item, in their order; for compiled work on items that share nothing."""
    threads = min(get_num_threads(), len(items))
    if threads < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads, "group") as pool:
        return list(pool.map(work, items))
