"""Bad input: exit code 2 and one sentence that names the file, the column and the first bad row."""

from __future__ import annotations

import sys

import pytest

from gpuga.cli.main import run

GOOD = "region,branch,turnover,w\nN,a,5,1\nN,b,6,1\nS,a,7,1\nS,b,8,1\n"


def refuse(capsys, arguments: str) -> str:
    """Run a command that must be refused; what it said."""
    assert run(arguments.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    sentence = captured.err.strip()
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


def tabulate(path, *more: str, by="region,branch", value="turnover", rule="p:10") -> str:
    options = f"--by {by} --value {value} --rule {rule} --out {path.parent}/t.csv"
    return f"tabulate {path} {options} {' '.join(more)}"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "m.csv").write_text(GOOD)
    return tmp_path / "m.csv"


@pytest.mark.parametrize("missing", ["by", "value"])
def test_a_missing_column_is_named(path, capsys, missing):
    sentence = refuse(capsys, tabulate(path, **{missing: "sector"}))
    assert "m.csv" in sentence
    assert "sector" in sentence
    assert "region, branch, turnover" in sentence


@pytest.mark.parametrize("bad", ["many", "1,5.5,5", "", "nan", "0x10", "--3"])
def test_text_in_a_number_column_is_named_with_its_row(path, capsys, bad):
    path.write_text(GOOD.replace("S,a,7", f'S,a,"{bad}"') + "S,b,rubbish,1\n")
    sentence = refuse(capsys, tabulate(path))
    assert all(part in sentence for part in ("m.csv", "line 4", "turnover"))


@pytest.mark.parametrize("large", ["1e400", "1e30", "99999999999999999999"])
def test_a_number_beyond_exact_arithmetic_is_named_with_its_row(path, capsys, large):
    path.write_text(GOOD.replace("S,a,7", f"S,a,{large}"))
    sentence = refuse(capsys, tabulate(path))
    assert all(part in sentence for part in ("m.csv", "line 4", "turnover", "too large"))


def test_a_negative_value_is_refused_unless_asked_for(path, capsys):
    path.write_text(GOOD.replace("S,a,7", "S,a,-7"))
    assert "line 4" in refuse(capsys, tabulate(path))
    assert run([*tabulate(path, "--negative", "absolute").split()]) == 0


def test_a_weight_that_is_no_weight_is_named(path, capsys):
    path.write_text(GOOD.replace("N,b,6,1", "N,b,6,0"))
    sentence = refuse(capsys, tabulate(path, "--weight", "w"))
    assert all(part in sentence for part in ("line 3", "field w"))


@pytest.mark.parametrize(
    "rule",
    ["magic:3", "p", "p:x", "p:0", "nk:2", "nk:0,80", "nk:1,100", "frequency:0", "frequency:2.5", "pq:50,10"],
)
def test_an_unknown_or_senseless_rule_is_named(path, capsys, rule):
    assert "rule" in refuse(capsys, tabulate(path, rule=rule))


def test_a_code_outside_the_hierarchy_is_named_with_its_row(path, capsys, tmp_path):
    (tmp_path / "r.hrc").write_text("N\nE\n")
    sentence = refuse(capsys, tabulate(path, "--hierarchy", f"region={tmp_path}/r.hrc"))
    assert all(part in sentence for part in ("m.csv", "line 4", "region", "'S'"))


def test_the_code_of_the_total_may_not_occur(path, capsys):
    sentence = refuse(capsys, tabulate(path, "--total", "b"))
    assert all(part in sentence for part in ("line 3", "branch", "--total"))


@pytest.mark.parametrize(
    ("content", "part"),
    [("", "m.csv"), ("region,branch,turnover\n", "no record"), ("region,branch,turnover\nN,a\n", "m.csv")],
)
def test_files_without_records_or_columns_are_refused(path, capsys, content, part):
    path.write_text(content)
    assert part in refuse(capsys, tabulate(path))


def test_no_message_repeats_a_value(path, capsys):
    path.write_text(GOOD.replace("S,a,7", 'S,a,"7\x1b[31m secret"'))
    assert "secret" not in refuse(capsys, tabulate(path))


def protect(path, *more: str, fields="region,branch") -> str:
    return f"microdata protect {path} --fields {fields} --out {path.parent}/p.csv {' '.join(more)}"


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        (["--threshold", "0"], ["--threshold", "1 or more"]),
        (["--threshold", "few"], ["--threshold"]),
        (["--key", "region,colour:3"], ["colour"]),
        (["--key", "region"], ["--key"]),
        (["--recode", "colour=width:5"], ["colour"]),
        (["--recode", "region=rainbow:5"], ["rainbow", "region"]),
        (["--recode", "region=width:5"], ["m.csv", "line 2", "region", "does not cover"]),
        (["--recode", "turnover=width:5"], ["turnover"]),
        (["--search", "magic"], ["magic", "tabu"]),
        (["--cap", "region=-1"], ["--cap"]),
        (["--suppress-cost", "region=2"], ["--cost"]),
        (["--cost", "linear", "--suppress-cost", "region=0"], ["--suppress-cost"]),
        (["--delimiter", "ab"], ["--separator"]),
    ],
)
def test_senseless_options_are_named(path, capsys, more, parts):
    sentence = refuse(capsys, protect(path, *more))
    assert all(part in sentence for part in parts), sentence
    assert not (path.parent / "p.csv").exists()


def test_a_recoding_that_does_not_cover_a_score_names_its_first_row(path, capsys, tmp_path):
    sentence = refuse(capsys, protect(path, "--recode", "turnover=ranges:5-6;8-", fields="turnover"))
    assert all(part in sentence for part in ("m.csv", "line 4", "turnover", "does not cover"))
    (tmp_path / "codes.csv").write_text("region,wide\nN,all\n")
    sentence = refuse(capsys, protect(path, "--recode", f"region=file:{tmp_path}/codes.csv"))
    assert all(part in sentence for part in ("m.csv", "line 4", "region"))


def test_a_missing_field_is_named(path, capsys):
    assert "colour" in refuse(capsys, protect(path, fields="region,colour"))


def test_a_missing_extra_is_one_sentence_with_the_line_to_install(path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install 'gpuga[microdata]'" in refuse(capsys, tabulate(path))
