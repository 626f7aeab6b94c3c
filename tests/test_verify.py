"""The checker of proofs: reads tables as the program does, accepts what is proven, and refuses everything else."""

from __future__ import annotations

import ast
import contextlib
import gzip
import json
import random
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga import verify
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.read import read_source, write_table
from gpuga.proof_file import Attacked, table_digest
from gpuga.safety.audit import Audit, audit
from gpuga.table.links import link
from gpuga.table.table import Table
from tests.support.proofs import Case, case, sealed, unsealed
from tests.support.small_tables import random_pattern, random_table

CHECKER = Path(verify.__file__)
REGIONS = "North\n@Coast\n@Hills\nSouth\n"
TURNOVER = (
    "region,size,value,status\nCoast,a,20.5,u\nCoast,b,30,s\nHills,a,40,s\nHills,b,50.25,s\nSouth,a,60,s\nSouth,b,7,s\n"
)

FILES = {
    "missing totals": ("region,size,value,status\nA,x,5,u\nA,y,6,s\nB,x,7,s\nB,y,8,s\n", {}),
    "totals in the middle": ("r,v,value,status\nTotal,x,12,s\nA,x,5,u\nB,x,7,s\nA,Total,5,s\n", {}),
    "another total": ("r,value,status\nA,5,u\nB,6,s\nAlle,11,s\n", {"total": "Alle"}),
    "a total of one dimension": (
        "r,c,value,status\nA,x,5,u\nB,x,6,s\nAlle,x,11,s\n",
        {"totals": {"r": "Alle"}},
    ),
    "a dimension that looks reserved": ("Flag,value,status\nA,5,u\nB,6,s\n", {"dimensions": ["Flag"]}),
    "levels of a rule": ("r,s,value,status\nA,x,45,u\nA,y,6,s\nB,x,7.5,s\nB,y,8,s\n", {"levels": "max(1,12.5%)"}),
    "given levels": ("r,s,value,status,upper,sliding\nA,x,45,u,3,\nA,y,6,u,,2.5\nB,x,7,s,,\nB,y,8,u,,\n", {}),
    "bounds": ("r,s,value,lb,ub,status\nA,x,4,1,9.5,u\nA,y,6,,inf,s\nB,x,7,-inf,,s\nB,y,8,2,1e20,s\n", {}),
    "negative values": ("r,s,value,status,lb\nA,x,-4,u,-9\nA,y,6,s,\nB,x,7,s,0\nB,y,8,s,\n", {}),
    "all bounded below": ("r,value,status,lb\nA,-4,u,-9\nB,6,s,0\nTotal,2,s,-9\n", {}),
    "zeros": ("r,s,value,status,upper\nA,x,0,s,\nA,y,6,u,\nB,x,0,u,2\nB,y,8,s,\n", {}),
    "semicolons": ("r;s;value;status\nA;x;4;u\nA;y;6;m\nB;x;7;z\nB;y;8;s\n", {}),
    "quotes and blanks": ('r,s,value,sensitive\n"A, b",x,4,1\n"A, b", y ,6,0\nB,x,7,\nB,y,8,false\n', {}),
    "numbered": ("cell_number,r,s,value,status\n7,A,x,4,u\n8,A,y,6,s\n9,B,x,7,s\n3,B,y,8,s\n", {}),
    "one code": ("r,year,value,status\nA,2020,4,u\nB,2020,6,s\nC,2020,7,s\n", {}),
    "absent cells": ("r,s,value,status\nA,x,4,u\nA,y,6,s\nB,x,7,s\nC,z,9,s\nC,Total,9,s\n", {}),
    "ignored": ("r,note,value,status\nA,p,4,u\nB,q,6,s\nC,r,7,s\n", {"ignore": ("note",)}),
    "groups": ("r,value,status,upper,members\nA,4,u,1,\nB,6,u,1,\nC,7.5,s,,\n,10,,0.25,0 1\n", {}),
    "weights": ("r,s,value,status,weight\nA,x,4,u,1.5\nA,y,6,s,2\nB,x,7,s,3\nB,y,8,s,4\n", {}),
    "counts": (
        "r,s,value,status,contributors\nA,x,4,u,1\nA,y,6,s,2\nB,x,7,s,3\nB,y,8,s,4\n", {"weights": "count"}
    ),
    "logarithms": ("r,value,status\nA,4,u\nB,6,s\nC,7,s\n", {"weights": "log"}),
}  # fmt: skip


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", FILES)
def test_the_checker_reads_a_table_as_the_program_does(kind: str, tmp_path: Path) -> None:
    text, options = FILES[kind]
    path = written(tmp_path, text)
    with pytest.warns() if "negative" in kind else contextlib.nullcontext():
        table = read_source(path, **options).table
    read = verify.read_table(str(path), verify.ReadAs(**options))
    assert read.digest() == table_digest(table)
    assert [w * table.weight_scale for w in read.weight] == table.weight.tolist()
    assert [read.label(c) for c in range(len(table))] == [table.label(c) for c in range(len(table))]


