"""Boxes through a cell below a price, and sums of boxes in which each carries a part of what is needed.

Where no cell of a line has room for a whole need, a single box would take totals, which cost most; several boxes
through the same cell share the need instead. In a sum, boxes may also cancel what others move, so that circuits other
than boxes come about.
"""

from __future__ import annotations

from ..layout import INFINITE
from .compile import Integer, Truth, bare, whole
from .general_records import LENGTH, SMALLEST_PART, TOUCHED, GeneralTable, State

NEXT, END, CELLS, PRICE, REST, CHOICE, KEPT = 0, 1, 2, 3, 4, 5, 6
"""Rows of `State.level`, a column per axis: the option that comes next, where the options end, cells and price of the
partial box, the least that this axis and the later ones add, the best choice, and the one that is laid out."""

EDGE_PRICE, ROOM, BESIDE = 0, 1, 2
"""Rows of `State.edge`: what an option costs, how far it can move, what it costs together with one of another axis."""

INSIDE = 1
"""The limit below which only suppressed cells serve."""


@bare
def flat(table: GeneralTable) -> Truth:
    """Whether no axis has sub-totals."""
    axis = 0
    while axis < len(table.size) and table.total[axis] >= 0:
        axis += 1
    return axis == len(table.size)


@bare
def room_of(table: GeneralTable, state: State, place: int, move: int) -> Integer:
    """How far a cell may still move beside the sum of boxes at hand."""
    room = table.up[place] if move > 0 else table.down[place]
    if room < INFINITE and state.note[TOUCHED] > 0:
        room -= state.moved[place] * move
    return room


@bare
def worth(table: GeneralTable, state: State, place: int, move: int, need: int, limit: int) -> int:
    """What one cell adds to a box; -1 when it may not or cannot move so far, or costs `limit` or more.

    The price is looked at first: most cells are published, and too dear where only suppressed ones will do.
    """
    if limit == INSIDE and not state.hidden[place]:
        return whole(-1)
    price = state.cost[place]
    if price >= limit:
        return whole(-1)
    return whole(-1) if room_of(table, state, place, move) < need else price


@bare
def list_options(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int, axis: int) -> bool:
    """List an axis's options below `limit` that have room for `need`, by rising price; False where there are none."""
    begin = state.level[END, axis - 1] if axis > 0 else 0
    stride = table.stride[axis]
    code = own // stride % table.size[axis]
    end = begin
    if table.total[axis] >= 0:
        total = table.total[axis]
        for other in range(table.size[axis]):
            at = own + (other - code) * stride
            if limit == INSIDE and not state.hidden[at]:
                continue
            price = state.cost[at]
            if price < 0 or price >= limit or other == code:
                continue
            room = room_of(table, state, at, move if other == total or code == total else -move)
            if room >= need:
                insert(state, begin, end, price, room, other)
                end += 1
    else:
        for option in range(table.first[table.base[axis] + code], table.first[table.base[axis] + code + 1]):
            price, least = whole(0), whole(INFINITE)
            for e in range(table.start[option], table.start[option + 1]):
                at = own + (table.code[e] - code) * stride
                part, room = state.cost[at], room_of(table, state, at, move * table.sign[e])
                if part < 0 or price + part >= limit or room < need:
                    price = whole(-1)
                    break
                price, least = price + part, min(least, room)
            if price >= 0:
                insert(state, begin, end, price, least, option)
                end += 1
    state.level[END, axis] = end
    return end > begin


@bare
def list_axes(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int) -> bool:
    """List the options of all axes for boxes through a cell that move it by `need` or more; False: there are none."""
    axis = whole(0)
    while axis < len(table.size) and list_options(table, state, own, move, need, limit, axis):
        axis += 1
    return axis == len(table.size)


@bare
def insert(state: State, begin: int, end: int, price: int, room: int, option: int) -> None:
    """Put an option into the sorted list begin..end."""
    x = end
    while x > begin and state.edge[EDGE_PRICE, x - 1] > price:
        state.edge[EDGE_PRICE, x], state.edge[ROOM, x] = state.edge[EDGE_PRICE, x - 1], state.edge[ROOM, x - 1]
        state.option[x] = state.option[x - 1]
        x -= 1
    state.edge[EDGE_PRICE, x], state.edge[ROOM, x], state.option[x] = price, room, option


@bare
def least_of_axes(state: State, axes: int, need: int) -> Integer:
    """What the cheapest options with room for `need` cost together, noted from each axis on; INFINITE: one has none."""
    end, level = state.level[END, axes - 1], state.level
    level[REST, axes] = 0
    for axis in range(axes - 1, -1, -1):
        x = level[END, axis - 1] if axis > 0 else 0
        while x < end and state.edge[ROOM, x] < need:
            x += 1
        if x == end:
            return INFINITE
        level[REST, axis] = level[REST, axis + 1] + state.edge[EDGE_PRICE, x]
        end = level[END, axis - 1] if axis > 0 else 0
    return level[REST, 0]


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
    length, price = level[CELLS, axis], level[PRICE, axis]
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
    level[CELLS, axis + 1], level[PRICE, axis + 1] = state.note[LENGTH], price
    return True


