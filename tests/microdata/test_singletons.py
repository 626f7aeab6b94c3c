"""Groups: which primaries of a line need a level together, against a plain reading of the definition."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from gpuga.microdata import Layout, parse_rule, tabulate
from tests.microdata import brute_force
from tests.microdata.test_tabulate import HIERARCHY, PARENTS, RULES, labels, random_records, write
from tests.microdata.test_traps import SINGLETON


def plain_groups(records, names, primary, by) -> dict[frozenset, Fraction]:
    """Every set of primary siblings whose total is published, with the level it needs (0: none)."""
    cells = brute_force.cells(records, by, PARENTS)
    parent = {"b": dict.fromkeys("xyz", "Total"), "a": PARENTS["a"] | {"A": "Total", "B": "Total"}}
    lines: dict[tuple, list[tuple]] = {}
    for codes in primary:
        for axis, name in enumerate(by):
            if codes[axis] in parent[name]:
                total = (*codes[:axis], parent[name][codes[axis]], *codes[axis + 1 :])
                lines.setdefault((axis, total), []).append(codes)
    found = {}
    for (_, total), members in lines.items():
        if len(members) < 2 or total in primary:
            continue
        sets = [members]
        holders = {codes: {who(r, i) for i, r in enumerate(records) if r in cells[codes]} for codes in members}
        for lone in {next(iter(h)) for h in holders.values() if len(h) == 1}:
            sets.append([codes for codes in members if holders[codes] != {lone}])
        levels = [needed([r for codes in some for r in cells[codes]], names) for some in sets if some]
        found[frozenset(members)] = max(levels)
    return found


def who(record, position):
    return record["h"] or f"row {position}"


def needed(records, names) -> Fraction:
    found = brute_force.contributors(records, holding="h")
    value = sum(Fraction(r["v"]) for r in records)
    levels = [brute_force.level(found, value, RULES[name]) for name in names]
    return max((level for level in levels if level is not None), default=Fraction(0))


@pytest.mark.parametrize("seed", range(30))
def test_groups_follow_their_definition(tmp_path, seed):
    records = [r | {"v": str(1 + i % 7 * 10)} for i, r in enumerate(random_records(seed))]
    for i, record in enumerate(records):
        record["id"] = str(i)  # records are told apart
    write(tmp_path / "m.csv", records)
    names = random.Random(seed).sample(["frequency:3", "p:10", "nk:2,85"], 2)
    layout = Layout(("a", "b"), "v", holding="h")
    table = tabulate(tmp_path / "m.csv", layout, [parse_rule(n) for n in names], hierarchies={"a": HIERARCHY})
    names_of = labels(table)
    primary = [names_of[c] for c in np.flatnonzero(table.primary)]
    expected = {m: level for m, level in plain_groups(records, names, primary, ("a", "b")).items() if level}
    found = {frozenset(names_of[c] for c in g.members): g for g in table.groups}
    assert set(found) == set(expected)
    for members, group in found.items():
        assert table.group_levels(group)[1] == math.ceil(expected[members] * table.scale)


def test_groups_can_be_left_out(tmp_path):
    (tmp_path / "m.csv").write_text(SINGLETON)
    layout, rules = Layout(("region", "branch"), "turnover"), [parse_rule("frequency:3")]
    assert tabulate(tmp_path / "m.csv", layout, rules).groups
    assert tabulate(tmp_path / "m.csv", layout, rules, singletons=False).groups == ()
