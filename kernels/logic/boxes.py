"""Boxes: the cheapest product of one-dimensional kernel vectors through a cell of a k-dimensional
hierarchical grid.

In one dimension (a tree of codes in which every inner code is the sum of its children) the elementary
kernel vectors are "leaf a up, leaf b down", carried up both branches to their lowest common ancestor, and
"leaf a up" carried up to the root.  Those through a code c are the ones whose leaf a lies under c and whose
leaf b does not; so margins are served, too.
"""

from __future__ import annotations

from ..layout import INFINITE, MAX_BOX, Bits, Int32, Int64
from .bits import cell_bit
from .compile import device


@device
def lies_under(parent: Int32, offset: int, code: int, ancestor: int) -> bool:
    """Is `code` equal to `ancestor` or one of its descendants?"""
    while code >= 0:
        if code == ancestor:
            return True
        code = parent[offset + code]
    return False


@device
def option_codes(parent: Int32, depth: Int32, offset: int, a: int, b: int, codes: Int32, signs: Int32) -> int:
    """Write the kernel vector "a up, b down" (b = -1: up to the root) into codes and signs; returns its length."""
    length = 0
    if b < 0:
        while a >= 0:
            codes[length] = a
            signs[length] = 1
            length += 1
            a = parent[offset + a]
        return length
    while a != b:
        if depth[offset + a] >= depth[offset + b]:
            codes[length] = a
            signs[length] = 1
            a = parent[offset + a]
        else:
            codes[length] = b
            signs[length] = -1
            b = parent[offset + b]
        length += 1
    return length


@device
def entry_price(
    rows: Bits,
    columns: int,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    cell: int,
    sign: int,
    need: int,
) -> int:
    """What one cell adds to a box that moves it by sign * need; -1 when it may not or cannot."""
    if (up[cell] if sign > 0 else down[cell]) < need:
        return -1
    if cell_bit(rows, columns, cell):
        return 0
    return -1 if inside != 0 else weights[cell]


@device
def axis_price(
    rows: Bits,
    columns: int,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    own: int,
    code: int,
    stride: int,
    direction: int,
    need: int,
    codes: Int32,
    signs: Int32,
    length: int,
) -> int:
    """Price of a kernel vector laid along one axis through the cell, -1 when some cell of it is out of the question."""
    total = 0
    for q in range(length):
        if codes[q] == code:
            continue
        cell = own + (codes[q] - code) * stride
        part = entry_price(rows, columns, up, down, weights, inside, cell, signs[q] * direction, need)
        if part < 0:
            return -1
        total += part
    return total


@device
def sort_options(prices: Int64, first: Int32, second: Int32, begin: int, end: int) -> None:
    """Shell sort of one dimension's options by (price, a, b)."""
    gap = 1
    while gap * 3 < end - begin:
        gap = gap * 3 + 1
    while gap > 0:
        for x in range(begin + gap, end):
            price, a, b = prices[x], first[x], second[x]
            y = x - gap
            while y >= begin and (
                prices[y] > price or (prices[y] == price and (first[y] > a or (first[y] == a and second[y] > b)))
            ):
                prices[y + gap], first[y + gap], second[y + gap] = prices[y], first[y], second[y]
                y -= gap
            prices[y + gap], first[y + gap], second[y + gap] = price, a, b
        gap //= 3


@device
def list_options(
    rows: Bits,
    columns: int,
    stride: int,
    offset: int,
    parent: Int32,
    depth: Int32,
    leaf: Int32,
    first_leaf: int,
    last_leaf: int,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    own: int,
    code: int,
    direction: int,
    need: int,
    prices: Int64,
    first: Int32,
    second: Int32,
    begin: int,
    codes: Int32,
    signs: Int32,
) -> int:
    """List and sort the possible kernel vectors of one dimension through the cell; returns the end of the list."""
    end = begin
    for x in range(first_leaf, last_leaf):
        a = leaf[x]
        if not lies_under(parent, offset, a, code):
            continue
        for y in range(first_leaf - 1, last_leaf):
            b = -1 if y < first_leaf else leaf[y]
            if b >= 0 and lies_under(parent, offset, b, code):
                continue
            length = option_codes(parent, depth, offset, a, b, codes, signs)
            total = axis_price(
                rows,
                columns,
                up,
                down,
                weights,
                inside,
                own,
                code,
                stride,
                direction,
                need,
                codes,
                signs,
                length,
            )
            if total >= 0:
                prices[end], first[end], second[end] = total, a, b
                end += 1
    sort_options(prices, first, second, begin, end)
    return end


@device
def spread(
    rows: Bits,
    columns: int,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    code: int,
    stride: int,
    need: int,
    codes: Int32,
    signs: Int32,
    length: int,
    cells: Int32,
    moves: Int32,
    begin: int,
    end: int,
    limit: int,
) -> int:
    """Multiply the partial box at begin..end by one kernel vector, writing the product behind it; returns
    its price.

    -1: some cell cannot move, or the price reaches `limit`, or the box grows too large.
    """
    if (end - begin) * length > MAX_BOX:
        return -1
    total = 0
    at = end
    for q in range(length):
        for x in range(begin, end):
            cell = cells[x] + (codes[q] - code) * stride
            if codes[q] != code:
                part = entry_price(rows, columns, up, down, weights, inside, cell, moves[x] * signs[q], need)
                if part < 0 or total + part >= limit:
                    return -1
                total += part
            cells[at] = cell
            moves[at] = moves[x] * signs[q]
            at += 1
    return total