@bare
def by_joining(table: GeneralTable, state: State, own: int, need: int, limit: int) -> int:
    """The price of the cheapest box below `limit`, else `limit`; depth first, the choice is in `state.level`."""
    level, axes = state.level, len(table.size)
    best, axis = limit, whole(0)
    level[NEXT, 0], level[PRICE, 0] = 0, 0
    while axis >= 0 and best > 0:
        if axis == axes:
            best = level[PRICE, axis]
            for x in range(axes):
                level[CHOICE, x] = state.option[level[NEXT, x] - 1]
            axis -= 1
            continue
        at = level[NEXT, axis]
        bound = best - level[REST, axis + 1]
        if at == level[END, axis] or level[PRICE, axis] + state.edge[EDGE_PRICE, at] >= bound:
            axis -= 1
            continue
        level[NEXT, axis] = at + 1
        if join(table, state, own, need, axis, whole(state.option[at]), bound):
            axis += 1
            if axis < axes:
                level[NEXT, axis] = level[END, axis - 1]
    return best


@bare
def turn(table: GeneralTable, axis: int, code: int, other: int) -> int:
    """Whether a code of an axis without sub-totals moves with another one (1) or against it (-1)."""
    total = table.total[axis]
    return whole(1 if other == total or code == total else -1)


@bare
def row_of(table: GeneralTable, state: State, own: int, way: int, need: int, one: int, limit: int) -> int:
    """What the options of the third axis cost together with one of the first, in `edge[BESIDE]`; returns the least."""
    level, edge, option = state.level, state.edge, state.option
    code, least = own % table.size[2], limit
    by = (option[one] - own // table.stride[0]) * table.stride[0]
    for three in range(level[END, 1], level[END, 2]):
        edge[BESIDE, three] = limit
        if edge[ROOM, three] < need or edge[EDGE_PRICE, three] >= limit:
            continue
        at, turned = own + by + option[three] - code, way * turn(table, whole(2), code, option[three])
        part = worth(table, state, at, turned, need, limit - edge[EDGE_PRICE, three])
        if part >= 0:
            edge[BESIDE, three] = edge[EDGE_PRICE, three] + part
            least = min(least, edge[BESIDE, three])
    return least


@bare
def of_three(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int) -> Integer:
    """As `by_joining`, for three axes without sub-totals: three loops, each cut short by what the rest costs."""
    level, edge, option = state.level, state.edge, state.option
    stride_one, stride_two = table.stride[0], table.stride[1]
    code_one, code_two, code_three = own // stride_one, own // stride_two % table.size[1], own % table.size[2]
    least_two, best = level[REST, 1] - level[REST, 2], limit
    for one in range(level[END, 0]):
        if edge[EDGE_PRICE, one] + level[REST, 1] >= best:
            break
        if edge[ROOM, one] < need:
            continue
        by_one, turn_one = (option[one] - code_one) * stride_one, turn(table, whole(0), code_one, option[one])
        left = best - edge[EDGE_PRICE, one] - least_two
        least_three = row_of(table, state, own, turn_one * move, need, whole(one), left)
        if least_three >= left:
            continue
        for two in range(level[END, 0], level[END, 1]):
            price = edge[EDGE_PRICE, one] + edge[EDGE_PRICE, two]
            if price + least_three >= best:
                break
            if edge[ROOM, two] < need:
                continue
            by_two = (option[two] - code_two) * stride_two
            turn_two = turn(table, whole(1), code_two, option[two]) * move
            part = worth(table, state, own + by_one + by_two, turn_one * turn_two, need, best - price - least_three)
            if part < 0:
                continue
            price += part
            for three in range(level[END, 1], level[END, 2]):
                known = price + edge[BESIDE, three]
                if known >= best:
                    continue
                at, way = own + option[three] - code_three, turn(table, whole(2), code_three, option[three])
                part = worth(table, state, at + by_two, way * turn_two, need, best - known)
                if part < 0:
                    continue
                known += part
                part = worth(table, state, at + by_one + by_two, way * turn_one * turn_two, need, best - known)
                if part < 0:
                    continue
                best = known + part
                level[CHOICE, 0], level[CHOICE, 1], level[CHOICE, 2] = option[one], option[two], option[three]
                if best == 0:
                    return best
    return best


@bare
def cheapest_box(table: GeneralTable, state: State, own: int, move: int, need: int, limit: int) -> Integer:
    """The price of the cheapest box of listed options below `limit` that moves a cell by `need`, else `limit`.

    The choice is in `state.level`; `lay_out` writes its cells.
    """
    axes = len(table.size)
    if least_of_axes(state, axes, need) >= limit:
        return limit
    state.place[0], state.move[0] = own, move
    state.level[CELLS, 0] = 1
    if axes == 3 and flat(table):
        return of_three(table, state, own, move, need, limit)
    return by_joining(table, state, own, need, limit)


@bare
def lay_out(table: GeneralTable, state: State, own: int, move: int, need: int) -> None:
    """Write the cells of the box that was chosen."""
    state.place[0], state.move[0] = own, move
    state.level[CELLS, 0], state.level[PRICE, 0] = 1, 0
    for axis in range(len(table.size)):
        join(table, state, own, need, whole(axis), state.level[KEPT, axis], whole(INFINITE))


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
    part, chosen, least, floor = left, whole(0), limit, whole(0)
    if not list_axes(table, state, own, move, smallest, limit):
        return chosen
    while least > floor:
        price = cheapest_box(table, state, own, move, part, least)
        if price < least:
            chosen, least = part, price
            for axis in range(len(table.size)):
                state.level[KEPT, axis] = state.level[CHOICE, axis]
        if part <= smallest:
            break
        # a smaller part must be cheaper in proportion
        smaller = max((part + 1) // 2, smallest)
        if chosen > 0:
            least = least * smaller // part
        if part == left and smaller > smallest and least > 0:  # what fits a larger part fits the smallest
            floor = cheapest_box(table, state, own, move, smallest, least)
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
