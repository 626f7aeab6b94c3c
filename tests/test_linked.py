"""Linked tables protected together: safe for who reads all; one by one they are not, and that is repaired."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga.errors import InputError
from gpuga.table.builders import table_from_frame
from gpuga.table.groups import with_groups
from gpuga.table.plan import plan
from gpuga.table.table import Levels
from tests.support.labelled_attacker import LabelledAttacker
from tests.support.labelled_rows import rows_of

CODES = {"region": "abc", "kind": "wxyz", "size": "12"}
FAMILIES = {name: [("Total", list(codes))] for name, codes in CODES.items()}
PAIRS = [("region", "kind"), ("kind", "size"), ("region", "size")]
SHARE = 0.2


def three_tables(seed: int) -> list[gpuga.Table]:
    """The two-way tables of one set of records; small cells are sensitive wherever they stand."""
    rng = np.random.default_rng(seed)
    shape = [len(codes) for codes in CODES.values()]
    inner = np.ceil(rng.lognormal(1.5, 1.2, shape) * (rng.random(shape) < 0.5)).astype(int)  # gaps: totals must help
    axes = list(CODES)
    tables = []
    for pair in PAIRS:
        gone = next(axis for axis, name in enumerate(axes) if name not in pair)
        flat = inner.sum(axis=gone)
        places = list(product(*(CODES[name] for name in axes if name in pair)))
        names = [name for name in axes if name in pair]
        frame = {name: [place[at] for place in places] for at, name in enumerate(names)}
        values = flat.ravel().tolist()
        frame |= {"value": values, "status": ["u" if 0 < v < 12 else "s" for v in values]}
        tables.append(table_from_frame(frame, name="-".join(pair), levels=f"{int(100 * SHARE)}%"))
    return tables


def exposed(tables: list[gpuga.Table], patterns: list[np.ndarray]) -> int:
    """How many primaries an attacker who shares no code narrows down too far; what one table shows is no secret."""
    linked = gpuga.link(tables)
    hidden = linked.apart(linked.together(patterns))
    attacker = LabelledAttacker(FAMILIES)
    for table, pattern in zip(tables, hidden, strict=True):
        assert table.grid is not None
        attacker.reads(rows_of(table), pattern.tolist(), [d.name for d in table.grid.dimensions])
    found = set()
    for table in tables:
        assert table.grid is not None
        found |= set(attacker.exposed(rows_of(table), [d.name for d in table.grid.dimensions], SHARE))
    return len(found)


@pytest.mark.parametrize("seed", range(3))
def test_linked_tables_are_safe_together_for_an_attacker_who_shares_no_code(seed: int) -> None:
    tables = three_tables(seed)
    found = gpuga.protect_tables(tables, "hypercube", whole="no")
    assert found.safe
    assert len(found.plan.clusters) == 1
    assert exposed(tables, list(found.suppressed)) == 0


def test_tables_protected_each_on_its_own_leave_primaries_open() -> None:
    left_open = 0
    for seed in range(3):
        tables = three_tables(seed)
        patterns = [gpuga.protect(table, "hypercube", whole="no").suppressed for table in tables]
        count = exposed(tables, patterns)
        linked = gpuga.link(tables)
        assert bool(gpuga.audit(linked.table, linked.together(patterns), whole="no").unsafe) == bool(count)
        left_open += count
    assert left_open


@pytest.mark.parametrize("seed", range(3))
def test_one_by_one_is_audited_together_and_repaired(seed: int) -> None:
    tables = three_tables(seed)
    found = gpuga.protect_tables(tables, "hypercube", one_by_one=True, whole="no")
    assert found.safe
    assert found.protections[0].found.details["rounds"] >= 1
    assert exposed(tables, list(found.suppressed)) == 0


def test_groups_of_single_tables_are_protected_in_the_joint_table() -> None:
    tables = three_tables(0)
    cells = np.flatnonzero(tables[0].primary)[:2]
    level = np.array([int(tables[0].value[cells].sum()) // 2])
    tables[0] = with_groups(tables[0], [cells.tolist()], Levels(level, level, 0 * level))
    for one_by_one in (False, True):
        found = gpuga.protect_tables(tables, "hypercube", one_by_one=one_by_one, whole="no")
        assert found.safe
        assert found.plan.clusters[0].linked.table.groups == 1
        assert found.protections[0].audit.audited == len(found.plan.clusters[0].linked.table.sensitive)
        alone = gpuga.audit(tables[0], found.suppressed[0], whole="no")
        assert alone.safe
        assert [len(pattern) for pattern in found.suppressed] == [len(table) for table in tables]


def test_tables_that_share_only_published_cells_are_protected_apart() -> None:
    first = {"region": ["a", "b", "Total"], "value": [3, 7, 10], "status": ["u", "s", "z"], "upper": [1, None, None]}
    other = {"kind": ["x", "y", "Total"], "value": [4, 6, 10], "status": ["u", "s", "s"], "upper": [1, None, None]}
    tables = [table_from_frame(first, name="first"), table_from_frame(other, name="other")]
    planned = plan(tables)
    assert [cluster.members for cluster in planned.clusters] == [(0,), (1,)]
    assert (planned.shared[0].cells, planned.shared[0].open) == (1, 0)
    found = gpuga.protect_tables(planned, "incremental", whole="no")
    assert found.safe
    assert not found.suppressed[1][2]  # the total must be published in the other table


def test_a_table_within_another_is_named_and_gets_its_pattern() -> None:
    tables = three_tables(1)
    rows = [row for row in rows_of(tables[0]) if row["kind"] == "Total"]
    totals = {"region": [row["region"] for row in rows], "value": [float(row["value"]) for row in rows]}
    planned = plan([*tables, table_from_frame(totals, name="regions")])
    assert planned.within == (None, None, None, 0)
    found = gpuga.protect_tables(planned, "hypercube", whole="no")
    assert found.safe
    assert len(found.suppressed[3]) == 4


def test_tables_of_different_measures_share_no_cells() -> None:
    one, other = (table_from_frame({"r": ["a", "b"], "value": [3, 7 + more]}, name=f"t{more}") for more in (0, 1))
    planned = plan([gpuga.Member(one, "one", measure="turnover"), gpuga.Member(other, "other", measure="persons")])
    assert len(planned.clusters) == 2
    assert not planned.shared


def test_two_tables_of_one_name_and_wishes_for_no_table_are_refused() -> None:
    tables = three_tables(0)
    with pytest.raises(InputError, match="two tables are called"):
        plan([tables[0], tables[0]])
    with pytest.raises(InputError, match="no tables that are protected together have all of 'planet=Mars'"):
        gpuga.protect_tables(tables, keep=["planet=Mars"])


def test_a_wish_holds_in_every_table_that_has_the_cell() -> None:
    tables = three_tables(0)
    found = gpuga.protect_tables(tables, "hypercube", whole="no", keep=["kind=w"])
    for table, pattern in zip(tables, found.suppressed, strict=True):
        for row, hidden in zip(rows_of(table), pattern.tolist(), strict=True):
            codes = {name: code for name, code in row.items() if name in CODES and code != "Total"}
            assert not (hidden and codes == {"kind": "w"})


def test_a_joint_table_can_be_written_with_its_groups_and_read_again(tmp_path: Path) -> None:
    tables = three_tables(0)
    cells = np.flatnonzero(tables[0].primary)[:2]
    level = np.array([int(tables[0].value[cells].sum()) // 2])
    tables[0] = with_groups(tables[0], [cells.tolist()], Levels(level, level, 0 * level))
    joint = gpuga.link(tables).table
    gpuga.write_table(joint, tmp_path / "joint.jj")
    again = gpuga.read_table(tmp_path / "joint.jj")
    assert (len(again), len(again.lines), len(again.sensitive)) == (len(joint), len(joint.lines), len(joint.sensitive))
    joint_pattern = gpuga.protect(again, "incremental", whole="no").suppressed
    assert gpuga.audit(joint, joint_pattern, whole="no").safe
    with pytest.raises(InputError, match="write"):
        gpuga.write_table(joint, tmp_path / "joint.csv")
