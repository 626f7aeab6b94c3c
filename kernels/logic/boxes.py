"""The search for the cheapest box through a cell: one change per axis, multiplied.

Options of every axis are priced along the axis through the cell and sorted. Axes are then joined one after the other,
the one with the most options last; a partial box whose price and the least that the other axes add reach the best box
so far is given up. Where there are three axes and the last has no sub-totals, whole rows along it are priced at once: a
box of options a, b and code c costs what a and b cost at c each, known by row, and what both cost there
together, which is looked at only where the rest is cheap enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..layout import INFINITE, Int32, Int64
from .compile import device, inner, whole

TOO_DEAR = 2**60
"""The price of what cannot be; four of them add up without overflow."""

NEXT, END, LENGTH, PRICE, REST, CHOICE = 0, 1, 2, 3, 4, 5
"""Rows of `BoxScratch.level`, a column per axis: the option that comes next, where the options end, cells and price of
the partial box, the least that this axis and the later ones add, and the best choice."""

Bytes = NDArray[np.uint8]
Signs = NDArray[np.int8]


class Boxed(NamedTuple):
    """Axes in the order in which they are joined, and the cells' rooms and weights by place (int64[N] each).

    Places are row-major in this order of the axes. A cell that is absent has no room; one of negative weight must not
    be suppressed. See `layout.AxisGrid` for the axes.
    """

    size: Int64
    stride: Int64
    total: Int64
    base: Int64
    first: Int64
    start: Int64
    code: Int32
    sign: Signs
    up: Int64
    down: Int64
    weight: Int64


class BoxScratch(NamedTuple):
    """Working memory of one search; the box found is `place[:level[LENGTH, axes]]`, moved by `move`."""

    price: Int64
    option: Int32
    place: Int32
    move: Signs
    level: Int64
    row: Int64
    least: Int64


class BoxRequest(NamedTuple):
    """A box that is looked for: cell `own` is to move by `need` in direction `move`, while `hidden` is suppressed.

    With `inside` only suppressed cells may move.
    """

    boxed: Boxed
    hidden: Bytes
    inside: bool
    own: int
    move: int
    need: int


@inner
def price_of(ask: BoxRequest, place: int, move: int) -> int:
    """What one cell adds to a box; -1 when it may not or cannot move so far."""
    if (ask.boxed.up[place] if move > 0 else ask.boxed.down[place]) < ask.need:
        return -1
    if ask.hidden[place]:
        return 0
    return -1 if ask.inside else ask.boxed.weight[place]


@inner
def listed(ask: BoxRequest, axis: int, scratch: BoxScratch, begin: int) -> int:
    """List the possible options of one axis from `begin` on; returns their end."""
    boxed, own, move = ask.boxed, ask.own, ask.move
    stride = boxed.stride[axis]
    code = own // stride % boxed.size[axis]
    end = begin
    if boxed.total[axis] >= 0:
        total = boxed.total[axis]
        for other in range(boxed.size[axis]):
            if other == code:
                continue
            with_it = move if other == total or code == total else -move
            price = price_of(ask, own + (other - code) * stride, with_it)
            if price >= 0:
                scratch.price[end], scratch.option[end] = price, other
                end += 1
        return end
    for option in range(boxed.first[boxed.base[axis] + code], boxed.first[boxed.base[axis] + code + 1]):
        price = 0
        for e in range(boxed.start[option], boxed.start[option + 1]):
            at = own + (boxed.code[e] - code) * stride
            part = price_of(ask, at, move * boxed.sign[e])
            if part < 0:
                price = -1
                break
            price += part
        if price >= 0:
            scratch.price[end], scratch.option[end] = price, option
            end += 1
    return end


@inner
def sort(scratch: BoxScratch, begin: int, end: int) -> None:
    """Shell sort of one axis's options by price, then option."""
    gap = 1
    while gap * 3 < end - begin:
        gap = gap * 3 + 1
    while gap > 0:
        for x in range(begin + gap, end):
            price, option = scratch.price[x], scratch.option[x]
            y = x - gap
            while y >= begin and (
                scratch.price[y] > price or (scratch.price[y] == price and scratch.option[y] > option)
            ):
                scratch.price[y + gap], scratch.option[y + gap] = scratch.price[y], scratch.option[y]
                y -= gap
            scratch.price[y + gap], scratch.option[y + gap] = price, option
        gap //= 3


@inner
def spread(ask: BoxRequest, scratch: BoxScratch, length: int, by: int, sign: int, written: int, left: int) -> int:
    """Copy the partial box by an offset, with a sign, behind itself; returns the price, -1 if it is too dear."""
    price = 0
    for x in range(length):
        place, move = scratch.place[x] + by, scratch.move[x] * sign
        part = price_of(ask, place, move)
        if part < 0:
            return -1
        price += part
        if price >= left:
            return -1
        scratch.place[written + x], scratch.move[written + x] = place, move
    return price


