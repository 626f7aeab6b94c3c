"""Caps on suppressions: searches look for recodings that keep within them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.errors import Infeasible, OutOfTime
from gpuga.microdata import MicrodataParameters, protect_file
from gpuga.microdata.caps import minimal_covers
from gpuga.microdata.search import SEARCHES


@pytest.fixture
def sixteen(tmp_path: Path) -> Path:
    path = tmp_path / "m.csv"
    path.write_text("age,sex\n" + "".join(f"{20 + i},{'fm'[i % 2]}\n" for i in range(16)))
    return path


@pytest.mark.parametrize("search", list(SEARCHES))
def test_a_recoding_without_suppressions_is_found_where_caps_forbid_them(sixteen: Path, search: str) -> None:
    out = sixteen.with_name("o.csv")
    words = f"microdata protect {sixteen} --fields age,sex --threshold 2 --dimension 2 --cost linear --out {out}"
    assert (
        run([*words.split(), "--recode", "age=width:100", "--cap", "age=0", "--cap", "sex=0", "--search", search]) == 0
    )
    assert "missing" not in out.read_text()


def test_a_search_leaves_forbidden_recodings_by_the_way_that_needs_fewer_suppressions(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [f"{rng.integers(0, 64)},{rng.integers(0, 64)}" for _ in range(200)]
    (tmp_path / "m.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    widths = "width:2,4,8,16,32,64"
    for search in SEARCHES:
        parameters = MicrodataParameters(
            ("a", "b"), 2, 3, recode={"a": widths, "b": widths}, caps={"a": 5, "b": 5}, search=search
        )
        found = protect_file(tmp_path / "m.csv", tmp_path / "o.csv", parameters)
        assert (found.suppressed.suppressed.sum(axis=0) <= 5).all(), search
        assert found.bound.value <= found.cost


def test_impossible_is_said_only_where_it_is_proven(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a\n1\n2\n3\n13\n")
    files = tmp_path / "m.csv", tmp_path / "o.csv"
    with pytest.raises(Infeasible, match="no protection keeps within the caps"):
        protect_file(*files, MicrodataParameters(("a",), 1, 2, recode={"a": "width:2"}, caps={"a": 0}))
    crossed = {"a": "ranges:1-13|1-1;2-3;13-13"}  # the coarsest rule comes first: the last one proves nothing
    found = protect_file(*files, MicrodataParameters(("a",), 1, 2, recode=crossed, caps={"a": 0}))
    assert found.recoding == (1,)
    with pytest.raises(OutOfTime, match="was found among 2 recodings"):
        protect_file(*files, MicrodataParameters(("a",), 1, 2, recode=crossed, caps={"a": 0}, evaluations=2))


def test_the_re_count_may_need_the_program_where_rounds_exceed_the_caps(tmp_path: Path) -> None:
    """Seven records in which the cheapest first round leaves no room for the second."""
    rows = ["1,x", "1,x", "1,y", "2,y", "2,x", "3,x", "3,y"]
    (tmp_path / "m.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    for cap in range(8):
        parameters = MicrodataParameters(("a", "b"), 2, 2, cost="linear", caps={"a": cap})
        found = protect_file(tmp_path / "m.csv", tmp_path / "o.csv", parameters)
        assert int(found.suppressed.suppressed[:, 0].sum()) <= cap


def test_minimal_covers_are_all_covers_without_a_superfluous_field() -> None:
    sets = np.array([0b011, 0b110], np.int64)
    assert minimal_covers(sets, 3) == [0b010, 0b101]
