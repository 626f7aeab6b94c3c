"""Proofs as files: which witnesses are kept, and how they are written down."""

from __future__ import annotations

import gzip
import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest

from gpuga.proof_file import (
    Attacked,
    _best,
    _bound,
    _enough,
    _exact,
    _needed,
    _record,
    _records,
    proof_content,
    table_digest,
)
from gpuga.safety.evidence import SafetyProof
from gpuga.safety.witness import together, witness_of
from gpuga.table import INFINITE, Levels, Lines, Table


def table_of(lower: int, upper: int, sliding: int, scale: int = 1) -> Table:
    """A sensitive cell, two others and their total; a fifth cell stands in no equation."""
    lines = Lines(np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, 1, 1, -1]), np.zeros(1, np.int64))
    levels = Levels(*(np.array([x, 0, 0, 0, 0]) for x in (lower, upper, sliding)))
    value = np.array([10, 20, 30, 60, 7]) * scale
    return Table.build(value, lines, status=np.array([1, 0, 0, 0, 0]), levels=levels, scale=scale)


def proof_of(*shown: tuple[int, int, list[int], list[int], int]) -> SafetyProof:
    """Cell, direction and the witness (cells, amounts, denominator) of each requirement."""
    witnesses = together([witness_of(np.array(c, np.int32), np.array(a), d) for _, _, c, a, d in shown])
    cell, direction = np.array([s[0] for s in shown], np.int32), np.array([s[1] for s in shown], np.int8)
    return SafetyProof(cell, direction, np.arange(len(shown)), witnesses)


@pytest.mark.parametrize(
    ("levels", "up", "down", "enough", "strictly"),
    [
        ((2, 3, 0), 3, 2, True, False),
        ((2, 3, 0), Fraction(5, 2), 2, False, False),
        ((2, 3, 0), 3, Fraction(3, 2), False, False),
        ((2, 3, 0), 4, 3, True, True),
        ((2, 3, 0), 4, 2, True, False),
        ((2, 3, 7), 3, 3, False, False),
        ((2, 3, 7), 3, 4, True, False),
        ((2, 3, 7), 4, 4, True, True),
        ((0, 0, 1), 1, 0, True, False),
        ((0, 0, 0), 0, 0, False, False),
        ((0, 0, 0), Fraction(1, 2), Fraction(1, 4), False, True),
        ((0, 0, 0), Fraction(1, 2), Fraction(1, 2), True, True),
        ((0, 0, 0), 1, 0, True, False),
    ],
)
def test_what_is_enough_for_a_sensitive_cell(
    levels: tuple[int, int, int], up: Fraction, down: Fraction, enough: bool, strictly: bool
) -> None:
    table = table_of(*levels)
    assert _enough(table, Attacked(), 0, Fraction(up), Fraction(down)) is enough
    assert _enough(table, Attacked(strict=True), 0, Fraction(up), Fraction(down)) is strictly


def test_cells_without_levels_need_nothing_where_that_is_waived_and_secondaries_any_move() -> None:
    table = table_of(0, 0, 0, scale=10)
    assert _enough(table, Attacked(level_zero="ignore"), 0, Fraction(0), Fraction(0))
    assert _enough(table, Attacked(), 0, Fraction(1, 10), Fraction(0))
    assert not _enough(table, Attacked(), 0, Fraction(1, 11), Fraction(0))
    assert _enough(table, Attacked(), 1, Fraction(0), Fraction(1, 99))
    assert not _enough(table, Attacked(), 1, Fraction(0), Fraction(0))
    levels = table_of(20, 0, 0, scale=10)
    assert _enough(levels, Attacked(), 0, Fraction(0), Fraction(2))
    assert not _enough(levels, Attacked(), 0, Fraction(5), Fraction(19, 10))


def test_the_best_witness_of_each_direction_counts_in_the_tables_units() -> None:
    proof = proof_of(
        (0, 1, [0, 1], [3, -3], 2), (0, 1, [0, 1], [8, -8], 4), (0, -1, [0, 2], [-5, 5], 1), (1, 1, [0, 2], [-5, 5], 1)
    )
    assert _best(proof, 10) == {(0, 1): (Fraction(1, 5), 1), (0, -1): (Fraction(1, 2), 2)}
    assert _best(proof, 1) == {(0, 1): (Fraction(2), 1), (0, -1): (Fraction(5), 2)}


