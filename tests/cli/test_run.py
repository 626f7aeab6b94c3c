"""`gpuga run`: many tables with one command, skipped when done, done again when they died."""

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

from gpuga.cli import job as at_worker
from gpuga.cli.main import run
from gpuga.cli.run import _time_of
from gpuga.cluster import workers
from gpuga.table.generate import herrington
from tests.cluster.conftest import Here

ROOT = Path(__file__).parents[2]


@pytest.fixture
def office(tmp_path: Path) -> Path:
    from gpuga import write_table

    for seed in (1, 2, 3):
        write_table(herrington(6, 6, 0.1, seed), tmp_path / f"t{seed}.csv")
    (tmp_path / "jobs.toml").write_text('[options]\nseed = 4\n[[job]]\ntables = "t*.csv"\n')
    return tmp_path


@pytest.fixture(autouse=True)
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All jobs are done in this process; which, is noted."""
    noted: list[str] = []
    work = at_worker.work

    def noting(text: str) -> str:
        noted.append(Path(json.loads(text)["folder"]).name.rpartition("-")[0])
        return work(text)

    monkeypatch.setattr(at_worker, "work", noting)
    monkeypatch.setattr(workers, "find_workers", lambda cluster, wanted: Here(wanted))
    return noted


def rows(office: Path) -> dict[str, dict[str, str]]:
    lines = (office / "jobs-jobs" / "summary.csv").read_text().splitlines()[1:]
    return {row["job"]: row for row in csv.DictReader(lines)}


def test_all_tables_are_protected_and_nothing_is_done_twice(office: Path, done: list[str]) -> None:
    jobs = str(office / "jobs.toml")
    assert run(["run", jobs, "--quiet"]) == 0
    assert done == ["t1", "t2", "t3"]
    assert {row["state"] for row in rows(office).values()} == {"safe"}
    assert run(["run", jobs, "--quiet"]) == 0
    assert len(done) == 3
    (office / "t2.csv").write_text((office / "t3.csv").read_text())
    assert run(["run", jobs, "--quiet"]) == 0
    assert done[3:] == ["t2"]


def test_job_folders_are_private_and_hold_pattern_and_summary(office: Path) -> None:
    assert run(["run", str(office / "jobs.toml"), "--quiet"]) == 0
    folders = [path for path in (office / "jobs-jobs").iterdir() if path.is_dir()]
    assert len(folders) == 3
    for folder in (*folders, office / "jobs-jobs"):
        assert folder.stat().st_mode & 0o777 == 0o700
    for folder in folders:
        assert json.loads((folder / "summary.json").read_text())["safe"] is True
        number = folder.name[1]
        audited = ["audit", str(office / f"t{number}.csv"), str(folder / "pattern.csv"), "--quiet"]
        assert run(audited) == 0


def test_a_missing_output_is_made_again(office: Path, done: list[str]) -> None:
    (office / "jobs.toml").write_text(
        '[[job]]\ntable = "t1.csv"\noutputs = { pattern = "p.csv", public = "open.csv", report = "r.html", '
        'proof = "t1.proof" }\n'
    )
    jobs = str(office / "jobs.toml")
    assert run(["run", jobs, "--quiet"]) == 0
    assert all((office / name).exists() for name in ("p.csv", "open.csv", "r.html", "t1.proof"))
    assert run(["verify", str(office / "t1.csv"), str(office / "p.csv"), str(office / "t1.proof")]) == 0
    (office / "open.csv").unlink()
    assert run(["run", jobs, "--quiet"]) == 0
    assert (office / "open.csv").exists()
    assert len(done) == 2


def test_a_dry_run_says_what_would_run_and_writes_nothing(
    office: Path, done: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = office / "jobs.toml"
    assert run(["run", str(jobs), "--dry-run", "--workers", "2"]) == 0
    said = capsys.readouterr().out
    assert "t1: would run\n" in said
    assert "3 of 3 jobs would run; how long that takes is not known" in said
    assert not (office / "jobs-jobs").exists()
    jobs.write_text(jobs.read_text().replace("seed = 4", "seed = 4\nseconds = 10"))
    assert run(["run", str(jobs), "--dry-run", "--workers", "2"]) == 0
    said = capsys.readouterr().out
    assert "t1: would run, about 13 s at most" in said
    assert "3 of 3 jobs would run: about 20 s on 2 workers\n" in said
    assert not done


def test_a_dry_run_counts_the_jobs_of_which_nothing_is_known() -> None:
    assert (
        _time_of([4.0, None, 6.0], 1)
        == ": about 10 s on 1 worker, and 1 without a time limit, of which nothing is known"
    )
    assert _time_of([], 2) == ""


def test_the_exit_code_says_whether_all_are_safe(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (office / "t2.csv").write_text("row,column,value\nA,B,not a number\n")
    assert run(["run", str(office / "jobs.toml")]) == 2
    said = capsys.readouterr().out
    assert "3 jobs: 1 bad input, 2 safe" in said
    assert "t2: " in said
    assert rows(office)["t2"]["state"] == "bad input"
    cells = ["A,B,5,u", "A,C,4,z", "A,Total,9,z", "D,B,3,z", "D,C,2,z", "D,Total,5,z"]
    cells += ["Total,B,8,z", "Total,C,6,z", "Total,Total,14,z"]
    (office / "t3.csv").write_text("\n".join(["row,column,value,status", *cells]))
    assert run(["run", str(office / "jobs.toml"), "--quiet"]) == 1, "codes differ"
    assert rows(office)["t3"]["state"] == "no safe pattern"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("populaton = 5", "populaton: is not an option of gpuga protect"),
        ('lp = "nothing"', "'nothing' is not one of"),
        ("seed = [[1]]", "must be a text, a number, true or false"),
        ('table = "x"', "table: is not an option of gpuga protect"),
    ],
)
def test_options_that_the_command_does_not_take_are_refused_before_anything_runs(
    office: Path, done: list[str], options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (office / "jobs.toml").write_text(f'[options]\n{options}\n[[job]]\ntables = "t*.csv"\n')
    assert run(["run", str(office / "jobs.toml")]) == 2
    assert said in capsys.readouterr().err
    assert not done


def test_a_pattern_of_another_job_is_used(office: Path, done: list[str]) -> None:
    (office / "again.csv").write_text((office / "t1.csv").read_text())
    (office / "jobs.toml").write_text(
        '[[job]]\ntable = "again.csv"\noptions = { start = "@t1", strict = false }\n[[job]]\ntable = "t1.csv"\n'
    )
    assert run(["run", str(office / "jobs.toml"), "--quiet"]) == 0
    assert done == ["t1", "again"]


def test_tasks_of_a_slurm_array_share_the_jobs(office: Path, done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MIN", "1"), ("MAX", "3"), ("STEP", "2")):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    jobs = ["run", str(office / "jobs.toml"), "--quiet"]
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    assert run(jobs) == 0
    assert done == ["t2"]
    assert rows(office)["t1"]["state"] == "open"
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "1")
    assert run(jobs) == 0
    assert done == ["t2", "t1", "t3"]
    assert {row["state"] for row in rows(office).values()} == {"safe"}


def test_an_array_that_makes_no_sense_is_refused(
    office: Path, done: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("ID", "1"), ("MIN", "0"), ("MAX", "many"), ("STEP", "1")):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    assert run(["run", str(office / "jobs.toml")]) == 2
    assert "are not the numbers of a task in an array" in capsys.readouterr().err
    assert not done


def test_a_run_that_is_killed_goes_on_where_it_was(office: Path, done: list[str]) -> None:
    command = [sys.executable, "-m", "gpuga", "run", str(office / "jobs.toml"), "--workers", "1", "--quiet"]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as first:
        results: list[Path] = []
        while not results and first.poll() is None:
            results = [*office.glob("jobs-jobs/*/result.json")]
            time.sleep(0.01)
        os.killpg(first.pid, signal.SIGKILL)
    before = {path.parent.name.rpartition("-")[0] for path in office.glob("jobs-jobs/*/result.json")}
    assert before
    assert run(["run", str(office / "jobs.toml"), "--quiet"]) == 0
    assert {*done}.isdisjoint(before)
    assert {*done} | before == {"t1", "t2", "t3"}
