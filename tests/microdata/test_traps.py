"""Golden tests of three traps: the singleton, the common respondent and the zero cell."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import gpuga
from gpuga.microdata import InsiderRisk, Layout, Zeros, insider_risks, parse_rule, tabulate
from gpuga.table.table import Levels

SINGLETON = """region,branch,turnover
N,a,50
N,b,60
N,b,1
N,c,20
N,c,25
N,c,30
N,c,40
S,a,10
S,a,10
S,a,10
S,a,10
S,b,10
S,b,10
S,b,10
S,b,10
S,c,30
S,c,30
S,c,30
S,c,20
W,a,9
W,a,8
W,a,9
W,b,9
W,b,8
W,b,9
W,c,15
W,c,14
W,c,16
"""


def write(path, text: str):
    path.write_text(text)
    return path


def cell(table, *codes: str) -> int:
    names = [
        tuple(d.codes[c] for d, c in zip(table.grid.dimensions, row, strict=True)) for row in table.grid.coordinate
    ]
    return names.index(codes)


def insider_view(tabulation, pattern, known: int, victim: int) -> tuple[int, int]:
    """What the lone respondent of cell `known`, who knows that cell, can compute about the cell `victim`."""
    table = tabulation.table()
    primary, seen = table.primary.copy(), pattern.copy()
    primary[known] = seen[known] = False
    levels = Levels(*(np.where(primary, level, 0) for level in vars(table.levels).values()))
    found = gpuga.audit(table.with_primaries(primary, levels), seen)
    return next((c.min, c.max) for c in found.cells if c.cell == victim)


def test_the_singleton_trap(tmp_path):
    """N,a has one respondent, who computes N,b exactly if N,a and N,b are all that is hidden in N."""
    path = write(tmp_path / "m.csv", SINGLETON)
    rules = [parse_rule("frequency:3")]
    layout = Layout(("region", "branch"), "turnover")
    trapped = tabulate(path, layout, rules, singletons=False)
    a, b = cell(trapped, "N", "a"), cell(trapped, "N", "b")
    assert sorted(np.flatnonzero(trapped.primary)) == [a, b]
    rectangle = np.zeros(len(trapped.value), bool)
    rectangle[[a, b, cell(trapped, "S", "a"), cell(trapped, "S", "b")]] = True
    assert gpuga.audit(trapped.table(), rectangle).safe  # by the levels of single cells alone
    assert insider_view(trapped, rectangle, known=a, victim=b) == (61, 61)  # and yet disclosed

    guarded = tabulate(path, layout, rules)
    assert [(g.members, g.reason) for g in guarded.groups] == [((a, b), "singleton")]
    lower, upper = guarded.group_levels(guarded.groups[0])
    assert (lower, upper) == (10, 10)  # what N,b needs: 15 % of 61, rounded up
    with_group = np.append(rectangle, True)
    assert not gpuga.audit(guarded.table(), with_group).safe
    pattern = gpuga.protect(guarded.table(), seed=1).suppressed
    assert gpuga.audit(guarded.table(), pattern).safe
    low, high = insider_view(guarded, pattern, known=a, victim=b)
    assert low < 61 < high
    assert insider_risks(guarded, with_group) == [InsiderRisk(a, (b,))]
    assert insider_risks(guarded, pattern) == []


HOLDING = """region,branch,firm,holding,turnover
N,a,1,H,40
N,a,2,,4
N,a,17,,3
N,b,3,H,50
N,b,4,,4
N,b,18,,3
N,c,5,,30
N,c,6,,30
N,c,7,,30
S,a,8,,20
S,a,9,,20
S,a,10,,20
S,b,11,,20
S,b,12,,20
S,b,13,,20
S,c,14,,20
S,c,15,,20
S,c,16,,20
"""


def test_the_common_respondent_trap(tmp_path):
    """Holding H dominates N,a and N,b; hidden together, their sum is known and nearly H's own total."""
    path = write(tmp_path / "m.csv", HOLDING)
    rules = [parse_rule("p:20")]
    blind = tabulate(path, Layout(("region", "branch"), "turnover"), rules)
    a, b = cell(blind, "N", "a"), cell(blind, "N", "b")
    assert sorted(np.flatnonzero(blind.primary)) == [a, b]
    assert blind.groups == ()  # the firms with 40 and 50 seem to shield each other
    seeing = tabulate(path, Layout(("region", "branch"), "turnover", holding="holding"), rules)
    assert [(g.members, g.reason) for g in seeing.groups] == [((a, b), "common respondent")]
    # as one cell: H has 90, the estimator 4, the others 10: of 20 % of 90 there are 8 missing
    assert seeing.group_levels(seeing.groups[0]) == (8, 8)
    rectangle = np.zeros(len(seeing.value) + 1, bool)
    rectangle[[a, b, cell(seeing, "S", "a"), cell(seeing, "S", "b"), -1]] = True
    assert not gpuga.audit(seeing.table(), rectangle).safe
    assert gpuga.audit(seeing.table(), gpuga.protect(seeing.table(), seed=1).suppressed).safe


