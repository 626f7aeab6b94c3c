"""Reading a text file with care: only plain text of a sane size, in an encoding that is known, gets any further."""

from __future__ import annotations

import codecs
import stat
import warnings
from pathlib import Path

from gpuga.errors import InputError, printable

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


def read_text(path: Path, encoding: str | None = None) -> str:
    """The text of a file (a byte order mark is dropped); never unpacks anything.

    It is UTF-8, or what its byte order mark says, or `encoding`. Other text is taken for Windows-1252, which is what
    Western European spreadsheets write and includes Latin-1; that is said.
    """
    check_regular(path)
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot be read ({_reason(fault)})", path=path) from None
    for magic, kind in _COMPRESSED.items():
        if data.startswith(magic):
            raise InputError(f"is compressed ({kind}): unpack it first", path=path)
    name = encoding_of(data, path, encoding)
    try:
        text = data.decode(name)
    except UnicodeDecodeError as fault:
        raise _undecodable(data[: fault.start], name, path) from None
    if "\0" in text:
        raise InputError("is not a text file", path=path)
    return text


def encoding_of(data: bytes, path: Path, encoding: str | None = None) -> str:
    """The name of the encoding of a text: by its byte order mark, as it is given, or as it is found."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        warnings.warn(f"{printable(path.name)} is read as UTF-16 text", stacklevel=2)
        return "utf-16"
    if encoding is not None and not data.startswith(codecs.BOM_UTF8):
        return known_encoding(encoding)
    if b"\0" in data:
        raise InputError("is not a text file, or is UTF-16 without a mark: name that with --encoding", path=path)
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        return _western(data, fault.start, path)
    return "utf-8-sig"


def known_encoding(name: str) -> str:
    """The name of a text encoding, once Python is known to have it."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        info = None
    if info is None or not getattr(info, "_is_text_encoding", True):
        raise InputError(f"{printable(name, 40)!r} is not a text encoding such as utf-8 or cp1252", field="--encoding")
    return "utf-8-sig" if info.name == "utf-8" else info.name


def _western(data: bytes, start: int, path: Path) -> str:
    """Windows-1252, where every byte has a meaning in it."""
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        line = data.count(b"\n", 0, start) + 1
        what = "is neither UTF-8 nor Windows-1252 text: name its encoding with --encoding"
        raise InputError(what, path=path, line=line) from None
    said = "is not UTF-8 and is read as Windows-1252 text (--encoding names another)"
    warnings.warn(f"{printable(path.name)} {said}", stacklevel=3)
    return "cp1252"


def _undecodable(before: bytes, name: str, path: Path) -> InputError:
    line = before.decode(name, "replace").count("\n") + 1
    return InputError(f"is not {printable(name, 40)} text: name its encoding with --encoding", path=path, line=line)


def _reason(fault: Exception) -> str:
    return getattr(fault, "strerror", None) or "not a file name"
