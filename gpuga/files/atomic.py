"""Writing whole or not at all: files appear complete under their names, or what was there stays."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from gpuga.errors import InputError

Fill = Callable[[Path], None]
"""Writes a file that is there already, in place; for results that do not fit into memory. Raises `OSError`."""

Content = str | bytes | Fill


def check_writable(path: str | Path) -> None:
    """Say early, before long work, that a result could not be written there."""
    target = real_path(path)
    try:
        if target.is_dir():
            raise InputError("is a directory: name a file to write", path=path)
        if target.is_symlink():
            raise InputError("is a loop of links", path=path)
        if not target.parent.is_dir():
            raise InputError("its folder does not exist", path=path)
        if target.exists() and not os.access(target, os.W_OK):
            raise InputError("is write-protected", path=path)
        if not is_device(path):
            check_folder(target.parent)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", path=path) from None


def check_folder(folder: Path) -> None:
    """Try whether a file can be made in a folder: rights alone do not tell (read-only, quota)."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
        file.flush()


def real_path(path: str | Path) -> Path:
    """The file that a name stands for, links followed."""
    if "\0" in str(path) or not str(path):
        raise InputError("is not a file name", path=path)
    return Path(os.path.realpath(path))


def is_device(path: str | Path) -> bool:
    """Terminals, pipes, /dev/null and /dev/stdout are written to; they cannot be replaced."""
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    target = Path(path)
    return target.exists() and not target.is_file() and not target.is_dir()


def write_whole(path: str | Path, content: Content) -> None:
    """Write `content` under `path`: into a new file beside it that then takes its name."""
    write_together([(path, content)])


def write_together(results: Sequence[tuple[str | Path, Content]]) -> None:
    """Write all results of a run, or none of them.

    Everything lies on the disk, beside its target, before the first name is taken. Devices and pipes come
    before that too: they can fail, and what went into them cannot be taken back.
    """
    for path, _ in results:
        check_writable(path)
    with ExitStack() as undo:
        ready = [(path, _beside(path, content, undo)) for path, content in results if not is_device(path)]
        for path, content in results:
            if is_device(path):
                _write_device(path, content)
        for path, part in ready:
            try:
                os.replace(part, real_path(path))
            except OSError as fault:
                raise InputError(f"cannot be written ({fault.strerror})", path=path) from None


def _beside(path: str | Path, content: Content, undo: ExitStack) -> Path:
    """A new file with the content in the folder of its target, removed in the end if it is still there."""
    target = real_path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
        part = Path(name)
        undo.callback(part.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            if callable(content):
                content(part)
            else:
                file.write(_bytes(content))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, _mode(target))
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", path=path) from None
    return part


_OPEN = re.compile(r"/dev/std(?P<name>out|err)|/(?:dev|proc/self)/fd/(?P<number>[0-9]{1,9})")
"""Names of what is open already: opened once more, a redirected file would be written from its beginning."""


def _write_device(path: str | Path, content: Content) -> None:
    try:
        already = _OPEN.fullmatch(os.path.abspath(path))
        if already is None:
            target: Path | int = Path(path)
        else:
            sys.stdout.flush()
            target = os.dup(int(already["number"] or {"out": 1, "err": 2}[already["name"]]))
        with open(target, "wb") as file:
            if callable(content):
                _pour(content, file)
            else:
                file.write(_bytes(content))
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", path=path) from None


def _pour(fill: Fill, device: IO[bytes]) -> None:
    """What `fill` writes, by way of a temporary file: a device cannot be written in place."""
    with tempfile.NamedTemporaryFile(prefix="gpuga-") as file:
        fill(Path(file.name))
        shutil.copyfileobj(file, device)


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _mode(path: Path) -> int:
    """The rights of the file that is replaced, else those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