def test_a_holding_makes_one_contributor_of_its_firms(tmp_path):
    records = "a,b,h,v\nx,p,H,30\nx,p,H,30\nx,p,H,30\nx,q,,5\nx,q,,5\nx,q,,5\n"
    path = write(tmp_path / "m.csv", records)
    rules = [parse_rule("frequency:3")]
    firms = tabulate(path, Layout(("a", "b"), "v"), rules)
    holdings = tabulate(path, Layout(("a", "b"), "v", holding="h"), rules)
    at = cell(firms, "x", "p")
    assert (firms.contributors[at], bool(firms.primary[at])) == (3, False)
    assert (holdings.contributors[at], bool(holdings.primary[at])) == (1, True)


ZERO = """region,branch,exports
N,a,0
N,b,40
N,b,41
N,b,42
N,c,40
N,c,44
N,c,42
S,a,30
S,a,31
S,a,33
S,b,40
S,b,41
S,b,42
S,c,40
S,c,41
S,c,42
"""


def test_the_zero_cell_trap(tmp_path):
    """The only firm of N,a reported 0; a share of zero protects nothing: the cell needs its own level."""
    path = write(tmp_path / "m.csv", ZERO)
    layout = Layout(("region", "branch"), "exports")
    table = tabulate(path, layout, [parse_rule("frequency:3")], zeros=Zeros("rules", 5))
    at = cell(table, "N", "a")
    assert (int(table.value[at]), bool(table.primary[at])) == (0, True)
    assert (int(table.lower()[at]), int(table.level[at])) == (0, 5)
    protection = gpuga.protect(table.table(), seed=1)
    audited = gpuga.audit(table.table(), protection.suppressed)
    assert audited.safe
    interval = next(c for c in audited.cells if c.cell == at)
    assert interval.max >= 5
    harmless = tabulate(path, layout, [parse_rule("p:10")])
    assert not harmless.primary[at]  # no contribution to estimate
    assert tabulate(path, layout, [parse_rule("p:10")], zeros=Zeros("unsafe")).primary[at]
    assert not tabulate(path, layout, [parse_rule("frequency:3")], zeros=Zeros("safe")).primary[at]


def test_cells_without_any_record_are_no_cells(tmp_path):
    path = write(tmp_path / "m.csv", "a,b,v\nx,p,3\nx,q,4\ny,p,5\n")
    table = tabulate(path, Layout(("a", "b"), "v"), [parse_rule("frequency:2")])
    with pytest.raises(ValueError, match="not in list"):
        cell(table, "y", "q")


def test_waivers_release_only_the_contributor_who_gave_them(tmp_path):
    rows = [("x", 90, 1), ("x", 5, 0), ("x", 1, 0), ("y", 90, 0), ("y", 5, 1), ("y", 1, 0)]
    with open(tmp_path / "m.csv", "w", newline="") as file:
        csv.writer(file).writerows([("a", "v", "ok"), *rows])
    table = tabulate(tmp_path / "m.csv", Layout(("a",), "v", waiver="ok"), [parse_rule("p:10")])
    assert [bool(table.primary[cell(table, code)]) for code in ("x", "y")] == [False, True]
