"""The cheapest way to cover one task in one pattern: rectangles, and shortest augmenting paths over all cells."""

from __future__ import annotations

from ..layout import INFINITE, Bits, Int32, Int64
from .bits import bit
from .compile import Integer, device


@device
def price(rows: Bits, weights: Int64, columns: int, i: int, j: int) -> Integer:
    """What suppressing cell (i, j) costs: nothing when it is suppressed already."""
    if bit(rows, i, j):
        return 0
    return weights[i * columns + j]


@device
def cheapest_rectangle(
    rows: Bits, forward: Int64, reverse: Int64, weights: Int64, i: int, j: int, upward: int, need: int
) -> tuple[int, int, int]:
    """The cheapest rectangle (r, j)-(r, c)-(i, c) that lets cell (i, j) move: (r, c, cost), r = -1 when
    there is none.

    Ties go to the smaller r, then to the smaller c.  A negative weight marks a cell that must stay published.
    """
    columns = forward.shape[1]
    best, best_r, best_c = INFINITE, -1, -1
    for r in range(forward.shape[0]):
        side = price(rows, weights, columns, r, j)
        if r == i or side < 0 or side >= best or (reverse[r, j] if upward != 0 else forward[r, j]) < need:
            continue
        for c in range(columns):
            if c == j or (reverse[i, c] if upward != 0 else forward[i, c]) < need:
                continue
            if (forward[r, c] if upward != 0 else reverse[r, c]) < need:
                continue
            along, across = price(rows, weights, columns, i, c), price(rows, weights, columns, r, c)
            if along >= 0 and across >= 0 and side + along + across < best:
                best, best_r, best_c = side + along + across, r, c
    return best_r, best_c, best


@device
def moved(cells: Int32, amounts: Int64, length: int, cell: int) -> Integer:
    """Where `cell` stands in the circuit found so far, or -1."""
    for q in range(length):
        if cells[q] == cell:
            return q
    return -1


@device
def residual(
    forward: Int64, reverse: Int64, cells: Int32, amounts: Int64, length: int, i: int, j: int, from_row: bool
) -> Integer:
    """Capacity that is left in one direction of cell (i, j); `amounts` hold flow, row to column positive."""
    flow: Integer = 0
    if length > 1:
        q = moved(cells, amounts, length, i * forward.shape[1] + j)
        if q >= 0:
            flow = amounts[q]
    return forward[i, j] - flow if from_row else reverse[i, j] + flow


@device
def relax(
    distance: Int64, parent: Int32, opened: Int32, position: Int32, count: int, v: int, u: int, reached: int
) -> Integer:
    """Lower the distance of node u to `reached` by way of v; returns the new number of open nodes."""
    if position[u] == -1:
        position[u] = count
        opened[count] = u
        count += 1
    elif reached >= distance[u]:
        return count
    distance[u] = reached
    parent[u] = v
    return count


@device
def shortest_path(
    rows: Bits,
    forward: Int64,
    reverse: Int64,
    weights: Int64,
    row_order: Int32,
    column_order: Int32,
    i0: int,
    j0: int,
    source: int,
    sink: int,
    threshold: int,
    cells: Int32,
    amounts: Int64,
    length: int,
    distance: Int64,
    parent: Int32,
    opened: Int32,
    position: Int32,
) -> Integer:
    """Cheapest path from source to sink over residual capacities of at least `threshold`, without cell (i0,
    j0).

    Suppressed cells and cells of the circuit found so far cost nothing.  `row_order` int32[R, C] and
    `column_order` int32[C, R] list each line's cells by rising weight (-1 ends a list): a scan stops once
    the way is longer than the best way to the sink.  Of equally near nodes the one with the smaller number
    is settled first, which makes the path unique.  Returns the cost (INFINITE: no path); `parent[v]` is the
    node before v.
    """
    height, width = forward.shape[0], forward.shape[1]
    for v in range(height + width):
        position[v] = -1
        distance[v] = INFINITE
    count = relax(distance, parent, opened, position, 0, source, source, 0)
    while count > 0:
        v = nearest(distance, opened, count)
        here: Integer = distance[v]
        if here >= distance[sink]:
            return distance[sink]
        count = close(opened, position, count, v)
        from_row = v < height
        size = width if from_row else height
        for scan in range(2):
            for q in range(size):
                other = q
                if scan == 1:
                    other = row_order[v, q] if from_row else column_order[v - height, q]
                    if other < 0:
                        break
                i = v if from_row else other
                j = other if from_row else v - height
                known = bit(rows, i, j) or (length > 1 and moved(cells, amounts, length, i * width + j) >= 0)
                cost = 0 if known else weights[i * width + j]
                if scan == 1 and here + weights[i * width + j] >= distance[sink]:
                    break
                u = height + j if from_row else i
                if known != (scan == 0) or (i == i0 and j == j0) or position[u] == -2:
                    continue
                if here + cost < distance[sink] and (
                    residual(forward, reverse, cells, amounts, length, i, j, from_row) >= threshold
                ):
                    count = relax(distance, parent, opened, position, count, v, u, here + cost)
    return distance[sink]


