"""Tables in messages: everything the attacker needs arrives as it was, and no more."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuga.context import Context
from gpuga.evolution.checkpoint import arrays_of, fingerprint, read
from gpuga.evolution.table_message import packed_table, unpacked_table
from gpuga.files.read import read_source
from gpuga.problem.general import GeneralProblem
from gpuga.safety.audit import judge
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import herrington, smith2d
from gpuga.table.links import link
from gpuga.table.table import Table
from tests.support.small_tables import random_pattern, random_table

FILES = {
    "groups": "r,value,status,upper,lower,members\nA,4,u,1,1,\nB,6,u,1,1,\nC,7.5,s,,,\nD,9,s,,,\n,10,,0.25,1,0 1\n",
    "decimals, weights, bounds": (
        "r,s,value,lb,ub,status,weight,upper,sliding\n"
        "A,x,4.25,1,9.5,u,1.5,1,3\nA,y,6,,inf,s,2,,\nB,x,7,-inf,,s,3.25,,\nB,y,8,2,1e20,z,4,,\n"
    ),
    "counts": "r,s,value,status,contributors\nA,x,4,u,1\nA,y,6,s,2\nB,x,7,s,3\nB,y,8,m,4\n",
}


def from_file(folder: Path, name: str) -> Table:
    path = folder / "table.csv"
    path.write_text(FILES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_source(path).table


def linked(_: Path) -> Table:
    return link([random_table(np.random.default_rng(5), (3, 3), largest=9, sensitive=0.3)]).table


def sliding(_: Path) -> Table:
    return random_table(np.random.default_rng(2), (3, 3, 2), sensitive=0.2, sliding=True, bounded=True)


TABLES: dict[str, Callable[[Path], Table]] = {
    "two-way": lambda _: herrington(15, 12, 0.06, 3),
    "hierarchical": lambda _: smith2d(9, 7, 0.1, 0.05, 2, hierarchical=1),
    "sliding levels": sliding,
    "linked": linked,
    **{name: lambda folder, name=name: from_file(folder, name) for name in FILES},  # type: ignore[misc]
}


@pytest.mark.parametrize("name", TABLES)
def test_what_the_attacker_needs_arrives_as_it_was(name: str, tmp_path: Path) -> None:
    table = TABLES[name](tmp_path)
    there = unpacked_table(*read(packed_table(table, {}, {})))
    for one, other in zip(arrays_of(table).items(), arrays_of(there).items(), strict=True):
        assert one[0] == other[0]
        assert one[1].dtype == other[1].dtype
        assert np.array_equal(one[1], other[1]), one[0]
    for unit in ("scale", "weight_scale", "groups", "given", "whole_levels"):
        assert getattr(there, unit) == getattr(table, unit), unit
    assert fingerprint(there, {}) == fingerprint(table, {})


@pytest.mark.parametrize("name", TABLES)
def test_the_attacker_says_the_same_of_the_table_that_arrived(name: str, tmp_path: Path) -> None:
    table = TABLES[name](tmp_path)
    there = unpacked_table(*read(packed_table(table, {}, {})))
    one, other = GeneralProblem.of(table), GeneralProblem.of(there)
    for part in ("cell", "direction", "need"):
        assert np.array_equal(getattr(one.requirements, part), getattr(other.requirements, part))
    assert np.array_equal(one.candidate, other.candidate)
    random = np.random.default_rng(4)
    for share in (0.3, 0.8, 1.0):
        pattern = random_pattern(random, table, share)
        verdicts = [judge(each, pattern, AttackerModel(False), context=Context()) for each in (table, there)]
        assert verdicts[0].safe == verdicts[1].safe
        assert [cell.safe for cell in verdicts[0].cells] == [cell.safe for cell in verdicts[1].cells]
        assert table.cost(pattern) == there.cost(pattern)


def test_names_and_codes_are_not_told_and_what_else_is_sent_comes_along(plane: Table) -> None:
    content = packed_table(plane, {"seed": 3}, {"start": np.zeros((0, 1), np.uint8)})
    figures, arrays = read(content)
    there = unpacked_table(figures, arrays)
    assert figures["seed"] == 3
    assert arrays["start"].shape == (0, 1)
    assert there.grid is None
    assert plane.grid is not None
    assert there.name != plane.name
    assert plane.name.encode() not in content
    assert not any(dimension.name.encode() in content for dimension in plane.grid.dimensions)
