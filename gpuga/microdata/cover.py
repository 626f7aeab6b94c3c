"""Covers: the cheapest fields to suppress in a record so that each of its unsafe keys loses a field.

Sets and covers are bits over the fields. The exact search is a depth-first branch and bound on integers; a
family that exceeds its node limit goes to HiGHS, and to the greedy cover where HiGHS finds no answer in time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from gpuga.compiled import compiled

Ints = NDArray[np.int64]

NODE_LIMIT = 200_000
HIGHS_SECONDS = 20.0


@compiled
def _greedy(masks: Ints, costs: Ints) -> int:
    """A cover by the field with the most newly covered sets per cost, then without its superfluous fields."""
    covered = np.zeros(len(masks), np.bool_)
    cover = 0
    while not covered.all():
        best, best_count = -1, 0
        for f in range(len(costs)):
            hit = 0
            for s in range(len(masks)):
                if not covered[s] and (masks[s] >> f) & 1:
                    hit += 1
            if hit > 0 and (best < 0 or hit * costs[best] > best_count * costs[f]):
                best, best_count = f, hit
        cover |= 1 << best
        for s in range(len(masks)):
            if (masks[s] >> best) & 1:
                covered[s] = True
    for f in range(len(costs)):
        if (cover >> f) & 1 and _covers(masks, cover & ~(1 << f)):
            cover &= ~(1 << f)
    return cover


@compiled
def _covers(masks: Ints, cover: int) -> bool:
    left = 0
    for mask in masks:
        if mask & cover == 0:
            left += 1
    return left == 0


@compiled
def _cost(cover: int, costs: Ints) -> int:
    total = 0
    for f in range(len(costs)):
        if (cover >> f) & 1:
            total += costs[f]
    return total


@compiled
def _bound(masks: Ints, costs: Ints, cover: int, banned: int) -> int:
    """What the uncovered sets cost at least: disjoint ones need a field each (-1: impossible)."""
    used, total = 0, 0
    for s in range(len(masks)):
        if masks[s] & cover:
            continue
        free = masks[s] & ~banned
        if free == 0:
            return -1
        if free & used == 0:
            used |= free
            least = -1
            for f in range(len(costs)):
                if (free >> f) & 1 and (least < 0 or costs[f] < least):
                    least = costs[f]
            total += least
    return total


@compiled
def _branch(masks: Ints, cover: int, banned: int) -> int:
    """The free fields of the smallest uncovered set (0 when all are covered)."""
    best, best_count = 0, 64
    for s in range(len(masks)):
        if masks[s] & cover:
            continue
        free, size = masks[s] & ~banned, 0
        rest = free
        while rest:
            rest &= rest - 1
            size += 1
        if size < best_count:
            best, best_count = free, size
    return best


@compiled
def _exact(masks: Ints, costs: Ints, limit: int) -> tuple[int, bool]:
    """The cheapest cover and whether that is proven within `limit` nodes."""
    best = _greedy(masks, costs)
    best_cost = _cost(best, costs)
    depth = 64 * 64
    covers, bans = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    top, nodes = 1, 0
    while top > 0:
        top -= 1
        nodes += 1
        if nodes > limit:
            return best, False
        cover, banned = covers[top], bans[top]
        rest = _bound(masks, costs, cover, banned)
        if rest < 0 or _cost(cover, costs) + rest >= best_cost:
            continue
        free = _branch(masks, cover, banned)
        if free == 0:
            best, best_cost = cover, _cost(cover, costs)
            continue
        for f in range(len(costs)):
            if (free >> f) & 1:
                covers[top], bans[top] = cover | (1 << f), banned
                top += 1
                banned |= 1 << f
    return best, True


@compiled
def _exact_families(start: Ints, masks: Ints, costs: Ints, limit: int) -> tuple[Ints, NDArray[np.bool_]]:
    n = len(start) - 1
    covers, proven = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for g in range(n):
        covers[g], proven[g] = _exact(masks[start[g] : start[g + 1]], costs[g], limit)
    return covers, proven


@compiled
def _greedy_families(start: Ints, masks: Ints, costs: Ints) -> Ints:
    covers = np.zeros(len(start) - 1, np.int64)
    for g in range(len(covers)):
        covers[g] = _greedy(masks[start[g] : start[g + 1]], costs[g])
    return covers


def cheapest_covers(
    start: Ints, masks: Ints, costs: Ints, *, exact: bool = True, limit: int = NODE_LIMIT
) -> tuple[Ints, NDArray[np.bool_]]:
    """A cover for each family (bits over fields, int64[families]) and whether it is proven cheapest.

    Family g has the sets `masks[start[g]:start[g+1]]`; `costs` int64[families, fields], all positive.
    """
    if not exact:
        return _greedy_families(start, masks, costs), np.zeros(len(start) - 1, bool)
    covers, proven = _exact_families(start, masks, costs, limit)
    for g in np.flatnonzero(~proven):
        better = highs_cover(masks[start[g] : start[g + 1]], costs[g])
        if better is not None:
            covers[g], proven[g] = better, True
    return covers, proven


def highs_cover(masks: Ints, costs: Ints, seconds: float = HIGHS_SECONDS) -> int | None:
    """The cheapest cover of one family by HiGHS; None without a proven answer in time."""
    fields = len(costs)
    rows = ((masks[:, None] >> np.arange(fields)) & 1).astype(float)
    answer = milp(
        costs.astype(float), integrality=np.ones(fields, np.int64), bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows, lb=1.0), options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )  # fmt: skip
    if answer.status != 0:
        return None
    cover = sum(1 << f for f in range(fields) if answer.x[f] > 0.5)
    return cover if bool(((masks & cover) != 0).all()) else None


def cover_costs(covers: Ints, costs: Ints) -> Ints:
    """The cost of each family's cover (int64[families])."""
    chosen = (covers[:, None] >> np.arange(costs.shape[1])) & 1
    return np.asarray((chosen * costs).sum(axis=1), np.int64)


