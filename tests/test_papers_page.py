"""docs/papers.md: made from the code, up to date, and with a row for everything that the papers were held against."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from gpuga.methods import METHODS, find_method

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "make_papers.py"))
ROWS = [row | {"paper": paper["name"]} for paper in SCRIPT["papers"]() for row in paper["rows"]]

OF_THE_PAPERS = (
    "heurgene", "gensup", "gapn", "hypercube", "incremental", "ordering-ga", "ordering-ls", "castro", "pbp",
)  # fmt: skip
OURS = {"log", "improvement_rate"}
"""Options that no paper has."""

HELD_AGAINST = {
    "Herrington": (
        "at most 32", "generateRectangle", "safe already", "more than two", "random order", "ten runs",
        "unlike each other", "100 attempts", "shuffled list", "new parents", "there before",
        "mutation: one redundant", "one hour", "rank-based", "replace random", "crowding",
        "infeasible offspring", "adds suppressions", "HyperCube's patterns", "portfolio", "population size",
    ),
    "Almeida": (
        "class I:", "strata", "failures of Castro", "hypercube, failures", "phase 2", "solved to its end", "mutation",
        "15 sets",
    ),
    "Smith": (
        "no clean-up", "1 %", "Ku inside K", "one pair of programs", "20 groups", "as it was bred", "behind the first",
        "one child", "modular", "hierarchical two-way", "secondary suppressions protected", "40 groups",
    ),
    "Serpell": ("3,360", "hierarchies", "classical model", "modified classical"),
    "Hurkens": (
        "caps", "entropy", "one round", "by record", "Lagrangean", "maximal unsafe", "annealing", "recoding by field",
    ),
}  # fmt: skip
"""What a reading of the papers beside the code asked about; each stands in a row."""


def test_the_page_is_up_to_date() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert SCRIPT["page"](text) == text, "run make docs"


@pytest.mark.parametrize("author", HELD_AGAINST)
def test_everything_that_was_asked_about_has_a_row(author: str) -> None:
    said = [row["what"] for row in ROWS if row["paper"].startswith(author)]
    words = [*said, *(row["section"] for row in ROWS if row["paper"].startswith(author))]
    missing = [asked for asked in HELD_AGAINST[author] if not any(asked.lower() in text.lower() for text in words)]
    assert not missing


@pytest.mark.parametrize("method", OF_THE_PAPERS)
def test_every_parameter_of_a_papers_method_has_a_row(method: str) -> None:
    rows = {row.get("option", "").partition("=")[0] for row in ROWS if row.get("method") == method}
    declared = {one.name for one in find_method(method).options} - OURS
    assert declared <= rows


def test_what_is_not_faithful_by_default_says_why() -> None:
    for row in ROWS:
        assert row["faithful"] in ("yes", "option", "no")
        assert row["faithful"] == "yes" or row["why"], row["what"]
        assert row["faithful"] != "option" or row.get("option"), row["what"]


def test_methods_and_options_that_do_not_exist_are_refused() -> None:
    assert {row["method"] for row in ROWS if "method" in row} <= {method.name for method in METHODS}
    for wrong in ({"method": "castro", "option": "runs"}, {"method": "heurgene", "option": "selection=best"},
                  {"command": "generate class9"}):  # fmt: skip
        with pytest.raises(KeyError):
            SCRIPT["option_of"](wrong)
