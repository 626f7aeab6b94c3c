"""Job files say what they mean, and what is wrong with them is said in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.cluster.job_file import TableJob, read_jobs, share_of
from gpuga.errors import InputError


def jobs_of(folder: Path, text: str) -> tuple[TableJob, ...]:
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("x")
    path = folder / "jobs.toml"
    path.write_text(text)
    return read_jobs(path).jobs


def test_options_of_all_jobs_and_of_one_are_joined(tmp_path: Path) -> None:
    text = """
    [options]
    seed = 3
    seconds = 5
    [[job]]
    table = "a.csv"
    options = { seconds = 9, hierarchy = ["region=r.hrc"], level-zero = "ignore" }
    outputs = { pattern = "out/{name}.csv" }
    """
    (job,) = jobs_of(tmp_path, text)
    assert job.name == "a"
    assert job.table == tmp_path / "a.csv"
    hierarchy = [f"region={tmp_path / 'r.hrc'}"]
    assert job.options == {"seed": 3, "seconds": 9, "hierarchy": hierarchy, "level_zero": "ignore"}
    assert job.outputs == {"pattern": tmp_path / "out" / "a.csv"}


def test_a_pattern_of_file_names_is_one_job_each(tmp_path: Path) -> None:
    assert [job.name for job in jobs_of(tmp_path, '[[job]]\ntables = "*.csv"')] == ["a", "b"]


def test_jobs_that_are_needed_come_first(tmp_path: Path) -> None:
    text = '[[job]]\ntable = "a.csv"\noptions = { like = "@b" }\n[[job]]\ntable = "b.csv"'
    jobs = jobs_of(tmp_path, text)
    assert [(job.name, job.needs) for job in jobs] == [("b", ()), ("a", ("b",))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("job = 3", "field job: there is no"),
        ("", "field job: there is no"),
        ("x = [", "is not TOML"),
        ("nonsense = 1", "field nonsense: is not known in the file"),
        ("folder = 3\n[[job]]\ntable='a.csv'", "field folder: is not the name of a folder"),
        ("[[job]]\nname = 'a'", "field job 1: needs either table or tables"),
        ("[[job]]\ntables = '*.none'", "field job 1: no file matches"),
        ("[[job]]\ntable = 'a.csv'\nname = '../x'", "is no name of a job"),
        ("[[job]]\ntable = 'a.csv'\ncolour = 1", "field colour: is not known in job 1"),
        ("[[job]]\ntable = 'a.csv'\noptions = { out = 'x' }", "field a, out: is decided by the run"),
        ("[[job]]\ntable = 'a.csv'\noptions = { start = 3 }", "field a, start: must name files"),
        ("[[job]]\ntable = 'a.csv'\noptions = { like = '@c' }", "field a: there is no job 'c'"),
        ("[[job]]\ntable = 'a.csv'\noptions = { like = '@a' }", "field a: needs its own pattern"),
        ("[[job]]\ntable = 'a.csv'\n[[job]]\ntable = 'a.csv'", "field a: is the name of two jobs"),
        ("[[job]]\ntable = 'a.csv'\noutputs = { pattern = 'a.csv' }", "names the same file as job a"),
        ("[[job]]\ntables = '*.csv'\noutputs = { pattern = 'x.csv' }", "names the same file as job a"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        jobs_of(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"jobs\.toml: cannot be read"):
        read_jobs(tmp_path / "jobs.toml")


def job(name: str, *needs: str) -> TableJob:
    return TableJob(name, Path(name), {}, {}, needs)


def test_runs_that_share_a_file_do_every_job_once_and_keep_together_what_needs_each_other() -> None:
    jobs = (job("a"), job("b"), job("c"), job("d", "a", "b"), job("e"), job("f", "d"))
    for count in (1, 2, 3, 5):
        shares = [{one.name for one in share_of(jobs, number, count)} for number in range(count)]
        assert sorted(name for share in shares for name in share) == list("abcdef")
        assert any({"a", "b", "d", "f"} <= share for share in shares)
    assert [one.name for one in share_of(jobs, 1, 2)] == ["c"]