@inner
def join(ask: BoxRequest, axis: int, option: int, limit: int, scratch: BoxScratch) -> bool:
    """Multiply the partial box by one option of an axis; False when that is impossible or reaches `limit`."""
    boxed, level = ask.boxed, scratch.level
    stride = boxed.stride[axis]
    length, price = level[LENGTH, axis], level[PRICE, axis]
    code = ask.own // stride % boxed.size[axis]
    written = length
    if boxed.total[axis] >= 0:
        if 2 * length > len(scratch.place):
            return False
        sign = whole(1 if option == boxed.total[axis] or code == boxed.total[axis] else -1)
        part = spread(ask, scratch, length, (option - code) * stride, sign, written, limit - price)
        if part < 0:
            return False
        price += part
        written += length
    else:
        for e in range(boxed.start[option], boxed.start[option + 1]):
            if written + length > len(scratch.place):
                return False
            by, sign = (boxed.code[e] - code) * stride, whole(boxed.sign[e])
            part = spread(ask, scratch, length, by, sign, written, limit - price)
            if part < 0:
                return False
            price += part
            written += length
    level[LENGTH, axis + 1], level[PRICE, axis + 1] = written, price
    return True


@inner
def prepared(ask: BoxRequest, scratch: BoxScratch) -> bool:
    """List and sort the options of all axes; False where some axis has none, or the cell itself has no room."""
    level, axes = scratch.level, len(ask.boxed.size)
    if (ask.boxed.up[ask.own] if ask.move > 0 else ask.boxed.down[ask.own]) < ask.need:
        return False
    end = whole(0)
    for axis in range(axes):
        begin = end
        end = listed(ask, axis, scratch, begin)
        if begin == end:
            return False
        sort(scratch, begin, end)
        level[END, axis], level[REST, axis] = end, scratch.price[begin]
    level[REST, axes] = 0
    for axis in range(axes - 1, -1, -1):
        level[REST, axis] += level[REST, axis + 1]
    scratch.place[0], scratch.move[0] = ask.own, ask.move
    level[LENGTH, 0], level[PRICE, 0], level[NEXT, 0] = 1, 0, 0
    return True


@inner
def by_joining(ask: BoxRequest, scratch: BoxScratch) -> int:
    """The price of the cheapest box, depth first; the options chosen are in `scratch.level`."""
    level, axes = scratch.level, len(ask.boxed.size)
    best, axis = whole(INFINITE), whole(0)
    while axis >= 0 and best > 0:
        if axis == axes:
            best = level[PRICE, axis]
            for x in range(axes):
                level[CHOICE, x] = scratch.option[level[NEXT, x] - 1]
            axis -= 1
            continue
        at = level[NEXT, axis]
        limit = best - level[REST, axis + 1]
        if at == level[END, axis] or level[PRICE, axis] + scratch.price[at] >= limit:
            axis -= 1
            continue
        level[NEXT, axis] = at + 1
        if join(ask, axis, whole(scratch.option[at]), limit, scratch):
            axis += 1
            if axis < axes:
                level[NEXT, axis] = level[END, axis - 1]
    return best


@inner
def add_row(ask: BoxRequest, begin: int, code: int, move: int, row: Int64) -> None:
    """Add the prices of all cells of a row along the last axis, which move against `move` (totals with it)."""
    boxed, hidden, inside, need = ask.boxed, ask.hidden, ask.inside, ask.need
    last = len(boxed.size) - 1
    total = boxed.total[last]
    against = move if code == total else -move
    room = boxed.up if against > 0 else boxed.down
    at_total = row[total]
    for x in range(boxed.size[last]):
        price = TOO_DEAR if inside or boxed.weight[begin + x] < 0 else boxed.weight[begin + x]
        price = 0 if hidden[begin + x] else price
        price = TOO_DEAR if room[begin + x] < need else price
        row[x] = min(row[x] + price, TOO_DEAR)
    price = price_of(ask, begin + total, move)
    row[total] = TOO_DEAR if price < 0 else min(at_total + price, TOO_DEAR)


@inner
def row_of(ask: BoxRequest, axis: int, at: int, scratch: BoxScratch) -> None:
    """Price the row of one option, the last axis's own prices included; known rows stay."""
    boxed, own, move = ask.boxed, ask.own, ask.move
    if scratch.least[at] >= 0:
        return
    axes = len(boxed.size)
    row, first_row = scratch.row[at], scratch.row[scratch.level[END, axes - 2]]
    size, stride = boxed.size[axes - 1], boxed.stride[axis]
    code, last = own // stride % boxed.size[axis], own % size
    for x in range(size):
        row[x] = first_row[x]
    option = scratch.option[at]
    if boxed.total[axis] >= 0:
        sign = 1 if option == boxed.total[axis] or code == boxed.total[axis] else -1
        add_row(ask, own - last + (option - code) * stride, last, move * sign, row)
    else:
        for e in range(boxed.start[option], boxed.start[option + 1]):
            begin = own - last + (boxed.code[e] - code) * stride
            add_row(ask, begin, last, move * boxed.sign[e], row)
    least = TOO_DEAR
    for x in range(size):
        least = min(least, row[x])
    scratch.least[at] = least


