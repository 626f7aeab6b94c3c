"""Large files: five million records to a table, a million protected records; run with -m slow."""

from __future__ import annotations

import math
import runpy
import time
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import duckdb
import numpy as np
import pytest

import gpuga
from gpuga.files.hrc import read_hierarchy
from gpuga.microdata import Layout, MicrodataParameters, parse_rule, protect_file, tabulate

EXAMPLE = Path(__file__).parents[2] / "examples" / "microdata"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def business(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("large") / "records.csv"
    runpy.run_path(str(EXAMPLE / "make_records.py"))["write_records"](path, 5_000_000, 2.5)
    return path


def ancestors(name: str) -> dict[str, list[str]]:
    hierarchy = read_hierarchy(EXAMPLE / f"{name}.hrc")
    parent = dict(zip(hierarchy.codes, hierarchy.parents, strict=True))
    paths = {}
    for code in hierarchy.codes:
        paths[code] = [code]
        while (above := parent[paths[code][-1]]) is not None:
            paths[code].append(above)
        paths[code].append("Total")
    return paths


def contributions_by_cell(path: Path) -> dict[tuple[str, str], list[np.ndarray]]:
    """Plain NumPy: per cell its contributions in cents, largest first, a holding counted once."""
    names = ["holding", "region", "industry", "turnover"]
    table = (
        duckdb.connect().execute(f"SELECT {', '.join(names)} FROM read_csv('{path}', all_varchar=true)").fetchnumpy()
    )
    cents = np.array([int(t.replace(".", "")) for t in table["turnover"]], np.int64)
    holding = np.array(["" if h is None else h for h in np.ma.filled(table["holding"], "")], dtype=str)
    _, held = np.unique(holding, return_inverse=True)
    alone = held == 0
    held = np.where(alone, held.max() + 1 + np.arange(len(held)), held)
    up = [ancestors("region"), ancestors("industry")]
    place = defaultdict(list)
    codes = np.char.add(np.char.add(table["region"].astype(str), "|"), table["industry"].astype(str))
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        for cell in product(*(paths[part] for paths, part in zip(up, code.split("|"), strict=True))):
            place[cell].append(rows)
    found = {}
    for cell, parts in place.items():
        rows = np.concatenate(parts)
        _, who = np.unique(held[rows], return_inverse=True)
        sums = np.zeros(int(who.max()) + 1, np.int64)
        np.add.at(sums, who, cents[rows])
        found[cell] = np.sort(sums)[::-1]
    return found


def expected_level(x: np.ndarray) -> int:
    """The levels of frequency:3, p:10 and nk:2,85 from their definitions, in cents; 0 where none fires."""
    total, levels = int(x.sum()), [Fraction(0)]
    largest, second = int(x[0]), int(x[1]) if len(x) > 1 else 0
    if len(x) < 3:
        levels.append(Fraction(15 * total, 100))
    if 10 * (total - largest - second) < largest:
        levels.append(Fraction(largest, 10) - (total - largest - second))
    if 100 * (largest + second) > 85 * total:
        levels.append(Fraction(100 * (largest + second), 85) - total)
    return math.ceil(max(levels))


def test_five_million_records_to_a_safe_hierarchical_table(business):
    layout = Layout(("region", "industry"), "turnover", holding="holding")
    rules = [parse_rule(r) for r in ("frequency:3", "p:10", "nk:2,85")]
    trees = {name: EXAMPLE / f"{name}.hrc" for name in ("region", "industry")}
    start = time.monotonic()
    made = tabulate(business, layout, rules, hierarchies=trees)
    seconds = time.monotonic() - start
    expected = contributions_by_cell(business)
    cells = [tuple(d.codes[c] for d, c in zip(made.grid.dimensions, row, strict=True)) for row in made.grid.coordinate]
    assert set(cells) == set(expected)
    for i, cell in enumerate(cells):
        assert made.value[i] == expected[cell].sum()
        assert made.contributors[i] == len(expected[cell])
        assert made.level[i] == expected_level(expected[cell])
    table = made.table()
    protection = gpuga.protect(table, seed=1, seconds=120)
    assert gpuga.audit(table, protection.suppressed).safe
    print(f"\ntabulated {made.records} records in {seconds:.1f} s: {made.summary()}")
    assert seconds < 60


def test_a_million_records_of_eight_fields_have_no_rare_combination_left(tmp_path):
    rng = np.random.default_rng(5)
    n, names = 1_000_000, [f"f{i}" for i in range(8)]
    steep = [(1.3, 60), (1.1, 120), (1.6, 40), (0.9, 99), (2.0, 9), (2.5, 5), (1.2, 25), (3.0, 2)]
    scores = np.stack([np.minimum((rng.pareto(a, n) * 4).astype(int), size - 1) for a, size in steep], axis=1)
    np.savetxt(tmp_path / "m.csv", scores, "%d", ",", header=",".join(names), comments="")
    rules = {"f0": "width:5,20", "f1": "width:10", "f3": "width:5,25"}
    parameters = MicrodataParameters(tuple(names), 3, 3, recode=rules)
    start = time.monotonic()
    protection = protect_file(tmp_path / "m.csv", tmp_path / "out.parquet", parameters)
    seconds = time.monotonic() - start
    connection = duckdb.connect()
    for size in (1, 2, 3):
        for key in combinations(names, size):
            present = " AND ".join(f"{f} <> 'missing'" for f in key)
            sql = f"SELECT count(*) FROM (SELECT 1 FROM '{tmp_path}/out.parquet' WHERE {present}"
            found = connection.execute(f"{sql} GROUP BY {', '.join(key)} HAVING count(*) < 3)").fetchone()
            assert found == (0,), key
    print(f"\n{seconds:.1f} s: {protection.account()}")
    assert seconds < 600