def test_the_checker_reads_hierarchies_as_the_program_does(tmp_path: Path) -> None:
    tree = written(tmp_path, REGIONS, "region.hrc")
    path = written(tmp_path, TURNOVER)
    table = read_source(path, hierarchies={"region": tree}).table
    read = verify.read_table(str(path), verify.ReadAs(hierarchies={"region": [str(tree)]}))
    assert read.digest() == table_digest(table)
    assert len(read.value) == 15


def test_the_checker_reads_jj_tables_as_the_program_does(tmp_path: Path) -> None:
    cells = ["1 5.5 1 u 0 100000000000000000000 0 0 0", "2 4 2.5 s 0 20 0 0 0", "7 9.5 1 s -3 50 1 1 1"]
    text = "\n".join(["0", "3", *cells, "1", "0 3 : 1 (1) 2 (1) 7 (-1)"]) + "\n"
    path = written(tmp_path, text, "table.jj")
    for levels in (None, "10%"):
        read = verify.read_table(str(path), verify.ReadAs(levels=levels))
        assert read.digest() == table_digest(read_source(path, levels=levels).table)


def some_tables() -> list[tuple[str, Table]]:
    rng = np.random.default_rng(5)
    made = []
    for at in range(24):
        shape = [(4, 4), (3, 3, 3), (2, 3, 2, 2)][at % 3]
        table = random_table(rng, shape, sensitive=0.2, sliding=at % 2 == 0, bounded=at % 4 == 1)
        made.append((f"table{at}{'.csv' if at % 4 else '.jj'}", table))
    for at in range(4):
        tables = [random_table(rng, (3, 3), largest=9, sensitive=0.3)]
        made.append((f"linked{at}.jj", link(tables).table))
    return made


