"""Writing whole or not at all: a file appears complete under its name, or what was there stays."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from gpuga.errors import InputError


def check_writable(path: str | Path) -> None:
    """Say early, before long work, that a result could not be written there."""
    path = Path(path)
    if path.is_dir():
        raise InputError("is a directory: name a file to write", path=path)
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", path=path)
    if not os.access(path if _is_special(path) else path.parent, os.W_OK):
        raise InputError("its folder cannot be written to", path=path)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write `content` under `path`: into a new file beside it that then takes its name."""
    path = Path(path)
    check_writable(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if _is_special(path):
            path.write_bytes(data)
        else:
            _replace(path, data)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror})", path=path) from None


def _is_special(path: Path) -> bool:
    """Terminals, pipes and /dev/null are written to; they cannot be replaced."""
    return path.exists() and not path.is_file()


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(path))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The rights of the file that is replaced, else those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
