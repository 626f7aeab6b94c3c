"""The commands keep their contract: files, schemas, exit codes, silence where silence is asked for."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuga.cli import main
from gpuga.cli.main import COMMANDS, run
from gpuga.context import Clock

ROOT = Path(__file__).parents[2]
SERPELL_LEVELS = ["--levels", "max(1,10%)"]
SUMMARY = {
    "audience", "notice", "whole",
    "schema", "cells", "equations", "sensitive", "method", "backend", "lp", "seed", "secondary", "cost",
    "lower_bound", "gap", "optimal", "safe", "audited", "repaired", "generations", "evaluations", "seconds",
    "version", "parameters", "device", "losses", "details",
}  # fmt: skip

# the published six by six example of Serpell et al. 2008: sensitive cells by their number, then all values
SENSITIVE = {8, 12, 15, 16, 19, 20, 24, 27}
VALUES = [
    [1472, 193, 278, 203, 294, 233, 271],
    [199, 9, 51, 41, 47, 3, 48],
    [164, 8, 1, 54, 44, 45, 12],
    [245, 8, 70, 6, 76, 64, 21],
    [248, 33, 46, 45, 27, 37, 60],
    [312, 87, 51, 18, 35, 49, 72],
    [304, 48, 59, 39, 65, 35, 58],
]


@pytest.fixture
def serpell(tmp_path: Path) -> Path:
    rows = ["row,column,value,contributors,sensitive,cell_number"]
    for i, row in enumerate(VALUES):
        for j, value in enumerate(row):
            number = 7 * i + j
            codes = f"{'Total' if i == 0 else 'ABCDEF'[i - 1]},{'Total' if j == 0 else j}"
            rows.append(f"{codes},{value},,{int(number in SENSITIVE)},{number}")
    path = tmp_path / "serpell.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def class1(tmp_path: Path) -> Path:
    path = tmp_path / "class1.csv"
    assert (
        run(
            [
                "generate",
                "class1",
                "--rows",
                "20",
                "--cols",
                "20",
                "--seed",
                "2",
                "--out",
                str(path),
                "--quiet",
            ]
        )
        == 0
    )
    return path


def program(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpuga", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload, no-any-return]


def test_expose_gives_the_published_sets(serpell: Path, tmp_path: Path) -> None:
    out = tmp_path / "exposure.json"
    assert run(["expose", str(serpell), *SERPELL_LEVELS, "--json", str(out), "--quiet"]) == 0
    assert json.loads(out.read_text()) == {
        "audience": "office",
        "notice": "CONFIDENTIAL: internal use only",
        "exposed": [16, 19, 20, 24, 27],
        "initially_exposed": [16, 19, 24],
        "consequentially_exposed": [20, 27],
        "not_exposed": [8, 12, 15],
    }


def test_audit_of_the_published_optimum_is_safe(
    serpell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern, out = tmp_path / "pattern.csv", tmp_path / "audit.json"
    pattern.write_text("cell_number,suppression\n37,secondary\n38,secondary\n40,secondary\n")
    assert run(["audit", str(serpell), str(pattern), *SERPELL_LEVELS, "--json", str(out)]) == 0
    assert "safe: all 8" in capsys.readouterr().out
    verdict = json.loads(out.read_text())
    assert verdict["safe"] is True
    assert verdict["audited"] == 8
    assert verdict["audience"] == "office"
    assert {c["cell"] for c in verdict["cells"]} == SENSITIVE | {37, 38, 40}
    assert all(set(c) == {"cell", "kind", "safe", "min", "max"} for c in verdict["cells"])


def test_audit_names_the_cells_that_are_not_safe(
    serpell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern = tmp_path / "pattern.csv"
    pattern.write_text("cell_number,suppression\n37,secondary\n38,secondary\n")
    assert run(["audit", str(serpell), str(pattern), *SERPELL_LEVELS]) == 1
    said = capsys.readouterr().out
    assert "not safe" in said
    assert "cell 19 (row=B, column=5)" in said


def test_protect_writes_a_safe_pattern_and_its_summary(class1: Path, tmp_path: Path) -> None:
    pattern, summary = tmp_path / "pattern.csv", tmp_path / "summary.json"
    assert (
        run(
            [
                "protect",
                str(class1),
                "--out",
                str(pattern),
                "--json",
                str(summary),
                "--method",
                "hypercube",
                "--quiet",
            ]
        )
        == 0
    )
    content = json.loads(summary.read_text())
    assert set(content) == SUMMARY
    assert content["safe"] is True
    assert content["audited"] == content["sensitive"]
    rows = list(csv.DictReader(pattern.open()))
    assert len(rows) == 441
    assert all((row["value"] == "") == (row["suppression"] != "published") for row in rows)
    assert sum(row["suppression"] == "secondary" for row in rows) == content["secondary"]
    assert run(["audit", str(class1), str(pattern), "--quiet"]) == 0


def test_the_same_seed_gives_the_same_pattern(class1: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        assert (
            run(
                [
                    "protect",
                    str(class1),
                    "--out",
                    str(tmp_path / name),
                    "--seed",
                    "5",
                    "--method",
                    "hypercube",
                    "--quiet",
                ]
            )
            == 0
        )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_protect_takes_patterns_to_start_from(class1: Path, tmp_path: Path) -> None:
    """What an exact method found is kept by one that finds nothing as cheap on its own."""
    costs = {}
    begun = ["protect", str(class1), "--quiet", "--method"]
    start = ["--start", str(tmp_path / "exact.csv")]
    short = ["gapn", "--generations", "1", "--population", "4"]
    for name, words in {"exact": ["exact"], "alone": short, "led": [*short, *start]}.items():
        files = ["--out", str(tmp_path / f"{name}.csv"), "--json", str(tmp_path / f"{name}.json")]
        assert run([*begun, *words, *files]) == 0
        costs[name] = json.loads((tmp_path / f"{name}.json").read_text())["cost"]
    assert costs["led"] == costs["exact"] < costs["alone"]


def test_quiet_prints_nothing(class1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["protect", str(class1), "--out", str(tmp_path / "p.csv"), "--method", "hypercube", "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_no_suppressed_value_is_ever_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    values = {("a", "x"): 7654321, ("a", "y"): 8765432, ("b", "x"): 9876543, ("b", "y"): 9988776}
    rows = [f"{r},{c},{value},{'u' if value == 7654321 else 's'}" for (r, c), value in values.items()]
    table.write_text("r,c,value,status\n" + "\n".join(rows) + "\n")
    pattern, summary = tmp_path / "p.csv", tmp_path / "s.json"
    assert run(["protect", str(table), "--out", str(pattern), "--json", str(summary), "--method", "hypercube"]) == 0
    said = capsys.readouterr()
    everything = said.out + said.err + pattern.read_text()
    hidden = [row for row in csv.DictReader(pattern.open()) if row["suppression"] != "published"]
    assert len(hidden) >= 4
    for row, column in ((r, c) for r in ("a", "b", "Total") for c in ("x", "y", "Total")):
        if any(h["r"] == row and h["c"] == column for h in hidden):
            value = sum(v for (r, c), v in values.items() if row in (r, "Total") and column in (c, "Total"))
            assert str(value) not in everything
            assert str(value / 10) not in everything
    assert "7654321" not in summary.read_text()


def test_what_cannot_be_protected_ends_in_exit_code_3_and_names_the_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, pattern = tmp_path / "t.csv", tmp_path / "p.csv"
    table.write_text("r,c,value,status\na,x,50,u\na,y,7,z\nb,x,9,z\nb,y,8,z\na,Total,57,z\n")
    assert run(["protect", str(table), "--out", str(pattern), "--method", "hypercube"]) == 3
    assert "cell 0 (r=a, c=x)" in capsys.readouterr().err
    assert not pattern.exists()


def test_bad_places_for_results_are_said_before_the_work(class1: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["protect", str(class1), "--out", "/no/such/folder/p.csv"]) == 2
    assert run(["protect", str(class1), "--out", str(class1.parent)]) == 2
    assert run(["protect", str(class1), "--out", str(class1.parent / "p.csv"), "--method", "magic"]) == 2
    assert run(["protect", str(class1), "--out", str(class1.parent / "p.csv"), "--resume"]) == 2
    assert capsys.readouterr().err.count("\n") == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["class1", "--rows", "5", "--cols", "6"],
        ["class2", "--rows", "5", "--cols", "6"],
        ["herrington", "--rows", "10", "--cols", "10", "--sensitive", "1%"],
        ["smith2d", "--rows", "9", "--cols", "8", "--sensitive", "0.1", "--zeros", "0.25"],
        ["smith3d", "--shape", "9x8x7", "--sensitive", "0.2", "--zeros", "0.1", "--hierarchical", "2"],
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".jj"])
def test_every_generator_writes_tables_that_load(arguments: list[str], suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"t{suffix}"
    assert run(["generate", *arguments, "--seed", "7", "--out", str(out)]) == 0
    options = [f"--hierarchy={p.name.split('.')[1]}={p}" for p in tmp_path.glob("*.hrc")]
    assert run(["expose", str(out), *options, "--quiet"]) == 0


def test_methods_and_doctor_have_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods"]) == 0
    assert "hypercube" in capsys.readouterr().out
    assert run(["doctor"]) == 0
    said = capsys.readouterr().out
    for word in ("numpy", "cpu", "cuda", "highs", "cuopt"):
        assert word in said


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out
    shown = [name for name in COMMANDS if f"\n  {name} " in listed]
    assert len(shown) >= 10
    for name in shown:
        assert run([name, "--help"]) == 0
        assert "Usage: gpuga" in capsys.readouterr().out


def test_unknown_commands_and_options_end_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["protekt"]) == 2
    assert run(["expose", "t.csv", "--colour", "red"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_an_internal_fault_shows_no_traceback_and_no_text(
    monkeypatch: pytest.MonkeyPatch, class1: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the value is 4711")

    monkeypatch.setattr("gpuga.files.read.read_source", broken)
    assert run(["expose", str(class1)]) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert "4711" not in said


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'numba', 'scipy', 'highspy', 'cupy', 'deap'}"
    code = (
        "import sys; from gpuga.cli.main import run; code = run(['--help']); "
        f"print(code, sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "0 []"


def test_importing_the_package_is_light() -> None:
    heavy = "{'numpy', 'numba', 'scipy', 'highspy', 'cupy', 'deap', 'click', 'rich'}"
    code = f"import sys, gpuga; print(sorted(m for m in sys.modules if m.split('.')[0] in {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_module_is_the_same_program() -> None:
    done = program("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("gpuga, version")


def test_an_interrupted_clock_has_no_time_left() -> None:
    clock = Clock(1000)
    assert not clock.expired()
    clock.interrupt()
    assert clock.expired()
    assert clock.left() == 0


def test_ctrl_c_ends_with_the_best_pattern_or_says_that_there_is_none(tmp_path: Path) -> None:
    table, pattern = tmp_path / "t.csv", tmp_path / "p.csv"
    made = [
        "generate",
        "class2",
        "--rows",
        "40",
        "--cols",
        "40",
        "--seed",
        "1",
        "--out",
        str(table),
        "--quiet",
    ]
    assert run(made) == 0
    command = [sys.executable, "-m", "gpuga", "protect", str(table), "--out", str(pattern)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    running.stdout.readline()  # the table has been read: the handler is about to be in place
    time.sleep(0.5)
    if running.poll() is None:
        os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=120)
    assert "Traceback" not in said
    assert running.returncode in (0, 1, 4)
    assert pattern.exists() == (running.returncode == 0)


@pytest.mark.parametrize(
    "fault", [MemoryError(), OSError(12, "Cannot allocate memory"), ImportError("x.so: cannot map zero-fill pages")]
)
def test_a_lack_of_memory_is_said_however_it_shows(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("compiling failed") from fault

    monkeypatch.setattr(main.cli, "main", fail)
    assert main.run(["methods"]) == 1
    assert "memory" in capsys.readouterr().err


def test_the_summary_has_what_the_papers_algorithms_count(class1: Path, tmp_path: Path) -> None:
    for method, counted in (("castro", "failed_levels"), ("hypercube", "levels_without_rectangle"),
                            ("heurgene", "infeasible_offspring")):  # fmt: skip
        out, said = tmp_path / f"{method}.csv", tmp_path / f"{method}.json"
        words = ["protect", str(class1), "--out", str(out), "--json", str(said), "--method", method, "--as-published"]
        assert run([*words, "--quiet"]) == 0
        assert isinstance(json.loads(said.read_text())["details"][counted], int)