@pytest.mark.parametrize("strict", [False, True])
def test_a_proof_is_accepted_where_the_audit_says_safe_and_only_there(strict: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    verdicts = []
    for name, table in some_tables():
        write_table(table, tmp_path / name)
        suppressed = random_pattern(rng, table, 0.75)
        made = case(tmp_path, tmp_path / name, suppressed, Attacked(strict=strict))
        verdicts.append(audit(table, suppressed, strict=strict, intervals=False).safe)
        assert verify.main(made.files) == (0 if verdicts[-1] else 1)
    assert True in verdicts
    assert False in verdicts


def test_secondaries_are_part_of_a_proof_that_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = plane_case(tmp_path, attacked=Attacked(protect_secondary=True))
    assert verify.main([*made.files, "--protect-secondary"]) == 0
    assert "secondaries yes" in capsys.readouterr().out
    made = plane_case(tmp_path)
    assert verify.main([*made.files, "--protect-secondary"]) == 1


def plane_case(folder: Path, attacked: Attacked | None = None) -> Case:
    table = random_table(np.random.default_rng(3), (4, 4), sensitive=0.2, sliding=True)
    path = folder / "plane.csv"
    write_table(table, path)
    return case(folder, path, attacked=attacked)


def space_case(folder: Path) -> Case:
    """A three-way table whose witnesses are fractions."""
    table = random_table(np.random.default_rng(25), (3, 3, 3), sensitive=0.1, bounded=True)
    path = folder / "space.jj"
    write_table(table, path)
    return case(folder, path)


def hierarchy_case(folder: Path) -> tuple[Case, list[str]]:
    tree = written(folder, REGIONS, "region.hrc")
    made = case(folder, written(folder, TURNOVER), hierarchies={"region": tree})
    return made, ["--hierarchy", f"region={tree}"]


def test_a_proof_of_a_hierarchical_table_needs_the_hierarchy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, options = hierarchy_case(tmp_path)
    assert verify.main([*made.files, *options]) == 0
    assert run(["verify", *made.files, *options]) == 0
    capsys.readouterr()
    assert verify.main(made.files) == 2
    assert run(["verify", *made.files]) == 2
    output = capsys.readouterr()
    assert "no cell of the table" in output.err


def test_groups_are_judged_like_cells(tmp_path: Path) -> None:
    rows = "r,s,value,status,upper,lower,members\nA,x,4,u,1,1,\nA,y,6,u,1,1,\nB,x,7,s,,,\nB,y,8,s,,,\n,,10,,2,2,0 1\n"
    made = case(tmp_path, written(tmp_path, rows))
    assert verify.main(made.files) == 0
    hidden = made.source.table.forced.copy()  # A's total is published, so the sum of the pair is known
    made = case(tmp_path, made.table, hidden)
    assert verify.main(made.files) == 1


def test_a_sensitive_cell_with_levels_of_zero_must_not_be_exactly_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "r,value,status,upper,lower\nA,4,u,0,0\nB,6,s,,\nC,7,s,,\n"
    path = written(tmp_path, rows)
    assert verify.main(case(tmp_path, path).files) == 0
    alone = read_source(path).table.forced
    capsys.readouterr()
    assert verify.main(case(tmp_path, path, alone).files) == 1
    assert "no witness shows its sliding level" in capsys.readouterr().out
    assert verify.main(case(tmp_path, path, alone, Attacked(level_zero="ignore")).files) == 0
    assert "level zero ignore" in capsys.readouterr().out


def test_whole_numbers_need_whole_witnesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = plane_case(tmp_path, attacked=Attacked(whole=True))
    assert verify.main([*made.files, "--whole", "yes"]) == 0
    head, first, *others = unsealed(made.proof.read_bytes())
    halved = [2 * first[0], first[1], [2 * a for a in first[2]], *first[3:]]
    made.proof.write_bytes(sealed([head, halved, *others]))
    assert verify.main(made.files) == 1
    assert "not whole" in capsys.readouterr().out
    assert verify.main([*plane_case(tmp_path).files, "--whole", "yes"]) == 1


def test_a_proof_of_another_table_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = plane_case(tmp_path)
    text = made.table.read_text().splitlines()
    at = next(i for i, row in enumerate(text) if ",u," in row)
    text[at] = ",".join([*text[at].split(",")[:-2], "0", "1"])  # other levels
    made.table.write_text("\n".join(text) + "\n")
    assert verify.main(made.files) == 1
    assert "another table" in capsys.readouterr().out


def test_a_pattern_that_publishes_a_primary_or_hides_a_frozen_cell_is_refused(tmp_path: Path) -> None:
    made = plane_case(tmp_path)
    pattern = made.pattern.read_text()
    made.pattern.write_text(pattern.replace("primary", "published", 1))
    assert verify.main(made.files) == 1
    rows = "r,value,status\nA,4,u\nB,6,z\nC,7,s\n"
    made = case(tmp_path, written(tmp_path, rows))
    made.pattern.write_text(made.pattern.read_text().replace("published", "secondary"))
    assert verify.main(made.files) == 1


def test_a_cell_listed_twice_in_a_witness_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two entries of one cell could pass its bounds one by one and break them together."""
    made = plane_case(tmp_path)
    head, (over, cells, amounts, shown, reach), *others = unsealed(made.proof.read_bytes())
    twice = [[*cells, *cells], [*amounts, *amounts], shown, reach]
    made.proof.write_bytes(sealed([head, [over, *twice], *others]))
    assert verify.main(made.files) == 1
    assert "rising order" in capsys.readouterr().out


def test_what_was_changed_is_refused_by_its_checksum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = plane_case(tmp_path)
    data = made.proof.read_bytes()
    made.proof.write_bytes(data.replace(b'strict":false', b'strict":true'))
    assert verify.main(made.files) == 1
    assert "checksum" in capsys.readouterr().out
    for cut in (0, 1, len(data) // 2, len(data) - 20):
        made.proof.write_bytes(data[:cut])
        assert verify.main(made.files) == 1


def test_a_proof_may_be_packed_and_says_first_that_it_is_confidential(tmp_path: Path) -> None:
    made = plane_case(tmp_path)
    head = json.loads(made.proof.read_text().splitlines()[0])
    assert head["notice"] == "CONFIDENTIAL: internal use only"
    assert head["audience"] == "office"
    made.proof.write_bytes(gzip.compress(made.proof.read_bytes(), mtime=0))
    assert verify.main(made.files) == 0


def test_a_packed_proof_that_was_damaged_is_not_readable(tmp_path: Path) -> None:
    made = plane_case(tmp_path)
    packed = gzip.compress(made.proof.read_bytes(), mtime=0)
    for damaged in (packed[:40], packed[:30] + b"\xff" * 9 + packed[39:], packed[:-3]):
        made.proof.write_bytes(damaged)
        assert verify.main(made.files) == 2


def test_lines_that_nothing_refers_to_are_refused(tmp_path: Path) -> None:
    made = plane_case(tmp_path)
    head, *witnesses = unsealed(made.proof.read_bytes())
    for counts, extra in (({"cuts": 1}, [[1]]), ({"witnesses": -1, "cuts": len(witnesses) + 1}, [])):
        made.proof.write_bytes(sealed([head | counts, *witnesses, *extra]))
        assert verify.main(made.files) == 1


def test_no_message_of_the_checker_shows_a_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "r,s,value,status,upper,lower\nA,x,81723,u,1,1\nA,y,6,s,,\nB,x,7,s,,\nB,y,8,s,,\n"
    path = written(tmp_path, rows)
    made = case(tmp_path, path, read_source(path).table.forced)
    for arguments in (made.files, [*made.files, "--strict"]):
        assert verify.main(arguments) == 1
    assert "81723" not in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ what protect writes


def protected(folder: Path, table: Table, *options: str, suffix: str = ".jj") -> list[str]:
    """A table that the program has protected, as arguments of the checker."""
    path = folder / f"protected{suffix}"
    write_table(table, path)
    files = [str(path), str(folder / "protected_pattern.csv"), str(folder / "protected.proof")]
    command = ["protect", files[0], "--out", files[1], "--proof", files[2], "--quiet", "--seconds", "5", *options]
    assert run(command) == 0
    return files


def plane_table(seed: int = 1) -> Table:
    return random_table(np.random.default_rng(seed), (7, 8), sensitive=0.1, largest=60)


def space_table(seed: int = 4) -> Table:
    return random_table(np.random.default_rng(seed), (3, 3, 3), sensitive=0.1, largest=60)


def test_what_protect_writes_is_accepted_with_its_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for table, method in ((plane_table(), "circuits"), (plane_table(), "hypercube"), (space_table(), "exact")):
        files = protected(tmp_path, table, "--method", method)
        capsys.readouterr()
        assert verify.main(files) == 0
        assert "proven" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--strict"], ["--whole", "yes"], ["--protect-secondary"]])
def test_a_proof_covers_what_protect_was_asked_for(options: list[str], tmp_path: Path) -> None:
    for table in (plane_table(), space_table()):
        files = protected(tmp_path, table, *options)
        assert verify.main([*files, *options]) == 0
        assert run(["verify", *files, *options]) == 0
        files = protected(tmp_path, table, "--whole", "no")
        assert verify.main([*files, *options]) == 1


def test_levels_that_are_fractions_are_proven_in_whole_numbers(tmp_path: Path) -> None:
    """Levels of 15 % make units of a hundredth; whole witnesses and their bound count in ones."""
    path = tmp_path / "counts.csv"
    rng = np.random.default_rng(5)
    rows = [f"{a},{b},{c},{rng.integers(1, 60)},s" for a in range(3) for b in range(3) for c in range(3)]
    rows[4] = rows[4].removesuffix("s") + "u"
    path.write_text("\n".join(["a,b,c,value,status", *rows]) + "\n")
    files = [str(path), str(tmp_path / "pattern.csv"), str(tmp_path / "proof.gz")]
    assert run(["protect", files[0], "--out", files[1], "--proof", files[2], "--quiet", "--whole", "yes"]) == 0
    assert verify.main([*files, "--whole", "yes"]) == 0


def test_parquet_tables_are_checked_by_the_command(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    files = protected(tmp_path, plane_table(), suffix=".parquet")
    assert run(["verify", *files]) == 0
    assert verify.main(files) == 2


def test_a_pattern_is_written_even_where_the_time_ends_before_its_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def late(*arguments: object, **options: object) -> Audit:
        return Audit(False, 0, (), False)

    monkeypatch.setattr(import_module("gpuga.protect"), "audit", late)
    path = tmp_path / "table.jj"
    write_table(plane_table(), path)
    pattern, proof = tmp_path / "pattern.csv", tmp_path / "proof"
    command = ["protect", str(path), "--out", str(pattern), "--proof", str(proof), "--method", "hypercube"]
    assert run(command) == 1
    assert pattern.exists()
    assert not proof.exists()
    assert "before its proof was complete" in capsys.readouterr().err


def test_without_a_proof_asked_for_there_is_none_to_write(tmp_path: Path) -> None:
    protection = gpuga.protect(plane_table(), method="hypercube", seconds=5)
    with pytest.raises(InputError, match="proof=True"):
        protection.write_proof(tmp_path / "proof")


# ------------------------------------------------------------------------------------------------ one changed number


def numbers_in(part: object, way: tuple[int | str, ...] = ()) -> list[tuple[int | str, ...]]:
    """The ways to all numbers in the lines of a proof, those written as texts included."""
    if isinstance(part, dict):
        return [w for key, below in part.items() for w in numbers_in(below, (*way, key))]
    if isinstance(part, list):
        return [w for at, below in enumerate(part) for w in numbers_in(below, (*way, at))]
    is_number = type(part) is int or (isinstance(part, str) and part.replace("/", "").isdigit() and len(part) < 64)
    return [way] if is_number else []


def changed(lines: list[object], rng: random.Random) -> list[object]:
    """The lines of a proof with one number changed."""
    copy = json.loads(json.dumps(lines))
    *way, last = rng.choice(numbers_in(copy))
    inner = copy
    for step in way:
        inner = inner[step]
    text, slash, below = str(inner[last]).partition("/")
    number = int(text)
    others = {number + 1, number - 1, 2 * number, -number, number + rng.randint(2, 50)} - {number}
    other = rng.choice(sorted(others))
    inner[last] = f"{other}{slash}{below}" if isinstance(inner[last], str) else other
    return copy


def refused_changes(made: Case, options: list[str], count: int, seed: int) -> None:
    """Change one number of a proof and mend its checksum, again and again: mathematics must notice."""
    rng = random.Random(seed)
    lines = unsealed(made.proof.read_bytes())
    assert verify.main([*made.files, *options]) == 0
    for _ in range(count):
        forged = changed(lines, rng)
        made.proof.write_bytes(sealed(forged))
        assert verify.main([*made.files, *options]) == 1, forged
    made.proof.write_bytes(sealed(lines))


def test_one_changed_number_of_a_bound_is_noticed(tmp_path: Path) -> None:
    for table in (plane_table(), space_table()):
        files = protected(tmp_path, table)
        made = Case(read_source(files[0]), *map(Path, files))
        assert unsealed(made.proof.read_bytes())[0]["cuts"] > 0
        refused_changes(made, [], 60, 8)


def test_one_changed_number_is_noticed(tmp_path: Path) -> None:
    refused_changes(plane_case(tmp_path), [], 60, 1)
    refused_changes(space_case(tmp_path), [], 60, 2)
    refused_changes(*hierarchy_case(tmp_path), 60, 3)


@pytest.mark.slow
def test_two_thousand_proofs_with_one_changed_number_are_refused(tmp_path: Path) -> None:
    refused_changes(plane_case(tmp_path), [], 250, 4)
    refused_changes(plane_case(tmp_path, Attacked(protect_secondary=True)), [], 250, 5)
    refused_changes(space_case(tmp_path), [], 250, 6)
    refused_changes(*hierarchy_case(tmp_path), 250, 7)
    for seed, table in enumerate((plane_table(), plane_table(11), space_table(), space_table(6))):
        files = protected(tmp_path, table)
        refused_changes(Case(read_source(files[0]), *map(Path, files)), [], 250, seed)


# ------------------------------------------------------------------------------------------------ alone


def test_the_checker_needs_nothing_but_the_standard_library() -> None:
    for node in ast.walk(ast.parse(CHECKER.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_checker_alone_in_a_folder_gives_the_same_verdicts(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copy(CHECKER, folder)
    for made, options in ((space_case(tmp_path), []), hierarchy_case(tmp_path)):
        lines = unsealed(made.proof.read_bytes())
        for proof in (lines, changed(lines, random.Random(1)), lines[:-1]):
            made.proof.write_bytes(sealed(proof))
            command = [sys.executable, "-I", "verify.py", *made.files, *options]
            alone = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert alone.returncode == verify.main([*made.files, *options]) == run(["verify", *made.files, *options])


def test_a_proof_of_a_table_with_two_hierarchies_on_one_axis_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = {"p.hrc": "North\n@a\n@b\nSouth\n@c\n@d\n", "z.hrc": "coast\n@a\n@c\ninland\n@b\n@d\n"}
    for name, text in trees.items():
        (tmp_path / name).write_text(text)
    rows = [f"{region},{kind},{7 + 3 * at + 11 * k},{'u' if (at + k) % 3 == 0 else 's'}"
            for at, region in enumerate("abcd") for k, kind in enumerate("xy")]  # fmt: skip
    table, pattern, proof = (str(tmp_path / name) for name in ("t.csv", "pattern.csv", "proof.gz"))
    Path(table).write_text("\n".join(["region,kind,value,status", *rows]) + "\n")
    options = [word for name in trees for word in ("--hierarchy", f"region={tmp_path / name}")]
    common = ["--method", "hypercube", "--whole", "no", "--quiet"]
    assert run(["protect", table, *options, "--out", pattern, "--proof", proof, *common]) == 0
    assert verify.main([table, pattern, proof, *options]) == 0
    assert run(["verify", table, pattern, proof, *options]) == 0
    assert run(["audit", table, pattern, *options]) == 0
    assert verify.main([table, pattern, proof, *options[:2]]) != 0  # the proof is of another table
    capsys.readouterr()
