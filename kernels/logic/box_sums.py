"""Boxes through a cell below a price, and sums of boxes in which each carries a part of what is needed.

Where no cell of a line has room for a whole need, a single box would take totals, which cost most; several boxes
through the same cell share the need instead. In a sum, boxes may also cancel what others move, so that circuits other
than boxes come about.
"""

from __future__ import annotations

from ..layout import INFINITE
from .compile import Integer, bare, whole
from .general_records import LENGTH, SMALLEST_PART, TOUCHED, GeneralTable, State


@bare
def worth(table: GeneralTable, state: State, place: int, move: int, need: int, limit: int) -> int:
    """What one cell adds to a box; -1 when it may not or cannot move so far, or costs `limit` or more.

    The price is looked at first: most cells are published, and too dear where only suppressed ones will do.
    """
    price = state.cost[place]
    if price >= limit:
        return whole(-1)
    room = table.up[place] if move > 0 else table.down[place]
    if room < INFINITE and state.note[TOUCHED] > 0:
        room -= state.moved[place] * move
    return whole(-1) if room < need else price


@bare
def list_options(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int, axis: int) -> bool:
    """List an axis's options that cost less than `limit`, by rising price; False where there are none."""
    begin = state.level[1, axis - 1] if axis > 0 else 0
    stride = table.stride[axis]
    code = own // stride % table.size[axis]
    end = begin
    if table.total[axis] >= 0:
        total = table.total[axis]
        for other in range(table.size[axis]):
            with_it = move if other == total or code == total else -move
            price = worth(table, state, own + (other - code) * stride, with_it, need, limit)
            if price >= 0 and other != code:
                insert(state, begin, end, price, other)
                end += 1
    else:
        for option in range(table.first[table.base[axis] + code], table.first[table.base[axis] + code + 1]):
            price = whole(0)
            for e in range(table.start[option], table.start[option + 1]):
                at = own + (table.code[e] - code) * stride
                part = worth(table, state, at, move * table.sign[e], need, limit - price)
                price = whole(-1) if part < 0 else price + part
                if price < 0:
                    break
            if price >= 0:
                insert(state, begin, end, price, option)
                end += 1
    state.level[1, axis] = end
    state.level[4, axis] = state.edge[begin] if end > begin else INFINITE
    return end > begin


@bare
def insert(state: State, begin: int, end: int, price: int, option: int) -> None:
    """Put an option into the sorted list begin..end."""
    x = end
    while x > begin and state.edge[x - 1] > price:
        state.edge[x], state.option[x] = state.edge[x - 1], state.option[x - 1]
        x -= 1
    state.edge[x], state.option[x] = price, option


@bare
def spread(table: GeneralTable, state: State, length: int, by: int, sign: int, need: int, left: int) -> int:
    """Copy the first cells of the box at hand by an offset behind its end; the price, -1 if it reaches `left`."""
    price, written = whole(0), state.note[LENGTH]
    if written + length > len(state.place):
        return -1
    for x in range(length):
        place, move = state.place[x] + by, state.move[x] * sign
        part = worth(table, state, whole(place), whole(move), need, left - price)
        if part < 0:
            return -1
        price += part
        state.place[written + x], state.move[written + x] = place, move
    state.note[LENGTH] = written + length
    return price


@bare
def join(table: GeneralTable, state: State, own: int, need: int, axis: int, option: int, limit: int) -> bool:
    """Multiply the box at hand by one option of an axis; False when that is impossible or reaches `limit`."""
    level, stride = state.level, table.stride[axis]
    length, price = level[2, axis], level[3, axis]
    code = own // stride % table.size[axis]
    state.note[LENGTH] = length
    if table.total[axis] >= 0:
        sign = whole(1 if option == table.total[axis] or code == table.total[axis] else -1)
        part = spread(table, state, length, (option - code) * stride, sign, need, limit - price)
        if part < 0:
            return False
        price += part
    else:
        for e in range(table.start[option], table.start[option + 1]):
            by = (table.code[e] - code) * stride
            part = spread(table, state, length, by, whole(table.sign[e]), need, limit - price)
            if part < 0:
                return False
            price += part
    level[2, axis + 1], level[3, axis + 1] = state.note[LENGTH], price
    return True


@bare
def by_joining(table: GeneralTable, state: State, own: int, need: int, limit: int) -> int:
    """The price of the cheapest box below `limit`, else `limit`; depth first, the choice is in `state.level`."""
    level, axes = state.level, len(table.size)
    best, axis = limit, whole(0)
    level[0, 0], level[3, 0] = 0, 0
    while axis >= 0 and best > 0:
        if axis == axes:
            best = level[3, axis]
            for x in range(axes):
                level[5, x] = state.option[level[0, x] - 1]
            axis -= 1
            continue
        at = level[0, axis]
        bound = best - level[4, axis + 1]
        if at == level[1, axis] or level[3, axis] + state.edge[at] >= bound:
            axis -= 1
            continue
        level[0, axis] = at + 1
        if join(table, state, own, need, axis, whole(state.option[at]), bound):
            axis += 1
            if axis < axes:
                level[0, axis] = level[1, axis - 1]
    return best


@bare
def turn(table: GeneralTable, axis: int, code: int, other: int) -> int:
    """Whether a code of an axis without sub-totals moves with another one (1) or against it (-1)."""
    total = table.total[axis]
    return whole(1 if other == total or code == total else -1)


