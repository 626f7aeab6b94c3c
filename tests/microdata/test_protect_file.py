"""A protected file, judged by an independent re-count: plain Python on the file that was written, and SQL."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from itertools import combinations

import duckdb
import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.errors import Infeasible
from gpuga.microdata import MicrodataParameters, protect_file

FIELDS = ("age", "zip", "job", "sex", "size")
RECODE = {"age": "width:5,20", "zip": "prefix:2,1", "job": "file:{jobs}", "size": "ranges:1-2;3-5;6-|1-5;6-"}


def write_random_file(path, seed: int) -> tuple[str, ...]:
    """A small file with blanks, quotes and skew; returns its identifying fields."""
    rng = random.Random(seed)
    jobs = ["cook", 'clerk "A"', "smith, black", "müller", "judge"]
    rows = [
        {
            "id": i,
            "age": rng.randint(15, 15 + rng.choice([5, 40])),
            "zip": rng.choice(["1011", "1012", "1105", "2033", "2034"]),
            "job": rng.choice(jobs),
            "sex": rng.choice(["f", "m", "m", ""]),
            "size": min(rng.randint(1, 9), rng.randint(1, 9)),
            "income": rng.randint(0, 99999),
        }
        for i in range(rng.randint(3, 60))
    ]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tuple(rng.sample(FIELDS, rng.randint(1, 5)))


def write_jobs(path) -> None:
    with open(path, "w", newline="") as file:
        lines = [("job", "kind"), ("cook", "hand"), ('clerk "A"', "head"), ("smith, black", "hand")]
        csv.writer(file).writerows([*lines, ("müller", "hand"), ("judge", "head")])


def rare(path, fields, dimension: int, threshold: int) -> list[tuple]:
    """Combinations of present scores on up to `dimension` fields that too few records of a file share."""
    with open(path, newline="") as file:
        records = list(csv.DictReader(file))
    found = []
    for size in range(1, dimension + 1):
        for key in combinations(fields, size):
            scores = [tuple(r[f] for f in key) for r in records]
            counts = Counter(s for s in scores if not {"", "missing"} & set(s))
            found += [(key, s) for s, n in counts.items() if n < threshold]
    return found


@pytest.mark.parametrize("cases", [range(8), pytest.param(range(8, 500), marks=pytest.mark.slow)])
def test_after_protection_plain_python_finds_no_rare_combination(tmp_path, cases):
    write_jobs(tmp_path / "jobs.csv")
    for seed in cases:
        rng = random.Random(seed)
        fields = write_random_file(tmp_path / "m.csv", seed)
        recode = {f: r.format(jobs=tmp_path / "jobs.csv") for f, r in RECODE.items() if f in fields}
        search = rng.choice(["iterative", "repeated", "tabu", "annealing", "exact"])
        parameters = MicrodataParameters(
            fields, dimension=rng.randint(1, 4), threshold=rng.randint(1, 5), recode=recode, search=search,
            cost=rng.choice(["entropy", "linear"]), exact=rng.random() < 0.8, evaluations=30,
        )  # fmt: skip
        protection = protect_file(tmp_path / "m.csv", tmp_path / "out.csv", parameters, seed=seed)
        assert rare(tmp_path / "out.csv", fields, parameters.dimension, parameters.threshold) == [], seed
        assert protection.cost >= protection.bound.value, seed
        assert_only_identifying_fields_changed(tmp_path / "m.csv", tmp_path / "out.csv", fields)


def assert_only_identifying_fields_changed(before, after, fields) -> None:
    with open(before, newline="") as old, open(after, newline="") as new:
        pairs = list(zip(csv.DictReader(old), csv.DictReader(new), strict=True))
    for original, protected in pairs:
        assert list(original) == list(protected)
        for name, value in original.items():
            if name not in fields or value == "":
                assert protected[name] == value


def test_sql_finds_no_rare_combination_in_a_larger_file(tmp_path):
    rng = np.random.default_rng(8)
    names = [f"f{i}" for i in range(8)]
    scores = np.minimum(rng.geometric(0.25, (20_000, 8)), 12)
    np.savetxt(tmp_path / "m.csv", scores, "%d", ",", header=",".join(names), comments="")
    parameters = MicrodataParameters(tuple(names), 3, 3, recode={"f0": "width:2,6", "f1": "width:4"}, evaluations=4)
    protection = protect_file(tmp_path / "m.csv", tmp_path / "out.parquet", parameters)
    assert protection.remaining == 0
    connection = duckdb.connect()
    for size in (1, 2, 3):
        for key in combinations(names, size):
            present = " AND ".join(f"{f} <> 'missing'" for f in key)
            columns = ", ".join(key)
            sql = f"SELECT count(*) FROM (SELECT 1 FROM '{tmp_path}/out.parquet' WHERE {present}"
            found = connection.execute(f"{sql} GROUP BY {columns} HAVING count(*) < 3)").fetchone()
            assert found == (0,), key


def test_where_missing_could_be_anything_the_papers_model_is_enough(tmp_path):
    for seed in range(12):
        fields = write_random_file(tmp_path / "m.csv", seed)
        parameters = MicrodataParameters(fields, 2, 3, search="exact", missing_matches="anything")
        protection = protect_file(tmp_path / "m.csv", tmp_path / "out.csv", parameters)
        assert protection.suppressed.rounds <= 1
        assert protection.cost == protection.bound.value  # proven optimal
        with open(tmp_path / "m.csv", newline="") as old, open(tmp_path / "out.csv", newline="") as new:
            before, after = list(csv.DictReader(old)), list(csv.DictReader(new))
        for key in (k for n in (1, 2) for k in combinations(fields, n)):
            counts = Counter(tuple(r[f] for f in key) for r in before)
            for original, shown in zip(before, after, strict=True):
                scores = tuple(original[f] for f in key)
                if "" not in scores and counts[scores] < 3:
                    assert "missing" in {shown[f] for f in key}


def test_the_same_seed_gives_the_same_file(tmp_path):
    fields = write_random_file(tmp_path / "m.csv", 5)
    for name in ("one.csv", "two.csv"):
        protect_file(tmp_path / "m.csv", tmp_path / name, MicrodataParameters(fields, search="annealing"), seed=3)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_the_command_tells_what_it_did_and_why(tmp_path, capsys):
    (tmp_path / "m.csv").write_text("age,sex\n" + "".join(f"{20 + i % 7},{'fm'[i % 2]}\n" for i in range(30)))
    out, account = tmp_path / "out.csv", tmp_path / "a.json"
    arguments = f"microdata protect {tmp_path}/m.csv --fields age,sex --dimension 2 --threshold 4 --out {out}"
    costs = "--cost linear --suppress-cost age=5 --recode-cost age=1,3"
    assert run([*f"{arguments} {costs} --recode age=width:2,10 --search exact --json {account}".split()]) == 0
    told = json.loads(account.read_text())
    assert told["remaining_unsafe"] == 0
    assert told["unsafe_before"]["records"] > 0
    assert [(r["field"], r["unsafe_with"]) for r in told["recodings"]] == [("age", 0)]
    assert told["recodings"][0]["unsafe_without"] > 0
    assert told["suppressions"] == {"age": 0, "sex": 0}
    assert told["optimal"]
    assert told["cost"] == told["lower_bound"] == told["recoding_cost"]
    assert "remaining unsafe: 0" in capsys.readouterr().out


def test_thresholds_by_size_keys_by_name_and_caps(tmp_path):
    write_random_file(tmp_path / "m.csv", 12)
    common = f"microdata protect {tmp_path}/m.csv --fields age,zip,sex --out {tmp_path}/out.csv --quiet"
    assert run([*f"{common} --dimension 2 --threshold 1:4,2:2".split()]) == 0
    assert rare(tmp_path / "out.csv", ("age", "zip", "sex"), 1, 4) == []
    assert rare(tmp_path / "out.csv", ("age", "zip", "sex"), 2, 2) == []
    assert run([*f"{common} --dimension 0 --key age,sex:3 --recode age=prefix:1,0".split()]) == 0


def test_caps_that_cannot_be_kept_are_infeasible(tmp_path):
    (tmp_path / "m.csv").write_text("a,b\n1,x\n2,x\n3,x\n")
    with pytest.raises(Infeasible, match="caps on suppressions of a"):
        protect_file(tmp_path / "m.csv", tmp_path / "out.csv", MicrodataParameters(("a",), 1, 2, caps={"a": 1}))
    assert not (tmp_path / "out.csv").exists()


def test_a_hierarchy_file_gives_the_levels_of_a_recoding(tmp_path):
    (tmp_path / "r.hrc").write_text("North\n@n1\n@n2\nSouth\n@s1\n@s2\n")
    (tmp_path / "m.csv").write_text("region\n" + "n1\n" * 2 + "n2\n" * 2 + "s1\n" * 4 + "s2\n" * 4)
    rules, costs = {"region": f"hrc:{tmp_path}/r.hrc"}, {"region": [1.0]}
    parameters = MicrodataParameters(("region",), 1, 4, recode=rules, cost="linear", search="exact", recode_cost=costs)
    protect_file(tmp_path / "m.csv", tmp_path / "out.csv", parameters)
    assert (tmp_path / "out.csv").read_text().split() == ["region"] + ["North"] * 4 + ["South"] * 8
