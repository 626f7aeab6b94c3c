"""The folder of a job: named by its content, readable by its owner only, with what came of the job.

The key of a job is the SHA-256 of everything that decides about its pattern: version, options, the bytes of the files
that it reads, and the keys of the jobs that it needs. A job whose inputs change has another folder; one that is done is
never done again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gpuga.audience import CONFIDENTIAL, OFFICE
from gpuga.cluster.job_file import FILES, TableJob
from gpuga.errors import GpugaError, InputError
from gpuga.files.atomic import write_whole
from gpuga.version import __version__

RESULT, PATTERN, SUMMARY, LOG, CHECKPOINT = "result.json", "pattern.csv", "summary.json", "log.txt", "checkpoint"

PATIENCE = 2.0
"""Seconds in which another run may leave the folder of a job."""

FINAL = (0, 3)
"""Exit codes that stand: a safe pattern, or none exists. Anything else is tried again by the next run."""


@dataclass(frozen=True)
class Result:
    """What came of a job: its exit code, a sentence where it failed, the seconds of its work, and its summary."""

    code: int
    sentence: str = ""
    seconds: float = 0.0
    summary: Mapping[str, Any] = field(default_factory=dict)

    @property
    def safe(self) -> bool:
        """Whether there is a pattern that the exact audit found safe."""
        return self.code == 0 and self.summary.get("safe") is True

    def text(self) -> str:
        """As JSON, for the office."""
        return json.dumps({"audience": OFFICE, "notice": CONFIDENTIAL, **asdict(self)}, allow_nan=False) + "\n"

    @classmethod
    def of(cls, text: str) -> Result:
        """From JSON."""
        said = json.loads(text)
        return cls(said["code"], said["sentence"], said["seconds"], said["summary"])


def keys_of(jobs: tuple[TableJob, ...]) -> dict[str, str]:
    """The key of every job, by its name; jobs that are needed must come first."""
    keys: dict[str, str] = {}
    contents: dict[str, str] = {}
    for job in jobs:
        files = {name: _content(name, contents, job) for name in sorted(_inputs(job))}
        # the names of files do not matter, what is in them does
        options = {name: value for name, value in job.options.items() if name not in FILES}
        given = {name: [_said(one, files, keys) for one in job.options.get(name, ())] for name in FILES}
        said = [__version__, options, given, files[str(job.table)], job.table.suffix, sorted(job.outputs)]
        keys[job.name] = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
    return keys


def _inputs(job: TableJob) -> set[str]:
    named = {one.partition("=")[2] for one in job.options.get("hierarchy", ())}
    named |= {one for option in ("start", "like") for one in job.options.get(option, ())}
    return {str(job.table)} | {name for name in named if name and not name.startswith("@")}


def _said(value: str, files: Mapping[str, str], keys: Mapping[str, str]) -> str:
    if value.startswith("@"):
        return keys[value[1:]]
    dimension, sign, file = value.partition("=")
    return f"{dimension}{sign}{files[file]}" if sign and file in files else files.get(value, value)


def _content(name: str, contents: dict[str, str], job: TableJob) -> str:
    """The SHA-256 of a file, read once however many jobs use it."""
    if name not in contents:
        try:
            with open(name, "rb") as file:
                contents[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as fault:
            raise InputError(f"job {job.name}: cannot be read ({fault.strerror})", path=name) from None
    return contents[name]


def folder_of(above: Path, job: TableJob, key: str) -> Path:
    """The folder of a job."""
    return above / f"{job.name}-{key[:16]}"


def make_private(folder: Path) -> None:
    """Make a folder that nobody else can look into; one that others can is refused."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            raise InputError("can be read by others: secrets belong into folders of mode 700", path=folder)
    except OSError as fault:
        raise InputError(f"cannot be made ({fault.strerror})", path=folder) from None


def result_in(folder: Path) -> Result | None:
    """What came of a job; None where it was not finished, or what stands there is not whole."""
    try:
        return Result.of((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it will be done again


def keep(folder: Path, result: Result) -> None:
    """Write what came of a job, after everything else of it is on the disk."""
    write_whole(folder / RESULT, result.text())


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the folder of a job against other runs; the lock dies with its process."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Take the lock; workers of a run that was killed hold it for a moment longer."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise GpugaError("another run is doing this job") from None
            time.sleep(0.1)
