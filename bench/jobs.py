"""How much `gpuga run` costs besides the work of its jobs: many small tables on 1, 2 and 4 workers.

    python -m bench jobs --json FILE [--tables 200] [--workers 1 --workers 2] [--cluster local]

The overhead per job is the time of all workers less what their jobs took, per job. Every worker has done one job
before, because the first one loads or compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.options import parser_of
from bench.sections import Section, figure, seconds
from gpuga import write_table
from gpuga.cli.job import work
from gpuga.cli.run import JobPlan
from gpuga.cluster.job_file import read_jobs
from gpuga.cluster.job_run import Runs
from gpuga.cluster.workers import OwnProcesses, Workers, find_workers
from gpuga.table.generate import herrington


def main(arguments: list[str]) -> int:
    """Measure all numbers of workers."""
    given = _parser().parse_args(arguments)
    rows = []
    for count in given.workers or (1, 2, 4):
        with tempfile.TemporaryDirectory(prefix="gpuga-bench-") as folder:
            rows.append(measured(Path(folder), given.tables, count, given.cluster))
        print(json.dumps(rows[-1]), flush=True)
        if given.json:
            Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def measured(folder: Path, tables: int, count: int, cluster: str | None) -> dict[str, Any]:
    """One run over small tables that are all different."""
    for seed in range(tables):
        write_table(herrington(6, 6, 0.1, seed), folder / f"t{seed}.csv")
    (folder / "jobs.toml").write_text('[[job]]\ntables = "t*.csv"\n')
    plan = JobPlan(file := read_jobs(folder / "jobs.toml"), file.jobs)
    tasks = [plan._task(job) for job in file.jobs]
    with _workers(cluster, count) as workers:
        first = [workers.submit(place, work, task.text) for place, task in enumerate(tasks[: workers.count])]
        for warm in first:
            workers.result(warm)
        rest = tasks[workers.count :]
        begun = time.monotonic()
        results = Runs(work, workers, lambda task, result: None).all(rest, {})
        wall = time.monotonic() - begun
        places = workers.count
    worked = sum(one.seconds for one in results.values())
    return {
        "workers": count,
        "cluster": cluster,
        "jobs": len(rest),
        "safe": sum(one.safe for one in results.values()),
        "seconds": round(wall, 3),
        "jobs_per_second": round(len(rest) / wall, 2),
        "work_per_job": round(worked / max(1, len(rest)), 4),
        "overhead_per_job": round((places * wall - worked) / max(1, len(rest)), 4),
        "processors": len(os.sched_getaffinity(0)),
    }


def section(rows: list[dict[str, Any]]) -> Section:
    """Jobs per second by workers."""
    header = ("workers", "jobs", "safe", "seconds", "jobs per second", "work per job, s", "overhead per job, s")
    body = [
        (
            str(row["workers"]), figure(row["jobs"]), figure(row["safe"]), seconds(row["seconds"]),
            figure(row["jobs_per_second"], 1), figure(row["work_per_job"], 4), figure(row["overhead_per_job"], 4),
        )
        for row in rows
    ]  # fmt: skip
    words = "`python -m bench jobs`: small tables by `gpuga run`, on processes of this machine; seconds on the clock."
    return Section("jobs", "What a job costs besides its work", header, body, words)


def _workers(cluster: str | None, count: int) -> Workers:
    return OwnProcesses(count) if cluster is None else find_workers(cluster, count)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("jobs", __doc__)
    parser.add_argument("--json", metavar="FILE", help="write the rows to this file")
    parser.add_argument("--tables", type=int, default=200, metavar="N", help="number of small tables")
    parser.add_argument(
        "--workers", type=int, action="append", metavar="N", help="workers; may be repeated (default: 1, 2, 4)"
    )
    parser.add_argument("--cluster", metavar="ADDRESS|FILE|local", help="Dask cluster instead of processes")
    return parser