@compiled
def _ascend(masks: Ints, slack: Ints, price: Ints) -> None:
    """Raise every set's price as far as the costs of its fields allow (in place)."""
    for s in range(len(masks)):
        room = -1
        for f in range(len(slack)):
            if (masks[s] >> f) & 1 and (room < 0 or slack[f] < room):
                room = slack[f]
        price[s] += room
        for f in range(len(slack)):
            if (masks[s] >> f) & 1:
                slack[f] -= room


@compiled
def _packing(masks: Ints, costs: Ints) -> NDArray[np.float64]:
    """Prices of greatest sum such that no field's sets cost more than the field: the simplex method on a
    dense tableau.

    Larger sets are worth a trifle more: a recoding protects them last. Pivots are limited, a price in between
    is feasible too.
    """
    n, m = len(masks), len(costs)
    tableau = np.zeros((m + 1, n + m + 1))
    basis = np.arange(n, n + m)
    for s in range(n):
        size = 0
        for f in range(m):
            if (masks[s] >> f) & 1:
                tableau[f, s] = 1.0
                size += 1
        tableau[m, s] = -(1.0 + 1e-5 * size)
    for f in range(m):
        tableau[f, n + f] = 1.0
        tableau[f, n + m] = costs[f]
    for _ in range(20 * (n + m)):
        enter = np.argmin(tableau[m, : n + m])
        if tableau[m, enter] > -1e-9:
            break
        leave, least = -1, np.inf
        for f in range(m):
            if tableau[f, enter] > 1e-9:
                ratio = tableau[f, n + m] / tableau[f, enter]
                if ratio < least:
                    leave, least = f, ratio
        if leave < 0:
            break
        tableau[leave] /= tableau[leave, enter]
        for row in range(m + 1):
            if row != leave and tableau[row, enter] != 0.0:
                tableau[row] -= tableau[row, enter] * tableau[leave]
        basis[leave] = enter
    prices = np.zeros(n)
    for f in range(m):
        if basis[f] < n:
            prices[basis[f]] = tableau[f, n + m]
    return prices


@compiled
def feasible_prices(start: Ints, masks: Ints, costs: Ints) -> Ints:
    """Integer prices of the sets that never exceed a field's cost: a feasible dual solution, near the best
    one.

    The prices of the linear program are rounded down, lowered where their fields do not allow them, and then
    raised as far as possible one after the other.
    """
    prices = np.zeros(len(masks), np.int64)
    for g in range(len(start) - 1):
        sets = masks[start[g] : start[g + 1]]
        hint = _packing(sets, costs[g])
        slack = costs[g].copy()
        for s in range(len(sets)):
            price = np.int64(np.floor(hint[s] + 1e-6))
            for f in range(len(slack)):
                if (sets[s] >> f) & 1 and slack[f] < price:
                    price = slack[f]
            if price > 0:
                prices[start[g] + s] = price
                for f in range(len(slack)):
                    if (sets[s] >> f) & 1:
                        slack[f] -= price
        _ascend(sets, slack, prices[start[g] : start[g + 1]])
    return prices