def test_a_direction_that_nothing_needs_is_left_out() -> None:
    both = {(0, 1): (Fraction(5), 7), (0, -1): (Fraction(5), 8)}
    assert _needed(table_of(2, 3, 0), Attacked(), both) == {(0, 1): 7, (0, -1): 8}
    assert _needed(table_of(0, 3, 0), Attacked(), both) == {(0, 1): 7}
    assert _needed(table_of(2, 0, 0), Attacked(), both) == {(0, -1): 8}
    assert _needed(table_of(0, 0, 5), Attacked(), both) == {(0, -1): 8}
    assert _needed(table_of(0, 0, 6), Attacked(), both) == {(0, 1): 7, (0, -1): 8}
    assert _needed(table_of(0, 3, 0), Attacked(strict=True), both) == {(0, 1): 7, (0, -1): 8}
    secondary = {(1, 1): (Fraction(1), 3), (1, -1): (Fraction(1), 4)}
    assert _needed(table_of(2, 3, 0), Attacked(), secondary) == {(1, -1): 4}
    assert _needed(table_of(2, 3, 0), Attacked(), {(1, 1): (Fraction(1), 3)}) == {(1, 1): 3}


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [(5, 1, "5"), (-5, 1, "-5"), (50, 10, "5"), (55, 10, "11/2"), (-4, 6, "-2/3"), (0, 7, "0"), (7, 100, "7/100")],
)
def test_numbers_are_written_as_fractions_in_lowest_terms(value: int, scale: int, text: str) -> None:
    assert _exact(value, scale) == text == str(Fraction(value, scale))
    assert _bound(value, scale) == text
    assert _bound(INFINITE, scale) == _bound(-INFINITE, scale) == "None"
    assert _bound(INFINITE - scale, scale) != "None"


def test_a_record_is_in_lowest_terms_with_its_cells_in_order() -> None:
    in_lines = np.array([True, True, True, True, False])
    cells, amounts = np.array([3, 0, 4, 1], np.int32), np.array([6, 10, 2, -4])
    assert _record(1, cells, amounts, 4, [0], in_lines) == [2, [0, 1, 3], [5, -2, 3], [0], ["5/2"]]
    assert _record(10, cells, amounts, 4, [0, 1], in_lines) == [20, [0, 1, 3], [5, -2, 3], [0, 1], ["1/4", "1/10"]]
    assert _record(1, cells, amounts, 1, [4], in_lines) == [1, [0, 1, 3, 4], [10, -4, 6, 2], [4], ["2"]]


def test_a_witness_that_shows_several_cells_is_written_once() -> None:
    proof = proof_of((0, 1, [0, 1], [3, -3], 1), (0, -1, [0, 1, 4], [-2, 2, 9], 1))
    table = table_of(2, 3, 0)
    records = _records(table, proof, {(0, 1): 0, (1, -1): 0, (0, -1): 1}, 1)
    assert records == [[1, [0, 1], [3, -3], [0, 1], ["3", "3"]], [1, [0, 1], [-2, 2], [0], ["2"]]]


def test_the_file_names_its_table_and_ends_with_its_checksum() -> None:
    table = table_of(2, 3, 0)
    proof = proof_of((0, 1, [0, 1], [3, -3], 1), (0, -1, [0, 1], [-2, 2], 1))
    hidden = np.array([True, True, False, False, False])
    content = proof_content(table, hidden, proof, Attacked(), "p.json")
    lines = content.decode().splitlines()
    head = json.loads(lines[0])
    assert head["table"] == table_digest(table)
    assert (head["cost"], head["witnesses"], head["cuts"], head["lower_bound"]) == ("20", 2, 0, "")
    assert (head["strict"], head["whole"], head["level_zero"]) == (False, False, "exact")
    body = "".join(line + "\n" for line in lines[:-1]).encode()
    assert json.loads(lines[-1]) == {"sha256": hashlib.sha256(body).hexdigest()}
    assert len(lines) == 4
    for name in ("p.json.gz", "P.GZ"):
        assert gzip.decompress(proof_content(table, hidden, proof, Attacked(), name)) == content
    assert Attacked(whole=True).unit(table_of(2, 3, 0, 10)) == 1
    assert Attacked().unit(table_of(2, 3, 0, 10)) == 10


def test_tables_that_differ_in_anything_have_different_checksums() -> None:
    table = table_of(2, 3, 0)
    others = [table_of(1, 3, 0), table_of(2, 4, 0), table_of(2, 3, 1), table_of(20, 30, 0, 10)]
    open_ = Table.build(table.value, table.lines, status=table.status, levels=table.levels, lb=np.full(5, -INFINITE))
    capped = Table.build(table.value, table.lines, status=table.status, levels=table.levels, ub=table.value + 9)
    status = Table.build(table.value, table.lines, status=np.array([1, 0, 0, 3, 0]), levels=table.levels)
    lines = Lines(table.lines.start, table.lines.cell, -table.lines.coef, table.lines.rhs)
    turned = Table.build(table.value, lines, status=table.status, levels=table.levels)
    digests = [table_digest(t) for t in (table, *others, open_, capped, status, turned)]
    assert len(set(digests)) == len(digests)
    assert table_digest(table_of(2, 3, 0)) == digests[0]
