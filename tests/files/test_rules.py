"""Which rule made a cell sensitive is told to the office, and to others only as codes that were asked for."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gpuga.cli.main import run
from gpuga.files.read import read_source
from gpuga.files.rules import rule_code, rules_of

RULES = ["--rule", "frequency:3", "--rule", "nk:1,70", "--rule", "nk:2,80", "--rule", "p:10"]
RECORDS = {
    ("a", "x"): [100, 1],  # few contributors
    ("b", "x"): [40, 35, 4, 4],  # two dominate
    ("a", "y"): [80, 4, 3, 3, 3, 3, 3],  # one dominates, and two do
    ("c", "x"): [25, 24, 23, 22],
    ("b", "y"): [31, 30, 29, 28],
    ("c", "y"): [41, 40, 39, 38],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"{r},{c},{v}" for (r, c), values in RECORDS.items() for v in values]
    (tmp_path / "r.csv").write_text("\n".join(["region,kind,turnover", *rows]) + "\n", encoding="utf-8")
    return tmp_path / "t.csv"


def tabulate(table: Path, out: Path | None = None, rules: list[str] = RULES) -> Path:
    words = [str(table.parent / "r.csv"), "--by", "region,kind", "--value", "turnover", *rules]
    assert run(["tabulate", *words, "--out", str(out or table), "--quiet"]) == 0
    return out or table


def test_the_table_names_the_rules_of_every_primary_and_of_no_other_cell(table: Path) -> None:
    rows = list(csv.DictReader(tabulate(table).open(encoding="utf-8")))
    named = {(r["region"], r["kind"]): r["rule"] for r in rows if r["rule"]}
    assert named[("a", "x")] == "frequency:3 and nk:1,70 and nk:2,80 and p:10"
    assert named[("b", "x")] == "nk:2,80"
    assert named[("a", "y")] == "nk:1,70 and nk:2,80"
    assert all(bool(r["rule"]) == (r["status"] == "u") for r in rows if r["region"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_rules_are_read_back_by_cell(table: Path, suffix: str) -> None:
    made = tabulate(table, table.with_suffix(f".{suffix}"))
    source = read_source(made)
    found = {source.table.label(cell): rule for cell, rule in rules_of(source).items()}
    assert sorted(found.values()) == sorted(r["rule"] for r in csv.DictReader(tabulate(table).open()) if r["rule"])
    assert set(rules_of(source)) <= set(source.table.sensitive.tolist())


def test_files_without_rules_have_none(table: Path, tmp_path: Path) -> None:
    assert rules_of(read_source(tabulate(table, tmp_path / "t.jj"))) == {}
    plain = tmp_path / "plain.csv"
    plain.write_text("region,value,status\na,5,u\nb,6,s\nc,7,s\n", encoding="utf-8")
    assert rules_of(read_source(plain)) == {}


def published(table: Path, *more: str) -> dict[tuple[str, str], str]:
    pattern, public = table.parent / "p.csv", table.parent / "public.csv"
    assert run(["protect", str(table), "--out", str(pattern), "--quiet"]) == 0
    assert run(["publish", str(table), str(pattern), "--out", str(public), *more]) == 0
    rows = list(csv.DictReader(public.open(encoding="utf-8")))
    assert "rule" not in rows[0]
    return {(r["region"], r["kind"]): r.get("CONF_STATUS", "none") for r in rows}


def test_codes_follow_the_rules_unless_less_is_to_be_told(table: Path) -> None:
    tabulate(table)
    codes = published(table, "--sdmx")
    assert [codes["a", "x"], codes["b", "x"], codes["a", "y"]] == ["A", "T", "G"]
    assert set(codes.values()) <= {"A", "T", "G", "D", "F"}
    assert set(published(table, "--sdmx", "--primary-code", "C").values()) == {"C", "D", "F"}
    assert set(published(table, "--sdmx", "--single-code").values()) == {"C", "F"}
    assert set(published(table).values()) == {"none"}


def test_patterns_leave_the_rules_out(table: Path) -> None:
    published(tabulate(table))
    header = (table.parent / "p.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.split(",")[-1] == "suppression"
    assert "rule" not in header.split(",")


def test_the_office_is_told_the_rule_of_a_cell(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published(tabulate(table))
    words = [str(table), str(table.parent / "p.csv")]
    assert run(["explain", *words, "--cell", "region=b,kind=x"]) == 0
    assert "sensitive by nk:2,80" in capsys.readouterr().out
    for edition, told in (([], True), (["--public"], False)):
        assert run(["report", *words, "--out", str(table.parent / "r.html"), *edition]) == 0
        assert ("sensitive by nk:2,80" in (table.parent / "r.html").read_text(encoding="utf-8")) == told


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("frequency:3", "A"),
        ("p:10 and frequency:3,20", "A"),
        ("nk:1,70", "O"),
        ("nk:2,85 and p:10", "T"),
        ("nk:2,85 and nk:1,70", "G"),
        ("nk:3,85", "M"),
        ("p:10", "M"),
        ("pq:10,50", "M"),
        ("something else", "C"),
        ("", "C"),
    ],
)
def test_each_rule_has_its_code(text: str, code: str) -> None:
    assert rule_code(text) == code


def test_the_checker_of_proofs_takes_the_rules_for_no_dimension(table: Path) -> None:
    tabulate(table)
    pattern, proof = str(table.parent / "p.csv"), str(table.parent / "proof.gz")
    assert run(["protect", str(table), "--out", pattern, "--proof", proof, "--quiet"]) == 0
    assert run(["verify", str(table), pattern, proof]) == 0
