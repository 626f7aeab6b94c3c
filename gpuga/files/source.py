"""Reading a text file with care: only plain text of a sane size gets any further."""

from __future__ import annotations

import stat
from pathlib import Path

from gpuga.errors import InputError

MOST_BYTES = 2**30
"""Larger files are refused before they are read."""

_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}


def check_regular(path: Path) -> None:
    """Refuse, in one sentence, what does not exist, is no plain file, or is empty or huge."""
    try:
        info = path.stat()
    except FileNotFoundError:
        raise InputError("there is no such file", path=path) from None
    except (OSError, ValueError) as fault:
        raise InputError(f"cannot be read ({_reason(fault)})", path=path) from None
    if stat.S_ISDIR(info.st_mode):
        raise InputError("is a directory, not a file", path=path)
    if not stat.S_ISREG(info.st_mode):
        raise InputError("is not a plain file", path=path)
    if info.st_size == 0:
        raise InputError("is empty", path=path)
    if info.st_size > MOST_BYTES:
        raise InputError(f"is larger than {MOST_BYTES // 2**30} GiB", path=path)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file (a byte order mark is dropped); never unpacks anything."""
    check_regular(path)
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot be read ({_reason(fault)})", path=path) from None
    for magic, kind in _COMPRESSED.items():
        if data.startswith(magic):
            raise InputError(f"is compressed ({kind}): unpack it first", path=path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("is UTF-16 text: save it as UTF-8", path=path)
    if b"\0" in data:
        raise InputError("is not a text file", path=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise InputError("is not UTF-8 text: save it as UTF-8", path=path, line=line) from None


def _reason(fault: Exception) -> str:
    return getattr(fault, "strerror", None) or "not a file name"
