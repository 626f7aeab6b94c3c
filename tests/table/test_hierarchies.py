"""Hierarchies as offices have them: several on one axis, deeper than the table, with holes; many dimensions."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuga
from gpuga.errors import InputError
from gpuga.files.hrc import read_hierarchy
from gpuga.table.builders import table_from_frame
from gpuga.table.crossing import crossing_of
from gpuga.table.hierarchies import Hierarchy, dimension_of
from tests.support.labelled_attacker import LabelledAttacker
from tests.support.labelled_rows import rows_of

PROVINCES = {"North": None, "a": "North", "b": "North", "South": None, "c": "South", "d": "South"}
ZONES = {"coast": None, "a": "coast", "c": "coast", "inland": None, "b": "inland", "d": "inland"}
FAMILIES = {
    "region": [
        ("Total", ["North", "South"]), ("North", ["a", "b"]), ("South", ["c", "d"]),
        ("Total", ["coast", "inland"]), ("coast", ["a", "c"]), ("inland", ["b", "d"]),
    ],
    "kind": [("Total", ["x", "y", "z"])],
}  # fmt: skip


def crossed(seed: int, hierarchies: Any) -> gpuga.Table:
    """Regions in provinces and in zones, by kind; small values are sensitive."""
    rng = np.random.default_rng(seed)
    places = list(product("abcd", "xyz"))
    value = rng.integers(1, 60, len(places))
    frame = {
        "region": [r for r, _ in places], "kind": [k for _, k in places], "value": value.tolist(),
        "status": ["u" if v < 18 else "s" for v in value.tolist()],
    }  # fmt: skip
    return table_from_frame(frame, hierarchies={"region": hierarchies}, levels="20%")


def test_the_equations_of_two_hierarchies_on_one_axis_hold_together() -> None:
    table = crossed(1, [PROVINCES, ZONES])
    assert len(table) == (4 + 2 + 2 + 1) * 4
    assert len(table.lines) == 6 * 4 + 9
    one, other = crossed(1, PROVINCES), crossed(1, ZONES)
    known = {tuple(sorted(row.items())) for row in rows_of(table)}
    assert all(tuple(sorted(row.items())) in known for row in (*rows_of(one), *rows_of(other)))
    crossing = crossing_of(table)
    assert crossing is not None
    assert crossing.axes[0].parent is None  # two ways to break the same codes down are no tree


@pytest.mark.parametrize("seed", range(4))
def test_a_pattern_of_two_hierarchies_is_safe_for_an_attacker_who_shares_no_code(seed: int) -> None:
    table = crossed(seed, [PROVINCES, ZONES])
    protection = gpuga.protect(table, method="hypercube", whole="no")
    assert protection.audit.safe
    attacker = LabelledAttacker(FAMILIES)
    attacker.reads(rows_of(table), protection.suppressed.tolist(), ["region", "kind"])
    assert attacker.exposed(rows_of(table), ["region", "kind"], 0.2) == []


def test_protecting_one_hierarchy_of_two_leaves_cells_open_to_who_knows_both() -> None:
    left_open = 0
    for seed in range(6):
        table, both = crossed(seed, PROVINCES), crossed(seed, [PROVINCES, ZONES])
        hidden = gpuga.protect(table, method="hypercube", whole="no").suppressed
        suppressed = {
            tuple(row.values())[:2] for row, blank in zip(rows_of(table), hidden.tolist(), strict=True) if blank
        }
        attacker = LabelledAttacker(FAMILIES)
        rows = rows_of(both)
        attacker.reads(rows, [tuple(row.values())[:2] in suppressed for row in rows], ["region", "kind"])
        left_open += bool(attacker.exposed(rows, ["region", "kind"], 0.2))
    assert left_open


def test_a_breakdown_that_two_hierarchies_share_counts_once() -> None:
    again = ZONES | {"North": None}
    del again["coast"], again["inland"]
    other = {"North": None, "a": "North", "b": "North", "c": None, "d": None}
    dimension = dimension_of("r", [Hierarchy(tuple(t), tuple(t.values())) for t in (PROVINCES, other)], "Total")
    assert len(dimension.trees) == 2
    assert dimension.trees[1].tolist().count(-1) == 4  # North's parts, South (no part there) and the total
    assert dimension.depth.tolist() == [1, 2, 2, 1, 2, 2, 0]


def test_hierarchies_that_contradict_each_other_are_refused() -> None:
    upside_down = {"a": None, "North": "a"}
    with pytest.raises(InputError, match="contradict each other"):
        dimension_of("r", [Hierarchy(tuple(t), tuple(t.values())) for t in (PROVINCES, upside_down)], "Total")


def test_a_second_hierarchy_that_does_not_add_up_is_refused() -> None:
    wrong = {"coast": None, "a": "coast", "c": "coast"}
    with pytest.raises(InputError, match="does not add up"):
        crossed(1, [PROVINCES, wrong])


def test_a_hierarchy_may_be_deeper_than_the_table_and_it_is_said() -> None:
    frame = {"region": ["North", "c", "d"], "value": [3, 4, 5], "status": ["u", "s", "s"]}
    with pytest.warns(UserWarning, match="does not break down 'North'"):
        table = table_from_frame(frame, hierarchies={"region": PROVINCES})
    assert len(table) == 5
    assert len(table.lines) == 2


def test_a_part_that_is_missing_beside_others_is_a_hole_and_refused() -> None:
    frame = {"region": ["a", "b", "c"], "value": [3, 4, 5], "status": ["u", "s", "s"]}
    with pytest.raises(InputError, match="'d' is not in the table"):
        table_from_frame(frame, hierarchies={"region": PROVINCES})


def test_a_hole_in_one_combination_names_the_row_that_is_missing() -> None:
    frame = {
        "region": ["a", "b", "Total", "a", "Total"], "kind": ["x", "x", "x", "y", "y"], "value": [3, 4, 7, 5, 9],
        "status": ["u", "s", "s", "s", "s"],
    }  # fmt: skip
    with pytest.raises(
        InputError, match="'Total' is not the sum of its parts that are there: here the row of 'b'"
    ) as e:
        table_from_frame(frame)
    assert e.value.cell == 4
    assert e.value.field == "region"
    frame["value"][4] = 5  # what is missing is zero
    assert len(table_from_frame(frame)) == 5 + 3


@pytest.mark.parametrize("sign", ["@", "-", ".", "\t", "  ", "*", "»", "_"])
def test_hierarchy_files_show_depth_by_any_sign(sign: str, tmp_path: Path) -> None:
    codes = [(0, "North"), (1, "a"), (2, "a1"), (1, "b"), (0, "South")]
    (tmp_path / "r.hrc").write_text("".join(f"{sign * depth}{code}\n" for depth, code in codes))
    wanted = (None, "North", "a", "North", None)
    assert read_hierarchy(tmp_path / "r.hrc", sign=sign).parents == wanted
    if len(sign) == 1:
        assert read_hierarchy(tmp_path / "r.hrc").parents == wanted


@pytest.mark.parametrize("dimensions", [4, 5])
def test_tables_of_four_and_five_dimensions_are_safe_for_an_attacker_who_shares_no_code(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    names = [f"d{axis}" for axis in range(dimensions)]
    places = list(product(*([["1", "2"]] * dimensions)))
    value = rng.integers(1, 40, len(places))
    frame: dict[str, Any] = {name: [place[at] for place in places] for at, name in enumerate(names)}
    frame |= {"value": value.tolist(), "status": ["u" if v < 6 else "s" for v in value.tolist()]}
    table = table_from_frame(frame, levels="20%")
    assert len(table) == 3**dimensions
    protection = gpuga.protect(table, method="hypercube", whole="no")
    attacker = LabelledAttacker({name: [("Total", ["1", "2"])] for name in names})
    attacker.reads(rows_of(table), protection.suppressed.tolist(), names)
    assert protection.audit.safe
    assert attacker.exposed(rows_of(table), names, 0.2) == []