# Rows of the scratch table `level` int64[7, K+1]: where each dimension's options end, which option comes
# next, where the partial box begins and ends, its price, the least that the remaining dimensions add, and
# the best choice so far.
OPTIONS_END, NEXT, BEGIN, END, PRICE, REST, CHOICE = 0, 1, 2, 3, 4, 5, 6


@device
def prepare(
    rows: Bits,
    columns: int,
    shape: Int32,
    stride: Int64,
    offset: Int32,
    parent: Int32,
    depth: Int32,
    leaf_start: Int32,
    leaf: Int32,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    own: int,
    direction: int,
    need: int,
    prices: Int64,
    first: Int32,
    second: Int32,
    codes: Int32,
    signs: Int32,
    level: Int64,
) -> bool:
    """List the options of every dimension; False when some dimension has none."""
    dimensions = shape.shape[0]
    if (up[own] if direction > 0 else down[own]) < need:
        return False
    end = 0
    for d in range(dimensions):
        begin = end
        end = list_options(
            rows, columns, stride[d], offset[d], parent, depth, leaf, leaf_start[d], leaf_start[d + 1], up,
            down, weights, inside, own, own // stride[d] % shape[d], direction, need, prices, first, second,
            begin, codes, signs,
        )  # fmt: skip
        level[OPTIONS_END, d] = end
        level[REST, d] = prices[begin] if begin < end else 0
        if begin == end:
            return False
    level[REST, dimensions] = 0
    for d in range(dimensions - 1, -1, -1):
        level[REST, d] += level[REST, d + 1]
    return True


@device
def extend(
    rows: Bits,
    columns: int,
    shape: Int32,
    stride: Int64,
    offset: Int32,
    parent: Int32,
    depth: Int32,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    own: int,
    need: int,
    a: int,
    b: int,
    codes: Int32,
    signs: Int32,
    cells: Int32,
    moves: Int32,
    level: Int64,
    d: int,
    limit: int,
) -> bool:
    """Multiply the partial box of dimension d by option (a, b); False when that is impossible or too dear."""
    length = option_codes(parent, depth, offset[d], a, b, codes, signs)
    begin, end = level[BEGIN, d], level[END, d]
    part = spread(
        rows, columns, up, down, weights, inside, own // stride[d] % shape[d], stride[d], need, codes,
        signs, length, cells, moves, begin, end, limit - level[PRICE, d],
    )  # fmt: skip
    if part < 0:
        return False
    level[BEGIN, d + 1] = end
    level[END, d + 1] = end + (end - begin) * length
    level[PRICE, d + 1] = level[PRICE, d] + part
    return True


@device
def cheapest_box(
    rows: Bits,
    columns: int,
    shape: Int32,
    stride: Int64,
    offset: Int32,
    parent: Int32,
    depth: Int32,
    leaf_start: Int32,
    leaf: Int32,
    up: Int64,
    down: Int64,
    weights: Int64,
    inside: int,
    own: int,
    direction: int,
    need: int,
    prices: Int64,
    first: Int32,
    second: Int32,
    codes: Int32,
    signs: Int32,
    cells: Int32,
    moves: Int32,
    level: Int64,
) -> int:
    """Price of the cheapest box that lets cell `own` move by `need` in `direction`; INFINITE when there is
    none.

    The box itself ends up at level[BEGIN, K]..level[END, K] of `cells` and `moves` (+1, -1).  With
    `inside`, only suppressed cells may be used.  Options are tried cheapest first; of equal boxes the first
    one found stays.
    """
    dimensions = shape.shape[0]
    if not prepare(
        rows, columns, shape, stride, offset, parent, depth, leaf_start, leaf, up, down, weights, inside, own,
        direction, need, prices, first, second, codes, signs, level,
    ):  # fmt: skip
        return INFINITE
    cells[0], moves[0] = own, direction
    level[BEGIN, 0], level[END, 0], level[PRICE, 0], level[NEXT, 0] = 0, 1, 0, 0
    best = INFINITE
    d = 0
    while d >= 0 and best > 0:
        if d == dimensions:
            best = level[PRICE, d]
            for x in range(dimensions):
                level[CHOICE, x] = level[NEXT, x] - 1
            d -= 1
            continue
        at = level[NEXT, d]
        if at == level[OPTIONS_END, d] or level[PRICE, d] + prices[at] + level[REST, d + 1] >= best:
            d -= 1
            continue
        level[NEXT, d] = at + 1
        if extend(
            rows, columns, shape, stride, offset, parent, depth, up, down, weights, inside, own, need,
            first[at], second[at], codes, signs, cells, moves, level, d, best,
        ):  # fmt: skip
            d += 1
            if d < dimensions:
                level[NEXT, d] = level[OPTIONS_END, d - 1]
    if best < INFINITE:
        for x in range(dimensions):
            at = level[CHOICE, x]
            extend(
                rows, columns, shape, stride, offset, parent, depth, up, down, weights, inside, own, need,
                first[at], second[at], codes, signs, cells, moves, level, x, INFINITE,
            )  # fmt: skip
    return best
