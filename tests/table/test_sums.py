"""Totals that nobody declared are found by their numbers, and numbers that agree by chance are let pass."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.errors import Alarm, InputError
from gpuga.files.read import read_table
from gpuga.table import generate
from gpuga.table.builders import table_from_array, table_from_frame
from gpuga.table.elimination import zero_one_rows
from gpuga.table.grid import flat_dimension
from gpuga.table.sums import find_sums
from gpuga.table.table import Grid, Ints

DATA = Path(__file__).parents[1] / "data"


def rows_as_grid(values: Ints, names: list[str] | None = None, drop_zeros: bool = False) -> tuple[Grid, Ints]:
    """A two-way table without totals: rows with these names, columns numbered."""
    codes = names or [f"r{i}" for i in range(values.shape[0])]
    dimensions = [flat_dimension("row", codes), flat_dimension("column", [f"k{i}" for i in range(values.shape[1])])]
    coordinate = np.argwhere(np.ones(values.shape, bool)).astype(np.int32)
    kept = (values.ravel() != 0) | (not drop_zeros)
    return Grid(tuple(dimensions), coordinate[kept]), values.ravel()[kept]


def sums_of(values: Ints, names: list[str] | None = None, drop_zeros: bool = False) -> dict[int, set[int]]:
    grid, value = rows_as_grid(values, names, drop_zeros)
    return {s.code: set(s.parts) for s in find_sums(grid, value, [(), ()]) if s.dimension.name == "row"}


@pytest.mark.parametrize("name", ["totals_in_capitals.csv", "totals_in_capitals_with_zero.csv"])
def test_totals_spelled_otherwise_are_refused_and_can_be_declared(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = str(DATA / name), str(tmp_path / "p.csv")
    assert run(["protect", table, "--out", out, "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "code 'TOTAL' of dimension" in said
    assert "is the sum of the other codes throughout the table (likewise TOTAL of" in said
    assert "declare it with --total" in said
    assert "use --coincidence" in said
    assert not Path(out).exists()
    declared = read_table(table, total="TOTAL")
    assert declared.given == len(declared)


def test_sub_totals_are_refused_with_their_parts_and_can_be_declared() -> None:
    with pytest.raises(InputError, match="code 'Nord' of dimension 'region' is the sum of 'K' and 'H'") as fault:
        read_table(DATA / "subtotals.csv")
    said = str(fault.value)
    assert "subtotals.csv, line 10, field region" in said
    assert "likewise Sued of region" in said
    assert "--hierarchy region=FILE.hrc" in said
    assert "--coincidence region=Nord" in said


def test_what_is_called_a_coincidence_is_read() -> None:
    with pytest.raises(InputError, match="'Sued'"):
        read_table(DATA / "subtotals.csv", coincidences={"region": ["Nord"]})
    table = read_table(DATA / "subtotals.csv", coincidences={"region": ["Nord", "Sued"]})
    assert table.given == 12


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--coincidence", "region"], "not DIM=CODE"),
        (["--coincidence", "planet=Nord"], "no dimension 'planet'"),
        (["--coincidence", "region=Nrod"], "no code 'Nrod'"),
        (["--total", "planet=TOTAL"], "no dimension 'planet'"),
        (["--total", "a", "--total", "b"], "more than one code"),
        (["--total", "region=a", "--total", "region=b"], "given twice"),
    ],
)
def test_options_that_name_nothing_are_refused(
    options: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["expose", str(DATA / "subtotals.csv"), *options]) == 2
    assert named in capsys.readouterr().err


def test_every_dimension_may_have_its_own_total() -> None:
    frame = {"r": ["a", "b", "Alle"], "c": ["x", "x", "x"], "value": [3, 4, 7], "status": ["u", "s", "s"]}
    table = table_from_frame(frame, totals={"r": "Alle"})
    assert table.given == len(table) == 3
    assert len(table.lines) == 1


@pytest.mark.parametrize(
    "name", ["TOTAL", "total", "Insgesamt", "Gesamt", "Ensemble", "Totaal", "Total region", "Summe"]
)
def test_a_code_that_is_named_a_total_needs_no_more_than_agreeing_numbers(name: str) -> None:
    frame = {"r": ["a", "b", name], "value": [3, 4, 7], "status": ["u", "s", "s"]}
    with pytest.raises(InputError, match="is the sum of the other codes"):
        table_from_frame(frame)
    with pytest.warns(UserWarning, match="is named like a total, but is not the sum"):
        table_from_frame(frame | {"value": [3, 4, 8]})


def test_a_total_of_a_single_code_is_known_by_its_name() -> None:
    frame = {"r": ["a", "TOTAL"], "value": [3, 3], "status": ["u", "s"]}
    with pytest.raises(InputError, match="'TOTAL' of dimension 'r' has the values of 'a'"):
        table_from_frame(frame)
    assert table_from_frame(frame | {"r": ["a", "b"]}).given == 2


def test_a_name_that_may_mean_something_else_needs_a_little_more() -> None:
    frame = {"r": ["S", "U", "T"], "value": [1, 2, 3], "status": ["u", "s", "s"]}
    assert table_from_frame(frame).given == 3
    with pytest.raises(InputError, match="'T' of dimension 'r' is the sum"):
        table_from_frame(frame | {"value": [31, 45, 76]})


def test_one_combination_of_small_values_proves_nothing() -> None:
    assert table_from_frame({"r": ["a", "b", "c"], "value": [3, 4, 7], "status": ["u", "s", "s"]}).given == 3
    ones = np.ones((4, 6), np.int64)
    ones[3] = 3
    assert table_from_array(ones).given == 24


def test_one_combination_is_enough_only_where_the_names_say_it_too() -> None:
    frame = {"r": ["a", "b", "c", "d"], "value": [71234, 65017, 136251, 9], "status": ["u", "s", "s", "s"]}
    assert table_from_frame(frame).given == 4
    assert table_from_frame(frame | {"value": [71234, 65017, 99812, 236063]}).given == 4
    with pytest.raises(InputError, match="'C' of dimension 'r' is the sum of 'C1' and 'C2'"):
        table_from_frame(frame | {"r": ["C1", "C2", "C", "D"]})


def test_multiples_of_one_column_count_once() -> None:
    column = np.array([3, 4, 7])
    assert not sums_of(np.outer(column, np.arange(1, 30)))
    assert sums_of(np.array([[3, 40, 11, 52], [4, 21, 17, 63], [7, 61, 28, 115]]))


def test_values_rounded_to_thousands_agree_more_easily() -> None:
    values = np.array([[3, 4, 5], [4, 2, 1], [7, 6, 6]])
    assert not sums_of(values * 1000)
    values[:, 0] = 1000 * values[:, 0] + [1, 2, 3]
    assert sums_of(values * 1000 + np.array([[1, 5, 2], [3, 2, 7], [4, 7, 9]])) == {2: {0, 1}}


def planted(seed: int, codes: int, columns: int, kind: str) -> tuple[Ints, list[tuple[int, set[int]]]]:
    """Random rows with a sum of some of them, and perhaps the sum of all, in random order."""
    rng = np.random.default_rng(seed)
    low, high = (-400, 400) if kind == "negative" else (1, 400)
    base = rng.integers(low, high, (codes, columns))
    if kind == "sparse":
        base *= rng.random(base.shape) < 0.4
    parts = rng.choice(codes, int(rng.integers(2, codes)), replace=False)
    made = [base, base[parts].sum(axis=0, keepdims=True)]
    if seed % 2:
        made.append(base.sum(axis=0, keepdims=True))
    order = rng.permutation(codes + len(made) - 1)
    place = np.argsort(order)
    expected = [(int(place[codes]), {int(place[p]) for p in parts})]
    return np.concatenate(made)[order], expected


@pytest.mark.parametrize("kind", ["plain", "sparse", "negative"])
@pytest.mark.parametrize(("codes", "columns"), [(5, 8), (12, 10), (25, 12), (35, 45), (36, 30)])
def test_any_planted_sum_of_a_few_codes_is_found(codes: int, columns: int, kind: str) -> None:
    for seed in range(4):
        values, expected = planted(seed, codes, columns, kind)
        found = sums_of(values, drop_zeros=kind == "sparse")
        for code, parts in expected:
            live = {p for p in parts if values[p].any()}
            assert found.get(code) == live, (seed, kind)


def test_in_long_dimensions_runs_and_names_are_found() -> None:
    rng = np.random.default_rng(5)
    base = rng.integers(1, 5000, (900, 5))
    names = [f"x{i:03d}" for i in range(900)]
    before, after = base[10:40].sum(axis=0), base[700:720].sum(axis=0)
    values = np.concatenate([base[:10], [before], base[10:720], [after], base[720:]])
    labels = [*names[:10], "first", *names[10:720], "second", *names[720:]]
    assert set(sums_of(values, labels)) == {10, 721}
    shuffled = rng.permutation(900)
    prefixed = base[[i for i in range(900) if names[i].startswith("x12")]].sum(axis=0)
    values = np.concatenate([base[shuffled], [prefixed]])
    assert set(sums_of(values, [*(names[i] for i in shuffled), "x12"])) == {900}


def test_a_total_over_found_sub_totals_is_found_too() -> None:
    base = np.random.default_rng(3).integers(1, 900, (9, 6))
    north, south = base[:4].sum(axis=0), base[4:].sum(axis=0)
    values = np.concatenate([[north + south, north], base[:4], [south], base[4:]])
    assert set(sums_of(values)) == {0, 1, 6}


def test_a_total_that_stands_twice_is_found_twice() -> None:
    base = np.random.default_rng(8).integers(1, 900, (40, 5))
    total = base.sum(axis=0)
    assert sums_of(np.concatenate([[total], base, [total]])) == {0: set(range(1, 41)), 41: set(range(1, 41))}


def test_a_code_that_repeats_another_is_a_total_of_one_part_only_by_its_name() -> None:
    base = np.random.default_rng(3).integers(1, 900, (5, 6))
    values = np.concatenate([base, base[2:3]])
    assert not sums_of(values)
    assert sums_of(values, ["10", "11", "01.10", "12", "13", "01.1"]) == {5: {2}}
    frame = {
        "r": [n for n in ["10", "11", "01.10", "12", "13", "01.1"] for _ in range(6)],
        "c": [f"k{j}" for _ in range(6) for j in range(6)],
        "value": values.ravel(),
    }
    with pytest.raises(InputError, match=r"'01\.1' of dimension 'r' has the values of '01\.10'"):
        table_from_frame(frame)
    assert table_from_frame(frame, coincidences={"r": ["01.1"]}).given == 36


def test_a_sum_that_some_combinations_lack_is_found() -> None:
    base = np.random.default_rng(4).integers(1, 900, (6, 12))
    values = np.concatenate([base, base[[1, 3, 4]].sum(axis=0, keepdims=True)])
    grid, value = rows_as_grid(values)
    kept = (grid.coordinate[:, 0] != 6) | (grid.coordinate[:, 1] < 8)
    found = find_sums(Grid(grid.dimensions, grid.coordinate[kept]), value[kept], [(), ()])
    assert [(s.code, s.parts) for s in found] == [(6, (1, 3, 4))]


def test_codes_below_declared_totals_are_looked_at() -> None:
    base = np.random.default_rng(6).integers(1, 900, (5, 6))
    rows = [*base, base[0] + base[1], base[2] + base[3]]
    names = ["a", "b", "c", "d", "e", "ab", "cd"]
    frame = {
        "r": [n for n in names for _ in range(6)],
        "c": [f"k{j}" for _ in names for j in range(6)],
        "value": np.concatenate(rows),
    }
    half = {"ab": None, "a": "ab", "b": "ab", "c": None, "d": None, "e": None, "cd": None}
    with pytest.raises(InputError, match="code 'cd' of dimension 'r' is the sum of 'c' and 'd'"):
        table_from_frame(frame, hierarchies={"r": half})
    whole = half | {"c": "cd", "d": "cd"}
    assert table_from_frame(frame, hierarchies={"r": whole}).given == 42


def test_generated_tables_have_no_sums_that_are_not_declared() -> None:
    for seed in range(12):
        tables = [
            generate.class1(4, 5, seed),
            generate.class2(5, 3, seed),
            generate.herrington(4, 4, 0.1, seed),
            generate.smith2d(6, 5, 0.1, 0.2, seed),
            generate.smith3d((5, 9, 4), 0.1, 0.1, seed, 2),
        ]
        for table in tables:
            assert table.grid is not None
            assert not find_sums(table.grid, table.value, [()] * len(table.grid.dimensions))


def test_chance_refuses_next_to_no_table() -> None:
    refused = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        shape = tuple(rng.integers(2, 6, 2))
        values = rng.integers(0, rng.choice([3, 10, 100, 10**6]), shape)
        refused += bool(sums_of(values)) or bool(sums_of(values.T))
    assert refused <= 1


def test_elimination_finds_sums_of_earlier_rows_only() -> None:
    rows = np.array([[1, 2, 3, 9], [4, 5, 7, 1], [5, 7, 10, 10], [2, 4, 6, 18], [3, 3, 4, -8]])
    assert [(row, parts.tolist()) for row, parts in zero_one_rows(rows)] == [(2, [0, 1])]


def test_a_table_without_sensitive_cells_is_said_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(Alarm, match="no cell of this table is sensitive"):
        table_from_frame({"r": ["a", "b"], "value": [1, 2]})
    (tmp_path / "t.jj").write_text("0\n1\n0 5 5 s 0 9 0 0 0\n0\n")
    run(["expose", str(tmp_path / "t.jj"), "--quiet"])
    assert "gpuga: WARNING: no cell of this table is sensitive" in capsys.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table_from_frame({"r": ["a", "b"], "value": [1, 2], "status": ["u", "s"]})
