"""The risk of a file without protecting it, by key, with weights and a sensitive field; judged by plain counting."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.microdata import MicrodataParameters, RiskParameters, file_risk, protect_file


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(6)
    rows = [
        f"{rng.integers(20, 26)},{'fm'[rng.integers(2)]},{['', 'cook', 'clerk', 'judge'][rng.integers(4)]},"
        f"{rng.integers(1, 9)}.5,{'abc'[rng.integers(3)]}"
        for _ in range(80)
    ]
    path = tmp_path / "people.csv"
    path.write_text("age,sex,job,weight,illness\n" + "\n".join(rows) + "\n")
    return path


def test_every_figure_is_that_of_plain_counting(people: Path) -> None:
    fields = ("age", "sex", "job")
    found = file_risk(people, RiskParameters(fields, 3, 3, weight="weight", sensitive="illness"))
    with open(people, newline="") as file:
        records = list(csv.DictReader(file))
    unsafe = set()
    keys = [key for size in (1, 2, 3) for key in combinations(fields, size)]
    assert [tuple(one["key"]) for one in found["keys"]] == keys
    for one, key in zip(found["keys"], keys, strict=True):
        scores = [tuple(r[f] for f in key) for r in records]
        counts = Counter(s for s in scores if "" not in s)
        rare = {s for s, n in counts.items() if n < 3}
        unsafe |= {i for i, s in enumerate(scores) if s in rare}
        ill = defaultdict(set)
        for record, s in zip(records, scores, strict=True):
            ill[s].add(record["illness"])
        least = {s: len(ill[s]) for s in counts}
        assert one["combinations"] == len(counts)
        assert one["k"] == min(counts.values())
        assert one["uniques"] == sum(n == 1 for n in counts.values())
        assert one["unsafe_combinations"] == len(rare)
        assert one["unsafe_records"] == sum(counts[s] for s in rare)
        assert one["l"] == min(least.values())
        assert one["records_below_l"] == sum(counts[s] for s in counts if least[s] < 2)
    assert found["unsafe_records"] == len(unsafe)
    scores = [tuple(r[f] for f in fields) for r in records]
    groups = Counter(s for s in scores if "" not in s)
    assert found["all_fields"]["k"] == min(groups.values())
    assert found["all_fields"]["records_by_group_size"]["1"] == sum(n == 1 for n in groups.values())
    shared: Counter[tuple[str, ...]] = Counter()
    for record, s in zip(records, scores, strict=True):
        shared[s] += float(record["weight"])  # type: ignore[assignment]
    whole = [s for s in scores if "" not in s]
    expected = sum(1 / max(shared[s], scores.count(s)) for s in whole)
    assert found["all_fields"]["expected_reidentifications"] == pytest.approx(expected, abs=0.001)
    assert found["all_fields"]["incomplete_records"] == len(scores) - len(whole)
    assert sum(found["all_fields"]["records_by_group_size"].values()) == len(whole)


def test_a_protected_file_has_no_unsafe_record(people: Path) -> None:
    out = people.with_name("o.csv")
    protect_file(people, out, MicrodataParameters(("age", "sex", "job"), 3, 3))
    found = file_risk(out, RiskParameters(("age", "sex", "job"), 3, 3))
    assert (found["unsafe_records"], found["unsafe_combinations"]) == (0, 0)
    assert min(key["k"] for key in found["keys"] if key["k"] is not None) >= 3


def test_the_command_writes_figures_for_the_office_and_no_scores(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = people.with_name("risk.json")
    words = f"microdata risk {people} --fields age,sex,job --weight weight --sensitive illness --json {told}"
    assert run(words.split()) == 0
    content = json.loads(told.read_text())
    assert content["audience"] == "office"
    shown = capsys.readouterr().out
    assert "CONFIDENTIAL" in shown
    assert f"unsafe: {content['unsafe_records']}" in shown
    assert not any(score in shown + told.read_text() for score in ("cook", "clerk", "judge"))


@pytest.mark.parametrize("more", ["--weight nothing", "--sensitive nothing", "--diversity 0", "--fields age,age"])
def test_bad_input_is_one_sentence(people: Path, more: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*f"microdata risk {people} --fields age,sex {more}".split()]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_file_whose_records_are_all_incomplete_has_no_k(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a,b,s\n1,,x\n,2,y\n")
    found = file_risk(tmp_path / "m.csv", RiskParameters(("a", "b"), 2, 2, sensitive="s"))
    assert found["all_fields"]["k"] is None
    assert found["all_fields"]["l"] is None
    assert found["keys"][2]["combinations"] == 0


def test_weights_that_are_no_amounts_are_named(people: Path) -> None:
    people.write_text(people.read_text().replace(".5,", ",", 1).replace("0.5", "0"))
    text = people.read_text().splitlines()
    text[3] = "21,f,cook,0,a"
    people.write_text("\n".join(text) + "\n")
    with pytest.raises(InputError, match="line 4, field weight: is not above 0"):
        file_risk(people, RiskParameters(("age",), weight="weight"))
