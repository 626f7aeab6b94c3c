"""A second, plain implementation of tabulation and of the primary rules, straight from their definitions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product


def contributors(records, *, weight=None, holding=None, waiver=None, value="v"):
    """The contributors of one cell as (amount of one unit, how many units, waived), largest first."""
    by_holder = defaultdict(list)
    for i, record in enumerate(records):
        name = record.get(holding) if holding else None
        by_holder[("h", name) if name else ("row", i)].append(record)
    found = []
    for members in by_holder.values():
        weights = [Fraction(r[weight]) if weight else Fraction(1) for r in members]
        amounts = [Fraction(r[value]) for r in members]
        waived = all(bool(waiver) and r[waiver] == "1" for r in members)
        if len(members) == 1:
            found.append((abs(amounts[0]), max(weights[0], Fraction(1)), waived, abs(amounts[0]) * weights[0]))
        else:
            net = abs(sum(a * w for a, w in zip(amounts, weights, strict=True)))
            found.append((net, Fraction(1), waived, net))
    return sorted(found, key=lambda c: (-c[0], -c[1], c[2]))


def units(found, count):
    """The first `count` units of the population, as (amount, waived) with fractional units weighted."""
    left, taken = Fraction(count), []
    for amount, mass, waived, _ in found:
        if left <= 0:
            break
        taken.append((amount, min(mass, left), waived))
        left -= min(mass, left)
    return taken


def level(found, value, rule):
    """The level a rule asks for, None where it does not fire; `rule` such as ("p", 10)."""
    total = sum(c[3] for c in found)
    everyone_waived = all(c[2] for c in found)
    if rule[0] == "frequency":
        fired = len(found) < rule[1] and not everyone_waived
        return Fraction(15, 100) * abs(value) if fired else None
    if rule[0] == "nk":
        top = units(found, rule[1])
        leading = sum(amount * mass for amount, mass, _ in top)
        fired = leading > Fraction(rule[2], 100) * total and not all(waived for _, _, waived in top)
        return leading * 100 / Fraction(rule[2]) - total if fired else None
    p, q = rule[1], rule[2] if rule[0] == "pq" else 100
    wanted = None
    for i, (amount, mass, waived, _) in enumerate(found):  # everyone in turn as the victim
        if waived:
            continue
        others = [*found[:i], (amount, mass - 1, waived, 0), *found[i + 1 :]]
        estimator = sum(a * m for a, m, _ in units(sorted(others, key=lambda c: -c[0]), 1))
        remainder = total - amount - estimator
        if remainder < Fraction(p, q) * amount:
            need = Fraction(p, q) * amount - remainder
            wanted = need if wanted is None else max(wanted, need)
    return wanted


def cells(records, by, parents):
    """Every inhabited cell, marginals included: codes -> records. `parents`: by dimension, code -> parent."""
    found = defaultdict(list)
    for record in records:
        paths = []
        for name in by:
            path = [record[name]]
            while (parent := parents.get(name, {}).get(path[-1])) is not None:
                path.append(parent)
            paths.append([*path, "Total"])
        for codes in product(*paths):
            found[codes].append(record)
    return found
