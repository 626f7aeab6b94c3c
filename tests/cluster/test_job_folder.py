"""A job is known by what goes into it, and its folder is nobody else's business."""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gpuga.cluster import job_folder
from gpuga.cluster.job_file import TableJob
from gpuga.cluster.job_folder import Result, folder_of, held, keep, keys_of, make_private, result_in
from gpuga.errors import GpugaError, InputError


@pytest.fixture
def job(tmp_path: Path) -> TableJob:
    for name in ("table.csv", "tree.hrc", "old.csv"):
        (tmp_path / name).write_text(name)
    options = {"seed": 1, "hierarchy": [f"d={tmp_path / 'tree.hrc'}"], "like": [str(tmp_path / "old.csv")]}
    return TableJob("turnover", tmp_path / "table.csv", options, {})


def key(job: TableJob) -> str:
    return keys_of((job,))[job.name]


def test_whatever_decides_about_the_pattern_changes_the_key(job: TableJob, tmp_path: Path) -> None:
    first = key(job)
    assert key(job) == first
    assert key(replace(job, options=dict(job.options) | {"seed": 2})) != first
    for name in ("table.csv", "tree.hrc", "old.csv"):
        before = (tmp_path / name).read_text()
        (tmp_path / name).write_text(before + "changed")
        assert key(job) != first
        (tmp_path / name).write_text(before)
    assert key(job) == first


def test_where_a_table_lies_does_not_change_the_key(job: TableJob, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("table.csv")
    assert key(replace(job, table=tmp_path / "other.csv")) == key(job)


def test_a_job_changes_with_those_that_it_needs(job: TableJob) -> None:
    follows = replace(job, name="next", options={"like": ["@turnover"]}, needs=("turnover",))
    first = keys_of((job, follows))["next"]
    changed = replace(job, options=dict(job.options) | {"seed": 2})
    assert keys_of((changed, follows))["next"] != first


def test_a_file_that_cannot_be_read_is_named_with_its_job(job: TableJob, tmp_path: Path) -> None:
    (tmp_path / "tree.hrc").unlink()
    with pytest.raises(InputError, match=r"tree\.hrc: job turnover: cannot be read"):
        key(job)


def test_folders_are_private(tmp_path: Path, job: TableJob) -> None:
    before = os.umask(0)
    try:
        folder = folder_of(tmp_path / "jobs", job, key(job))
        make_private(folder.parent)
        make_private(folder)
        assert {one.stat().st_mode & 0o777 for one in (folder, folder.parent)} == {0o700}
        assert folder.name.startswith("turnover-")
        folder.chmod(0o755)
        with pytest.raises(InputError, match="can be read by others"):
            make_private(folder)
    finally:
        os.umask(before)


def test_a_result_is_what_was_kept_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    assert result_in(tmp_path) is None
    result = Result(0, "", 1.5, {"safe": True, "cells": 4})
    keep(tmp_path, result)
    assert result_in(tmp_path) == result
    assert '"audience": "office"' in (tmp_path / "result.json").read_text()
    (tmp_path / "result.json").write_text('{"code": 0')
    assert result_in(tmp_path) is None


def test_only_an_audited_pattern_is_called_safe() -> None:
    assert Result(0, summary={"safe": True}).safe
    assert not Result(0).safe
    assert not Result(0, summary={"safe": False}).safe
    assert not Result(3, summary={"safe": True}).safe


def _hold(folder: str, ready: multiprocessing.synchronize.Event, end: multiprocessing.synchronize.Event) -> None:
    with held(Path(folder)):
        ready.set()
        end.wait(30)


def test_a_folder_serves_one_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_folder, "PATIENCE", 0.1)
    spawn = multiprocessing.get_context("spawn")
    ready, end = spawn.Event(), spawn.Event()
    other = spawn.Process(target=_hold, args=(str(tmp_path), ready, end))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(GpugaError, match="another run is doing this job"), held(tmp_path):
            pass
    finally:
        end.set()
        other.join()
    with held(tmp_path):
        pass
