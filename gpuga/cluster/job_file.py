"""Job files (TOML): which tables are protected with which options, what is written, and which job needs which.

    folder = "jobs"                       # where the folders of the jobs are made
    [options]                             # of every job, as gpuga protect has them, without the dashes
    seconds = 60

    [[job]]
    table = "turnover.csv"
    options = { hierarchy = ["region=region.hrc"] }
    outputs = { pattern = "out/turnover.csv", public = "public/turnover.csv" }

    [[job]]
    tables = "quarter3/*.csv"             # one job per file, named like it
    options = { like = "@turnover" }      # the pattern of another job, which runs before

File names are relative to the job file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuga.declared import as_list
from gpuga.errors import InputError, printable

OUTPUTS = ("pattern", "proof", "public", "report")
FILES = ("start", "like", "hierarchy")
"""Options whose values name files to read; those of `hierarchy` behind a sign of equality."""

OURS = ("out", "json", "proof", "log", "checkpoint", "resume", "front", "quiet", "verbose", "progress", "cluster")
"""Options of gpuga protect that a job may not set, because its folder, its outputs or the run decide about them."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True)
class TableJob:
    """One table to protect; files by absolute names, `needs` the jobs whose patterns its options name."""

    name: str
    table: Path
    options: Mapping[str, Any]
    outputs: Mapping[str, Path]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobFile:
    """All jobs of a file, those that are needed before those that need them, and where their folders are."""

    path: Path
    folder: Path
    jobs: tuple[TableJob, ...]


def read_jobs(path: str | Path) -> JobFile:
    """The jobs of a file, or one sentence that says which job is at fault."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror})", path=path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise InputError(f"is not TOML: {printable(fault)}", path=path) from None
    return _Reader(path).read(content)


class _Reader:
    """Reads one job file."""

    def __init__(self, path: Path) -> None:
        self.path, self.base = path, path.absolute().parent

    def read(self, content: Mapping[str, Any]) -> JobFile:
        self._known(content, ("folder", "options", "job"), "the file")
        common = self._mapping(content.get("options", {}), "options")
        folder = content.get("folder", f"{self.path.stem}-jobs")
        if not isinstance(folder, str) or not folder:
            raise self._fault("is not the name of a folder", "folder")
        written = content.get("job", [])
        if not isinstance(written, list) or not written:
            raise self._fault("there is no [[job]]", "job")
        jobs = [job for number, one in enumerate(written, 1) for job in self._jobs(one, number, common)]
        self._different(jobs)
        return JobFile(self.path, self.base / folder, self._in_order(jobs))

    def _fault(self, what: str, field: str) -> InputError:
        return InputError(what, path=self.path, field=field)

    def _known(self, given: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
        for name in given:
            if name not in names:
                raise self._fault(f"is not known in {where}, which has {', '.join(names)}", printable(name))

    def _mapping(self, given: Any, field: str) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise self._fault("must be a table of names and values", field)
        return given

    def _jobs(self, given: Any, number: int, common: Mapping[str, Any]) -> Iterator[TableJob]:
        """The jobs of one entry: one, or one per file where it names many."""
        where = f"job {number}"
        given = self._mapping(given, where)
        self._known(given, ("name", "table", "tables", "options", "outputs"), where)
        if ("table" in given) == ("tables" in given):
            raise self._fault("needs either table or tables", where)
        for table in self._tables(given, where):
            name = given.get("name", table.stem)
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                what = f"{printable(name)!r} is no name of a job: use letters, digits, point, dash and underscore"
                raise self._fault(what, where)
            options = {**common, **self._mapping(given.get("options", {}), f"{where}, options")}
            plain = {flag.replace("-", "_"): value for flag, value in options.items()}
            yield self._job(name, table, plain, self._mapping(given.get("outputs", {}), f"{where}, outputs"))

    def _tables(self, given: Mapping[str, Any], where: str) -> list[Path]:
        if "table" in given:
            if not isinstance(given["table"], str):
                raise self._fault("table must be the name of a file", where)
            return [self.base / given["table"]]
        if not isinstance(given["tables"], str) or "name" in given:
            raise self._fault("tables must be a pattern of file names such as *.csv, without a name", where)
        found = sorted(self.base.glob(given["tables"]))
        if not found:
            raise self._fault(f"no file matches {printable(given['tables'])!r}", where)
        return found

    def _job(self, name: str, table: Path, options: dict[str, Any], outputs: Mapping[str, Any]) -> TableJob:
        for option in options:
            if option in OURS:
                raise self._fault("is decided by the run: name files in outputs", f"{name}, {option}")
        needs: dict[str, None] = {}
        for option in FILES:
            if option in options:
                options[option] = [self._file(name, option, one, needs) for one in as_list(options[option])]
        self._known(outputs, OUTPUTS, f"outputs of {name}")
        return TableJob(name, table, options, {k: self._output(name, k, v) for k, v in outputs.items()}, tuple(needs))

    def _file(self, name: str, option: str, value: Any, needs: dict[str, None]) -> str:
        """A file that is read, by its absolute name; `@NAME` stays, as the pattern of another job."""
        if not isinstance(value, str):
            raise self._fault("must name files", f"{name}, {option}")
        if option == "hierarchy":
            dimension, sign, file = value.partition("=")
            return f"{dimension}{sign}{self.base / file}" if file else value
        if value.startswith("@"):
            needs[value[1:]] = None
            return value
        return str(self.base / value)

    def _output(self, name: str, kind: str, value: Any) -> Path:
        if not isinstance(value, str) or not value:
            raise self._fault("must be the name of a file", f"{name}, {kind}")
        return self.base / value.replace("{name}", name)

    def _different(self, jobs: list[TableJob]) -> None:
        """No two jobs have one name, or write one file, and none writes what another reads."""
        names: set[str] = set()
        taken = {str(job.table): job.name for job in jobs}
        for job in jobs:
            if job.name in names:
                raise self._fault("is the name of two jobs", job.name)
            names.add(job.name)
            for path in map(str, job.outputs.values()):
                if path in taken:
                    raise self._fault(f"names the same file as job {taken[path]}", f"{job.name}, outputs")
                taken[path] = job.name

    def _in_order(self, jobs: list[TableJob]) -> tuple[TableJob, ...]:
        """Those that are needed first; of others as they stand in the file."""
        by_name, ordered, asked = {job.name: job for job in jobs}, {}, []

        def put(job: TableJob) -> None:
            if job.name in ordered:
                return
            if job.name in asked:
                raise self._fault("needs its own pattern", job.name)
            asked.append(job.name)
            for need in job.needs:
                if need not in by_name:
                    raise self._fault(f"there is no job {printable(need)!r}", job.name)
                put(by_name[need])
            asked.remove(job.name)
            ordered[job.name] = job

        for job in jobs:
            put(job)
        return tuple(ordered.values())


def share_of(jobs: tuple[TableJob, ...], number: int, count: int) -> tuple[TableJob, ...]:
    """The jobs of one of several runs that share a file, by number from 0; jobs that need each other stay together."""
    group: dict[str, int] = {}
    for job in jobs:
        joined = {group[need] for need in job.needs}
        mine = min(joined, default=len(group))
        group = {name: mine if one in joined else one for name, one in group.items()} | {job.name: mine}
    order = list(dict.fromkeys(group.values()))
    return tuple(job for job in jobs if order.index(group[job.name]) % count == number)
