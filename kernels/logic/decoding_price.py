"""What a published cell costs one child: the price of its snapshot, less where parents suppress it, blurred."""

from __future__ import annotations

from .bits import bit
from .compile import Integer, bare
from .hashing import small_share
from .records import Child, Prices

BLUR, SINGLE, BY_CAPACITY = 1, 2, 4
"""Bits of a style: blur the prices; look for one wide path first; narrow cells are dearer."""

BY_NEED, BY_WEIGHT = 8, 16
"""Requirements by falling need, or by falling weight of their own cell; else in random order."""

SHARED, ONE_PARENT = 20, 307
"""1024ths of its price that a cell of both parents, or of one, costs."""

MOST_BLUR = 307
"""1024ths by which blurred prices are dearer at most."""

LARGEST_PRICE = 1 << 36
"""Prices up to this keep the length of any path below 2**62."""

MOST_DEARER = 1 << 20
"""Narrow cells become at most this many 1024ths dearer, for the same reason."""

LARGE_NEED = 1 << 52


@bare
def blurred(child: Child, price: int, c: int) -> Integer:
    """The price of cell c with this child's noise, if its style has any."""
    if child.style & BLUR:
        return price + ((price * ((MOST_BLUR * small_share(child.seed, c)) >> 10)) >> 10)
    return price


@bare
def decoding_price(prices: Prices, child: Child, c: int, i: int, j: int) -> Integer:
    """What suppressing cell c = (i, j) costs; at least 1, so that of equally cheap paths a shorter one is taken."""
    price = prices.price[child.snapshot, c]
    one, other = bit(child.first, i, j), bit(child.second, i, j)
    if one and other:
        price = (price * SHARED) >> 10
    elif one or other:
        price = (price * ONE_PARENT) >> 10
    return blurred(child, price, c) + 1


@bare
def narrowed(price: int, need: int, capacity: int) -> Integer:
    """The price of a cell that carries only a part of the need: as much dearer as the need is larger."""
    if capacity >= need:
        return price
    if need >= LARGE_NEED:
        need, capacity = need >> 12, capacity >> 12
    return (price * min((need << 10) // max(capacity, 1), MOST_DEARER)) >> 10