@inner
def crossed(ask: BoxRequest, move: int, one: int, two: int, by: int, left: int) -> int:
    """What the cells cost that two options of the first two axes share, moved on by `by`; -1 if too dear."""
    boxed, own = ask.boxed, ask.own
    price = 0
    stride_one, stride_two = boxed.stride[0], boxed.stride[1]
    code_one, code_two = own // stride_one % boxed.size[0], own // stride_two % boxed.size[1]
    flat_one, flat_two = boxed.total[0] >= 0, boxed.total[1] >= 0
    begin_one, end_one = (0, 1) if flat_one else (boxed.start[one], boxed.start[one + 1])
    begin_two, end_two = (0, 1) if flat_two else (boxed.start[two], boxed.start[two + 1])
    for e in range(begin_one, end_one):
        other = one if flat_one else boxed.code[e]
        sign = boxed.sign[e] if not flat_one else (1 if other == boxed.total[0] or code_one == boxed.total[0] else -1)
        at, with_it = own + by + (other - code_one) * stride_one, move * sign
        for f in range(begin_two, end_two):
            other = two if flat_two else boxed.code[f]
            sign = (
                boxed.sign[f] if not flat_two else (1 if other == boxed.total[1] or code_two == boxed.total[1] else -1)
            )
            part = price_of(ask, at + (other - code_two) * stride_two, with_it * sign)
            if part < 0:
                return -1
            price += part
            if price >= left:
                return -1
    return price


@inner
def by_rows(ask: BoxRequest, scratch: BoxScratch) -> int:
    """As `by_joining`, for three axes of which the last has no sub-totals: row by row."""
    level, size, total = scratch.level, ask.boxed.size[2], ask.boxed.total[2]
    own, move, ends = ask.own, ask.move, level[END]
    last = own % size
    # the last axis's own prices, by code, in the row of its first option
    alone = scratch.row[ends[1]]
    for x in range(size):
        alone[x] = TOO_DEAR
    for at in range(ends[1], ends[2]):
        alone[scratch.option[at]] = scratch.price[at]
    for at in range(ends[1]):
        scratch.least[at] = -1
    best, cheapest_last = INFINITE, level[REST, 2]
    for one in range(ends[0]):
        if scratch.price[one] + level[REST, 1] >= best:
            break
        row_of(ask, whole(0), one, scratch)
        if scratch.price[one] + level[REST, 1] - cheapest_last + scratch.least[one] >= best:
            continue
        for two in range(ends[0], ends[1]):
            price = scratch.price[one] + scratch.price[two]
            if price + max(cheapest_last, scratch.least[one]) >= best:
                break
            row_of(ask, whole(1), two, scratch)
            left = best - price - max(scratch.least[one], scratch.least[two])
            if left <= 0:
                continue
            option_one, option_two = whole(scratch.option[one]), whole(scratch.option[two])
            part = crossed(ask, whole(move), option_one, option_two, whole(0), left)
            if part < 0:
                continue
            price += part
            first_row, second_row = scratch.row[one], scratch.row[two]
            least = 4 * TOO_DEAR - 1
            for x in range(size):
                least = min(least, first_row[x] + second_row[x] - alone[x])
            if price + least >= best:
                continue
            for x in range(size):
                known = price + first_row[x] + second_row[x] - alone[x]
                if known >= best or first_row[x] >= TOO_DEAR or second_row[x] >= TOO_DEAR:
                    continue
                sign = 1 if x == total or last == total else -1
                part = crossed(ask, move * sign, option_one, option_two, x - last, best - known)
                if part >= 0:
                    best = known + part
                    level[CHOICE, 0], level[CHOICE, 1], level[CHOICE, 2] = option_one, option_two, x
            if best == 0:
                return best
    return best


@inner
def cheapest(ask: BoxRequest, scratch: BoxScratch) -> int:
    """The price of the cheapest box, INFINITE if there is none; the box is in `scratch`.

    Of equal boxes the first one found stays.
    """
    axes = len(ask.boxed.size)
    if not prepared(ask, scratch):
        return INFINITE
    if axes == 3 and ask.boxed.total[2] >= 0:
        best = by_rows(ask, scratch)
    else:
        best = by_joining(ask, scratch)
    if best < INFINITE:
        for x in range(axes):
            join(ask, x, scratch.level[CHOICE, x], whole(INFINITE), scratch)
    return best


@device
def price_in_order(
    boxed: Boxed, scratch: BoxScratch, hidden: Bytes, cell: Int32, direction: Signs, need: Int64, order: Int32
) -> int:
    """What the boxes of the requirements in `order` cost, one after the other, while `hidden` grows by them.

    A requirement without a box costs nothing, a negative number in the order is no requirement.
    """
    spent = 0
    for x in range(len(order)):
        requirement = order[x]
        if requirement < 0:
            continue
        ask = BoxRequest(
            boxed, hidden, False, whole(cell[requirement]), whole(direction[requirement]), need[requirement]
        )
        added = cheapest(ask, scratch)
        if 0 < added < INFINITE:
            spent += added
            for at in range(scratch.level[LENGTH, len(boxed.size)]):
                hidden[scratch.place[at]] = 1
    return spent
