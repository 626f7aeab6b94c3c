"""One job of `gpuga run`: the words of the commands that do it, and doing them at a worker that serves many jobs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from gpuga.cli.main import COMMANDS, run
from gpuga.cluster.job_file import TableJob
from gpuga.cluster.job_folder import CHECKPOINT, LOG, PATTERN, SUMMARY, Result, held, keep, make_private
from gpuga.declared import as_list
from gpuga.errors import GpugaError, InputError, printable
from gpuga.methods import DEFAULT

_LOCK = threading.Lock()


def words_of(job: TableJob, folder: Path, patterns: Mapping[str, Path]) -> list[list[str]]:
    """The commands of a job: protect, then what else is to be written; `patterns` are those of other jobs."""
    options = {
        name: [str(patterns[one[1:]]) if str(one).startswith("@") else one for one in as_list(value)]
        for name, value in job.options.items()
    }
    pattern = str(job.outputs.get("pattern", folder / PATTERN))
    words = ["protect", str(job.table), *_words("protect", options, job.name)]
    words += ["--out", pattern, "--json", str(folder / SUMMARY), "--quiet"]
    if options.get("method", [DEFAULT]) == [DEFAULT]:
        words += ["--checkpoint", str(folder / CHECKPOINT), "--resume"]
    if "proof" in job.outputs:
        words += ["--proof", str(job.outputs["proof"])]
    commands = [words]
    for command, output in (("publish", "public"), ("report", "report")):
        if output in job.outputs:
            own = {name: value for name, value in options.items() if name in _parameters(command)}
            said = [*_words(command, own, job.name), "--out", str(job.outputs[output]), "--quiet"]
            commands.append([command, str(job.table), pattern, *said])
    for one in commands:
        _check(one, job)
    return commands


def _command(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(import_module(module), attribute)
    return command


def _parameters(command: str) -> dict[str, click.Parameter]:
    return {str(one.name): one for one in _command(command).params}


def _words(command: str, options: Mapping[str, list[Any]], name: str) -> Iterator[str]:
    """Options as words; one that the command does not have is refused by name."""
    known = _parameters(command)
    for option, values in options.items():
        if option not in known or not isinstance(known[option], click.Option):
            raise InputError(f"is not an option of gpuga {command}", field=f"{name}, {printable(option)}")
        flag = known[option].opts[0]
        for value in values:
            if isinstance(value, bool):
                yield from [flag] * value
            elif isinstance(value, str | int | float):
                yield from (flag, str(value))
            else:
                raise InputError("must be a text, a number, true or false", field=f"{name}, {printable(option)}")


def _check(words: list[str], job: TableJob) -> None:
    """Refuse what the command would not understand before anything is begun."""
    try:
        _command(words[0]).make_context(words[0], words[1:])
    except click.ClickException as fault:
        raise InputError(printable(fault.format_message(), 300), field=job.name) from None


def work(text: str) -> str:
    """Do one job, at a worker; the text of its result, which is also kept in its folder."""
    said = json.loads(text)
    folder = Path(said["folder"])
    with _LOCK:  # commands speak to the streams of their process: one job after the other
        try:
            make_private(folder)
            with held(folder):
                result = _done(folder, said["commands"])
                keep(folder, result)
        except GpugaError as fault:
            result = Result(fault.exit_code, str(fault))
    return result.text()


def _done(folder: Path, commands: list[list[str]]) -> Result:
    begun = time.monotonic()
    for words in commands:
        with open(folder / LOG, "a", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
            code = run(words)
        if code:
            last = (folder / LOG).read_text(encoding="utf-8").strip().rpartition("\n")[2]
            return Result(code, printable(last.removeprefix("gpuga: "), 300), time.monotonic() - begun)
    summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return Result(0, "", time.monotonic() - begun, summary)