@device
def nearest(distance: Int64, opened: Int32, count: int) -> Integer:
    """The open node with the smallest (distance, number)."""
    best = opened[0]
    for q in range(1, count):
        v = opened[q]
        if distance[v] < distance[best] or (distance[v] == distance[best] and v < best):
            best = v
    return best


@device
def close(opened: Int32, position: Int32, count: int, v: int) -> Integer:
    """Take v out of the open nodes for good; returns how many stay open."""
    last = opened[count - 1]
    opened[position[v]] = last
    position[last] = position[v]
    position[v] = -2
    return count - 1


@device
def push_path(
    forward: Int64,
    reverse: Int64,
    source: int,
    sink: int,
    remaining: int,
    parent: Int32,
    cells: Int32,
    amounts: Int64,
    length: int,
) -> tuple[int, int]:
    """Send flow along the path in `parent`; returns (amount sent, new length), length -1 when the circuit is full."""
    height, width = forward.shape[0], forward.shape[1]
    amount = remaining
    v = sink
    while v != source:
        u = parent[v]
        from_row = u < height
        i, j = (u, v - height) if from_row else (v, u - height)
        amount = min(amount, residual(forward, reverse, cells, amounts, length, i, j, from_row))
        v = u
    v = sink
    while v != source:
        u = parent[v]
        from_row = u < height
        cell = u * width + (v - height) if from_row else v * width + (u - height)
        q = moved(cells, amounts, length, cell)
        if q < 0:
            if length == cells.shape[0]:
                return amount, -1
            q = length
            cells[q] = cell
            amounts[q] = 0
            length += 1
        amounts[q] += amount if from_row else -amount
        v = u
    return amount, length


@device
def cheapest_circuit(
    rows: Bits,
    forward: Int64,
    reverse: Int64,
    weights: Int64,
    row_order: Int32,
    column_order: Int32,
    i0: int,
    j0: int,
    upward: int,
    need: int,
    cells: Int32,
    amounts: Int64,
    distance: Int64,
    parent: Int32,
    opened: Int32,
    position: Int32,
) -> Integer:
    """Cover a task by cheapest augmenting paths: one path that carries all if there is one, else several.

    Fills `cells` and `amounts` (movement of the cell's value; the task's own cell first); returns the
    length, 0 when the task cannot be covered.
    """
    height, width = forward.shape[0], forward.shape[1]
    source = height + j0 if upward != 0 else i0
    sink = i0 if upward != 0 else height + j0
    cells[0] = i0 * width + j0
    amounts[0] = need if upward != 0 else -need
    length = 1
    remaining = need
    while remaining > 0:
        cost = INFINITE
        threshold = remaining
        while cost >= INFINITE and threshold > 0:
            cost = shortest_path(
                rows, forward, reverse, weights, row_order, column_order, i0, j0, source, sink, threshold,
                cells, amounts, length, distance, parent, opened, position,
            )  # fmt: skip
            threshold = 1 if threshold > 1 else 0
        if cost >= INFINITE:
            return 0
        sent, length = push_path(forward, reverse, source, sink, remaining, parent, cells, amounts, length)
        if length < 0:
            return 0
        remaining -= sent
    return settle(cells, amounts, length, height, width)


@device
def settle(cells: Int32, amounts: Int64, length: int, height: int, width: int) -> Integer:
    """Turn flows into movements of values and drop the cells whose flows cancelled; returns the new length."""
    kept = 0
    for q in range(length):
        if amounts[q] == 0:
            continue
        i = cells[q] // width
        j = cells[q] - i * width
        marginal = (i == height - 1) != (j == width - 1)
        cells[kept] = cells[q]
        amounts[kept] = -amounts[q] if marginal else amounts[q]
        kept += 1
    return kept
