"""What the attacker knows can be said in every command that judges, and is said back."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from gpuga.cli.main import run

KNOWS = "attacker: knows that values are whole numbers"
DOES_NOT = "attacker: does not know that values are whole numbers"


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """Eight ones in a block of 2 x 2 x 2 among published counts: safe for linear attackers at levels of 15 %."""
    rows = ["a,b,c,value,status"]
    for a, b, c in itertools.product("pq", repeat=3):
        rows.append(f"{a},{b},{c},{1 if (a, b, c) != ('q', 'q', 'q') else 3},u")
    for a, b, c in [("r", "p", "p"), ("p", "r", "p"), ("p", "p", "r")]:
        rows.append(f"{a},{b},{c},7,s")
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def pattern(known: Path) -> Path:
    path = known.parent / "p.csv"
    path.write_text("a,b,c,suppression\n")
    return path


@pytest.mark.parametrize("command", ["protect", "audit", "expose", "bound", "compare"])
@pytest.mark.parametrize(("word", "line"), [("auto", KNOWS), ("yes", KNOWS), ("no", DOES_NOT)])
def test_every_command_says_what_the_attacker_knows(
    known: Path, pattern: Path, command: str, word: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {
        "audit": [str(pattern)],
        "protect": ["--method", "hypercube", "--out", str(known.parent / "out.csv")],
        "compare": ["--methods", "hypercube"],
    }
    assert run([command, str(known), *more.get(command, []), "--whole", word]) in (0, 1)
    assert line in capsys.readouterr().out.splitlines()


def test_the_summary_and_the_audit_keep_what_the_attacker_knows(known: Path, pattern: Path) -> None:
    summary, verdict = known.parent / "s.json", known.parent / "a.json"
    out = ["--method", "hypercube", "--out", str(known.parent / "out.csv"), "--json", str(summary), "--quiet"]
    for word, knows in (("yes", True), ("no", False)):
        assert run(["protect", str(known), *out, "--whole", word]) == 0
        assert json.loads(summary.read_text())["whole"] is knows
        run(["audit", str(known), str(pattern), "--whole", word, "--json", str(verdict), "--quiet"])
        content = json.loads(verdict.read_text())
        assert content["whole"] is knows
        assert content["undecided"] == []


ZERO = "r,c,value,status,lower,upper\na,x,20,u,0,0\na,y,30,s,,\nb,x,40,s,,\nb,y,50,s,,\n"


def test_a_sensitive_cell_without_levels_must_not_be_exactly_known_unless_that_is_waived(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, pattern = tmp_path / "t.csv", tmp_path / "p.csv"
    table.write_text(ZERO)
    pattern.write_text("r,c,suppression\n")
    assert run(["audit", str(table), str(pattern)]) == 1
    assert "1 sensitive cell has no level: it must not be exactly known" in capsys.readouterr().out
    assert run(["audit", str(table), str(pattern), "--level-zero", "ignore"]) == 0
    assert "1 sensitive cell has no level: nothing is asked of it (--level-zero ignore)" in capsys.readouterr().out


def test_a_table_with_decimals_has_no_attacker_who_knows_that_it_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(ZERO.replace("30", "30.5"))
    assert run(["expose", str(table), "--whole", "yes"]) == 2
    assert "not a whole number" in capsys.readouterr().err


def test_what_the_time_does_not_suffice_for_is_not_safe_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.jj"
    made = ["smith3d", "--shape", "6x5x4", "--sensitive", "0.2", "--zeros", "0.1", "--out", str(table), "--quiet"]
    assert run(["generate", *made]) == 0
    pattern = tmp_path / "p.csv"
    assert run(["protect", str(table), "--method", "hypercube", "--out", str(pattern), "--quiet"]) == 0
    capsys.readouterr()
    assert run(["expose", str(table), "--seconds", "1e-9"]) == 0
    assert "time limit" in capsys.readouterr().out
    assert run(["audit", str(table), str(pattern), "--seconds", "1e-9"]) == 1
    assert "time limit" in capsys.readouterr().out
    assert run(["audit", str(table), str(pattern), "--seconds", "1e-9", "--show"]) == 1
    assert " or wider (time limit)" in capsys.readouterr().out
