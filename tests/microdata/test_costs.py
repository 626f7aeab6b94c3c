"""Costs of suppressions and recodings: linear, by entropy, with a weight between them, and by record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.context import Silent
from gpuga.errors import InputError
from gpuga.microdata import MicrodataParameters, protect_file
from gpuga.microdata.costs import IMPOSSIBLE, OwnCosts, entropy_costs, linear_costs, with_own_costs
from gpuga.microdata.recoding import field_rules
from gpuga.microdata.record_file import opened


def test_recoding_a_field_with_a_single_code_loses_nothing() -> None:
    codes = np.zeros((8, 1), np.int32)
    rules = [field_rules("age", ["40"], "width:10,100")]
    assert linear_costs(codes, rules).recode[0].tolist() == [0, 0, 0]
    assert entropy_costs(codes, rules).recode[0].tolist() == [0, 0, 0]


def test_a_constant_field_adds_nothing_to_cost_and_bound(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("country,job\n" + "NL,cook\n" * 4 + "NL,smith\nNL,judge\n")
    parameters = MicrodataParameters(("country", "job"), 2, 2, cost="linear", search="exact")
    account = protect_file(tmp_path / "m.csv", tmp_path / "o.csv", parameters).account()
    assert (account["cost"], account["lower_bound"], account["suppressions"]) == (2, 2, {"country": 0, "job": 2})


def test_merging_all_codes_costs_as_much_as_suppressing_the_field() -> None:
    codes = np.array([[0], [1], [2], [2], [-1]], np.int32)
    rules = [field_rules("age", ["10", "20", "30"], "width:100")]
    costs = linear_costs(codes, rules, [3.0])
    assert costs.recode[0].tolist() == [0, 4 * 3 * costs.scale]


def test_a_lower_weight_of_recoding_leaves_fewer_suppressions(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [f"{int(a)},{j}" for a, j in zip(rng.gamma(5, 8, 3000), rng.integers(0, 30, 3000), strict=True)]
    (tmp_path / "m.csv").write_text("age,job\n" + "\n".join(rows) + "\n")
    left, recoded = [], []
    for weight in (1.0, None, 0.01):
        parameters = MicrodataParameters(
            ("age", "job"), 2, 3, recode={"age": "width:5,10,20"}, recode_weight=weight, search="exact"
        )
        found = protect_file(tmp_path / "m.csv", tmp_path / "o.csv", parameters)
        left.append(int(found.suppressed.suppressed.sum()))
        recoded.append(found.recoding[0])
    assert left[0] > left[1] >= left[2]
    assert recoded[0] < recoded[1] <= recoded[2]


def test_a_record_that_costs_more_is_suppressed_less(tmp_path: Path) -> None:
    rows = ["1,x,5", "1,y,1", "2,x,1", "2,z,1", "3,y,1", "3,z,1"]
    (tmp_path / "m.csv").write_text("a,b,w\n" + "\n".join(rows) + "\n")
    words = f"microdata protect {tmp_path}/m.csv --fields a,b --dimension 2 --threshold 2 --out {tmp_path}/o.csv"
    assert run([*words.split(), "--cost", "linear", "--search", "exact", "--record-weight", "w", "--quiet"]) == 0
    parameters = MicrodataParameters(("a", "b"), 2, 2, cost="linear", record_weight="w")
    with opened(tmp_path / "m.csv", parameters, Silent()) as file:
        costs = file.problem.costs.suppress[file.problem.costs.record_class]
    assert costs.tolist() == [[5000, 5000]] + [[1000, 1000]] * 5


def test_a_column_gives_a_field_its_costs_by_record(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a;b;c\n1;x;0,5\n2;y;2\n")
    parameters = MicrodataParameters(
        ("a", "b"), 1, 2, cost="linear", suppress_cost={"b": 7}, suppress_cost_column={"a": "c"}
    )
    with opened(tmp_path / "m.csv", parameters, Silent()) as file:
        costs = file.problem.costs.suppress[file.problem.costs.record_class]
    assert costs.tolist() == [[500, 7000], [2000, 7000]]


@pytest.mark.parametrize(("column", "what"), [("0", "is not above 0"), ("-3", "is not above 0"), ("x", "not a number")])
def test_a_records_cost_that_is_no_amount_is_named_by_its_line(tmp_path: Path, column: str, what: str) -> None:
    (tmp_path / "m.csv").write_text(f"a,w\n1,2\n2,{column}\n")
    with pytest.raises(InputError, match=f"line 3, field w: .*{what}"):
        protect_file(tmp_path / "m.csv", tmp_path / "o.csv", MicrodataParameters(("a",), 1, 2, record_weight="w"))


def test_costs_beyond_exact_arithmetic_are_refused() -> None:
    codes, rules = np.zeros((1000, 1), np.int32), [field_rules("a", ["1"], None)]
    with pytest.raises(InputError, match="too large for exact arithmetic"):
        linear_costs(codes, rules, [1e12])
    large = OwnCosts((np.full(1000, 2**50, np.int64), 1))
    with pytest.raises(InputError, match="too large for exact arithmetic"):
        with_own_costs(linear_costs(codes, rules), large)
    assert linear_costs(codes, rules, [1e6]).suppress.sum() * 1000 < IMPOSSIBLE


@pytest.mark.parametrize("words", ["--recode-weight -1", "--cost linear --recode-weight 0.5", "--recode-weight nan"])
def test_a_weight_that_means_nothing_is_refused(tmp_path: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.csv").write_text("a\n1\n1\n")
    start = f"microdata protect {tmp_path}/m.csv --fields a --out {tmp_path}/o.csv"
    assert run([*start.split(), *words.split()]) == 2
    assert "--recode-weight" in capsys.readouterr().err