@bare
def of_three(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int) -> Integer:
    """As `by_joining`, for three axes without sub-totals: three loops, each cut short by what the rest costs."""
    level, edge, option = state.level, state.edge, state.option
    stride_one, stride_two = table.stride[0], table.stride[1]
    code_one, code_two, code_three = own // stride_one, own // stride_two % table.size[1], own % table.size[2]
    least_three, best = edge[level[1, 1]], limit
    for one in range(level[1, 0]):
        if edge[one] + level[4, 1] >= best:
            break
        by_one, turn_one = (option[one] - code_one) * stride_one, turn(table, whole(0), code_one, option[one])
        for two in range(level[1, 0], level[1, 1]):
            price = edge[one] + edge[two]
            if price + least_three >= best:
                break
            by_two = (option[two] - code_two) * stride_two
            turn_two = turn(table, whole(1), code_two, option[two]) * move
            part = worth(table, state, own + by_one + by_two, turn_one * turn_two, need, best - price - least_three)
            if part < 0:
                continue
            price += part
            for three in range(level[1, 1], level[1, 2]):
                known = price + edge[three]
                if known >= best:
                    break
                at, way = own + option[three] - code_three, turn(table, whole(2), code_three, option[three])
                part = worth(table, state, at + by_one, way * turn_one * move, need, best - known)
                if part < 0:
                    continue
                known += part
                part = worth(table, state, at + by_two, way * turn_two, need, best - known)
                if part < 0:
                    continue
                known += part
                part = worth(table, state, at + by_one + by_two, way * turn_one * turn_two, need, best - known)
                if part < 0:
                    continue
                best = known + part
                level[5, 0], level[5, 1], level[5, 2] = option[one], option[two], option[three]
                if best == 0:
                    return best
    return best


@bare
def cheapest_box(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int) -> Integer:
    """The price of the cheapest box below `limit` that moves a cell by `need`, else `limit`.

    The choice is in `state.level`; `lay_out` writes its cells.
    """
    level, axes = state.level, len(table.size)
    for axis in range(axes):
        if not list_options(table, state, own, move, need, limit, whole(axis)):
            return limit
    level[4, axes] = 0
    for axis in range(axes - 1, -1, -1):
        level[4, axis] += level[4, axis + 1]
    state.place[0], state.move[0] = own, move
    level[2, 0] = 1
    if axes == 3 and table.total[0] >= 0 and table.total[1] >= 0 and table.total[2] >= 0:
        return of_three(table, state, own, move, need, limit)
    return by_joining(table, state, own, need, limit)


@bare
def lay_out(table: GeneralTable, state: State, own: int, move: int, need: int) -> None:
    """Write the cells of the box that was chosen."""
    state.place[0], state.move[0] = own, move
    state.level[2, 0], state.level[3, 0] = 1, 0
    for axis in range(len(table.size)):
        join(table, state, own, need, whole(axis), state.level[5, axis], whole(INFINITE))


@bare
def add_box(table: GeneralTable, state: State, most: int) -> int:
    """Move the cells of the box as far as they have room, at most by `most`; returns how far."""
    by = most
    for x in range(state.note[LENGTH]):
        place = state.place[x]
        room = table.up[place] if state.move[x] > 0 else table.down[place]
        if room < INFINITE:
            by = min(by, room - state.moved[place] * state.move[x])
    for x in range(state.note[LENGTH]):
        place = state.place[x]
        if not state.seen[place]:
            state.seen[place] = 1
            state.touched[state.note[TOUCHED]] = place
            state.note[TOUCHED] += 1
        state.moved[place] += by * state.move[x]
        state.cost[place] = 0
    return by


@bare
def best_part(table: GeneralTable, state: State, own: int, move: int, left: int, limit: int, smallest: int) -> int:
    """The part of what is left whose box costs least per unit, laid out; 0 where no part has a box below `limit`."""
    part, chosen, least = left, whole(0), limit
    while least > 0:
        price = cheapest_box(table, state, own, move, part, least)
        if price < least:
            chosen, least = part, price
        if part <= smallest:
            break
        # a smaller part must be cheaper in proportion
        smaller = max((part + 1) // 2, smallest)
        if chosen > 0:
            least = least * smaller // part
        part = smaller
    if chosen > 0:
        lay_out(table, state, own, move, chosen)
    return chosen


@bare
def in_parts(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int, parts: int) -> bool:
    """Add boxes through a cell until it has moved by `need`: at most so many, each below `limit`."""
    left = need
    for number in range(parts):
        if state.note[TOUCHED] + len(state.place) > len(state.touched):
            return False
        # the last parts must be large enough to come to an end
        smallest = max(left // min(SMALLEST_PART, parts - number), 1)
        if best_part(table, state, own, move, left, limit, smallest) == 0:
            return False
        left -= add_box(table, state, left)
        if left == 0:
            return True
    return False


@bare
def sum_of_boxes(table: GeneralTable, state: State, requirement: int, limit: int, parts: int) -> bool:
    """Boxes through a requirement's cell that together meet its need, in `state.moved`; False: none."""
    own, move, need = whole(table.own[requirement]), whole(table.direction[requirement]), table.need[requirement]
    state.note[TOUCHED] = 0
    if (table.up[own] if move > 0 else table.down[own]) < need:
        return False
    if in_parts(table, state, own, move, need, limit, parts):
        return True
    forget_sum(state)
    return False


@bare
def forget_sum(state: State) -> None:
    """Clear the sum of boxes at hand."""
    for x in range(state.note[TOUCHED]):
        place = state.touched[x]
        state.moved[place], state.seen[place] = 0, 0
        state.cost[place] = 0 if state.hidden[place] else state.price[place]
    state.note[TOUCHED] = 0


@bare
def price_of_sum(state: State) -> int:
    """What the sum of boxes at hand costs."""
    price = whole(0)
    for x in range(state.note[TOUCHED]):
        place = state.touched[x]
        if state.moved[place] != 0 and not state.hidden[place]:
            price += state.price[place]
    return price
