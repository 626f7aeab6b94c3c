"""From microdata to a table: every cell, every rule and every level against a brute-force check."""

from __future__ import annotations

import csv
import math
import random
from fractions import Fraction

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from gpuga.microdata.contributions import Layout
from gpuga.microdata.primary_rules import parse_rule
from gpuga.microdata.tabulate import tabulate
from gpuga.table.table import Dimension
from tests.microdata import brute_force

RULES = {
    "frequency:3": ("frequency", 3), "nk:1,60": ("nk", 1, 60), "nk:2,85": ("nk", 2, 85),
    "p:10": ("p", 10), "p:35": ("p", 35), "pq:10,50": ("pq", 10, 50),
}  # fmt: skip
PARENTS = {"a": {"a1": "A", "a2": "A", "a3": "B", "a4": "B"}}
HIERARCHY = Dimension("a", ("a1", "a2", "a3", "a4", "A", "B", "Total"), np.array([4, 4, 5, 5, 6, 6, -1], np.int32))


def random_records(seed: int, *, weights: bool = False, negative: bool = False) -> list[dict[str, str]]:
    rng = random.Random(seed)
    records = []
    for _ in range(rng.randint(5, 60)):
        size = rng.choice([1, 10, 100]) * rng.random()
        amount = rng.choice([0, 1, 1, 1]) * size * (rng.choice([-1, 1, 1]) if negative else 1)
        records.append(
            {
                "a": rng.choice(list(PARENTS["a"])),
                "b": rng.choice(["x", "y", "z"]),
                "v": f"{amount:.{rng.randint(0, 2)}f}",
                "w": rng.choice(["1", "1.5", "4", "0.5"]) if weights else "1",
                "h": rng.choice(["", "", "H1", "H2"]),
                "ok": rng.choice(["0", "0", "1"]),
            }
        )
    return records


def write(path, records) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


@pytest.mark.parametrize("seed", range(40))
def test_every_cell_and_level_matches_the_definition_of_the_rules(tmp_path, seed):
    rng = random.Random(seed)
    weights, negative, held, waivers = (rng.random() < 0.5 for _ in range(4))
    records = random_records(seed, weights=weights, negative=negative)
    write(tmp_path / "m.csv", records)
    names = rng.sample(sorted(RULES), rng.randint(1, 3))
    options = {
        "weight": "w" if weights else None,
        "holding": "h" if held else None,
        "waiver": "ok" if waivers else None,
    }
    layout = Layout(("a", "b"), "v", negative="absolute", **options)
    table = tabulate(tmp_path / "m.csv", layout, [parse_rule(n) for n in names], hierarchies={"a": HIERARCHY})
    expected = brute_force.cells(records, ("a", "b"), PARENTS)
    inhabited = np.flatnonzero(table.contributors)
    assert len(inhabited) == len(expected)
    assert not table.value[table.contributors == 0].any()  # codes of the hierarchy that nobody has
    for cell, codes in ((i, labels(table)[i]) for i in inhabited):
        members = expected[codes]
        value = sum(Fraction(r["v"]) * (Fraction(r["w"]) if weights else 1) for r in members)
        found = brute_force.contributors(members, **options)
        assert Fraction(int(table.value[cell]), table.scale) == value
        assert table.contributors[cell] == len(found)
        levels = [x for n in names if (x := brute_force.level(found, value, RULES[n])) is not None]
        zero = sum(c[3] for c in found) == 0
        assert table.primary[cell] == bool(levels)
        if levels and not zero and max(levels) > 0:
            assert table.level[cell] == math.ceil(max(levels) * table.scale)
        if levels:
            assert table.level[cell] > 0


def labels(table) -> list[tuple[str, ...]]:
    return [tuple(d.codes[c] for d, c in zip(table.grid.dimensions, row, strict=True)) for row in table.grid.coordinate]


def test_the_result_does_not_depend_on_the_number_of_threads(tmp_path):
    write(tmp_path / "m.csv", random_records(1, weights=True))
    layout = Layout(("a", "b"), "v", weight="w", holding="h")
    rules = [parse_rule("p:10"), parse_rule("nk:2,85")]
    one, four = (tabulate(tmp_path / "m.csv", layout, rules, threads=n) for n in (1, 4))
    assert np.array_equal(one.value, four.value)
    assert np.array_equal(one.level, four.level)
    assert one.groups == four.groups


def test_parquet_and_csv_give_the_same_table(tmp_path):
    records = random_records(2)
    write(tmp_path / "m.csv", records)
    columns = {k: [r[k] for r in records] for k in records[0]}
    columns["v"] = [float(v) for v in columns["v"]]
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "m.parquet")
    tables = [
        tabulate(tmp_path / name, Layout(("a", "b"), "v"), [parse_rule("p:10")]) for name in ("m.csv", "m.parquet")
    ]
    assert np.array_equal(tables[0].value * tables[1].scale, tables[1].value * tables[0].scale)
    assert np.array_equal(tables[0].primary, tables[1].primary)


def test_records_are_added_up_in_several_hierarchies_of_one_dimension(tmp_path):
    rows = [("a", 3), ("a", 4), ("b", 5), ("c", 6), ("d", 70), ("d", 1)]
    write(tmp_path / "m.csv", [{"r": code, "v": str(value)} for code, value in rows])
    (tmp_path / "provinces.hrc").write_text("North\n@a\n@b\nSouth\n@c\n@d\n")
    (tmp_path / "zones.hrc").write_text("coast\n@a\n@c\ninland\n@b\n@d\n")
    files = [tmp_path / "provinces.hrc", tmp_path / "zones.hrc"]
    found = tabulate(tmp_path / "m.csv", Layout(("r",), "v"), [parse_rule("frequency:2")], hierarchies={"r": files})
    value = {codes[0]: int(v) for codes, v in zip(labels(found), found.value, strict=True)}
    assert value == {
        "a": 7, "b": 5, "c": 6, "d": 71, "North": 12, "South": 77, "coast": 13, "inland": 76, "Total": 89,
    }  # fmt: skip
    count = {codes[0]: int(n) for codes, n in zip(labels(found), found.contributors, strict=True)}
    assert (count["coast"], count["inland"], count["Total"]) == (3, 3, 6)
    assert len(found.table().lines) == 6 + found.table().groups
