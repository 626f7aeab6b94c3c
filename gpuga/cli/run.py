"""`gpuga run`: many tables, one job each; what is done is skipped, and one page says what came of all."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gpuga.cli.options import notes_on_stderr, progress_option, quiet_option
from gpuga.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from gpuga.cluster.job_file import JobFile, TableJob
    from gpuga.cluster.job_folder import Result
    from gpuga.cluster.job_page import Row
    from gpuga.cluster.job_run import Task

ARRAY = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP")


@click.command()
@click.argument("jobs", type=click.Path())
@click.option(
    "--cluster",
    metavar="ADDRESS|FILE|local",
    help="Dask cluster that does the jobs: address of its scheduler, its scheduler file, or local.  "
    "[default: processes of this machine]",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of processes of this machine, or of a local cluster.  [default: one per processor, which is the most]",
)
@click.option("--dry-run", is_flag=True, help="Only say what would run and how long it may take.")
@progress_option
@quiet_option
def run(jobs: str, cluster: str | None, workers: int | None, dry_run: bool, quiet: bool) -> int:
    """Protect all tables of the job file JOBS (TOML).

    Every job has a folder of mode 700 named by the content of its inputs: what is done is skipped, what died is done
    again. A task of a Slurm array does its share of the jobs. summary.html and summary.csv beside the folders show all
    jobs. The exit code is 0 if every job has a safe pattern.
    """
    from gpuga.cluster.job_file import read_jobs, share_of

    file = read_jobs(jobs)
    number, count = _array()
    plan = JobPlan(file, share_of(file.jobs, number, count))
    if dry_run:
        click.echo("\n".join(plan.sentences(workers)))
        return 0
    with notes_on_stderr():
        return plan.run(cluster, workers, quiet)


def _array() -> tuple[int, int]:
    """Which task of how many this is, from 0, where Slurm runs an array; else the first of one."""
    given = [os.environ.get(name) for name in ARRAY]
    if not all(given):
        return 0, 1
    if not all(text is not None and text.isdecimal() for text in given) or given[3] == "0":
        raise InputError("are not the numbers of a task in an array", field=", ".join(ARRAY))
    task, least, most, step = (int(text) for text in given if text is not None)
    return (task - least) // step, (most - least) // step + 1


class JobPlan:
    """The jobs of a file with their folders, of which a run does some."""

    def __init__(self, file: JobFile, mine: Sequence[TableJob]) -> None:
        from gpuga.cli.job import words_of
        from gpuga.cluster.job_folder import PATTERN, folder_of, keys_of, result_in

        self.file, self.mine = file, list(mine)
        self.keys = keys_of(file.jobs)
        self.folders = {job.name: folder_of(file.folder, job, self.keys[job.name]) for job in file.jobs}
        patterns = {job.name: job.outputs.get("pattern", self.folders[job.name] / PATTERN) for job in file.jobs}
        self.commands = {job.name: words_of(job, self.folders[job.name], patterns) for job in self.mine}
        self.found = {job.name: result_in(self.folders[job.name]) for job in file.jobs}

    def done(self, job: TableJob) -> bool:
        """Whether a job has its final result, and all that it was to write is there."""
        from gpuga.cluster.job_folder import FINAL

        result = self.found[job.name]
        return result is not None and result.code in FINAL and (bool(result.code) or self._written(job))

    def _written(self, job: TableJob) -> bool:
        return all(path.exists() for path in job.outputs.values())

    def rows(self) -> list[Row]:
        """All jobs as they are now, those of other runs as well."""
        from gpuga.cluster.job_folder import result_in
        from gpuga.cluster.job_page import Row

        states = {name: result_in(folder) or self.found[name] for name, folder in self.folders.items()}
        return [Row(job.name, self.folders[job.name], states[job.name]) for job in self.file.jobs]

    def run(self, cluster: str | None, workers: int | None, quiet: bool) -> int:
        """Do what is left to do; the exit code."""
        from gpuga.cli.job import work
        from gpuga.cli.progress import progress_on_terminal
        from gpuga.cluster.job_folder import make_private
        from gpuga.cluster.job_page import counted
        from gpuga.cluster.job_run import Runs
        from gpuga.cluster.workers import cores, find_workers

        make_private(self.file.folder)
        known = {job.name: result for job in self.mine if self.done(job) and (result := self.found[job.name])}
        tasks = [self._task(job) for job in self.mine if job.name not in known]
        results = dict(known)
        try:
            if tasks:
                count = min(len(tasks), workers or cores())
                with find_workers(cluster, count) as found, progress_on_terminal(quiet) as progress:
                    progress.stage("jobs", len(tasks))

                    def told(task: Task, result: Result) -> None:
                        self.found[task.name] = result
                        progress.advance(1, job=task.name)

                    results = Runs(work, found, told).all(tasks, known)
        finally:
            page = self._write()
        if not quiet:
            said = [counted(self.rows()), *_failures(results), f"summary: {page}"]
            click.echo("\n".join(said))
        return _code(list(results.values()))

    def _task(self, job: TableJob) -> Task:
        from gpuga.cluster.job_run import Task

        said = {"folder": str(self.folders[job.name]), "commands": self.commands[job.name]}
        return Task(job.name, job.needs, json.dumps(said))

    def _write(self) -> Path:
        """Write the summary of all jobs."""
        from gpuga.cluster.job_page import csv_text, html_text
        from gpuga.files.atomic import write_together

        rows, page = self.rows(), self.file.folder / "summary.html"
        results = [(page, html_text(rows, self.file.path.name)), (page.with_suffix(".csv"), csv_text(rows))]
        write_together(results)
        return page

    def sentences(self, workers: int | None) -> list[str]:
        """What a run would do, and how long it may take, as far as limits and earlier runs tell."""
        from gpuga.cluster.workers import cores

        count, lines, estimates = workers or cores(), [], []
        for job in self.mine:
            if self.done(job):
                lines.append(f"{job.name}: done")
                continue
            seconds = self._estimate(job)
            estimates.append(seconds)
            lines.append(f"{job.name}: would run" + ("" if seconds is None else f", about {seconds:.0f} s at most"))
        return [*lines, f"{len(estimates)} of {len(self.mine)} jobs would run{_time_of(estimates, count)}"]

    def _estimate(self, job: TableJob) -> float | None:
        """Seconds that a job may take: its limit, or what earlier jobs took per byte of their tables."""
        if "seconds" in job.options:
            return 1.1 * float(job.options["seconds"]) + 2
        timed = [(self.found[one.name], one.table.stat().st_size) for one in self.file.jobs]
        rates = sorted(result.seconds / max(1, size) for result, size in timed if result is not None)
        return rates[len(rates) // 2] * job.table.stat().st_size if rates else None


def _time_of(estimates: list[float | None], count: int) -> str:
    """How long jobs may take on so many workers, as far as that is known."""
    known = [one for one in estimates if one is not None]
    if not estimates:
        return ""
    if not known:
        return "; how long that takes is not known: none of them has a time limit (seconds), and none has run before"
    unknown = len(estimates) - len(known)
    more = f", and {unknown} without a time limit, of which nothing is known" if unknown else ""
    return f": about {sum(known) / count:.0f} s on {count} worker{'' if count == 1 else 's'}{more}"


def _failures(results: dict[str, Result]) -> list[str]:
    return [f"{name}: {one.sentence or 'not safe'}" for name, one in results.items() if not one.safe]


def _code(results: list[Result]) -> int:
    """0 if all are safe, the code of those that are not where it is the same, else 1."""
    codes = {one.code or 1 for one in results if not one.safe}
    return 0 if not codes else codes.pop() if len(codes) == 1 else 1
