"""Records as DuckDB reads them: a file that is not UTF-8 text is copied as such, in pieces, into a private folder."""

from __future__ import annotations

import codecs
import csv
import warnings
from itertools import islice
from pathlib import Path

from gpuga.errors import InputError, printable
from gpuga.files.argus import read_metadata, record_lines
from gpuga.files.csv import LOOKED_AT, find_separator, parse_separator
from gpuga.files.notation import Written
from gpuga.files.source import known_encoding
from gpuga.files.xlsx import SUFFIX, read_sheet

PIECE = 1 << 20


def readable_copy(path: Path, written: Written, folder: Path) -> Path:
    """A file of UTF-8 text with the records: the file itself where it is one, else a copy in the folder."""
    copy = folder / "records.csv"
    if path.suffix.lower() == SUFFIX:
        written.refuse(path, "a workbook", "encoding", "separator")
        copy.write_text(read_sheet(path, written.sheet), encoding="utf-8", newline="")
        return copy
    written.refuse(path, "a text file", "sheet")
    if path.suffix.lower() == ".asc":
        return _from_argus(path, written, copy)
    encoding = _encoding(path, written.encoding)
    if encoding == "utf-8-sig":
        return path
    decoder = codecs.getincrementaldecoder(encoding)()
    with path.open("rb") as file, copy.open("w", encoding="utf-8", newline="") as out:
        line = 1
        while piece := file.read(PIECE):
            text = _decoded(decoder, piece, False, (path, encoding, line))
            line += text.count("\n")
            out.write(text)
        out.write(_decoded(decoder, b"", True, (path, encoding, line)))
    return copy


def _from_argus(path: Path, written: Written, copy: Path) -> Path:
    """Records of tau-ARGUS with the names that their metadata give them."""
    written.refuse(path, "a file with metadata", "separator")
    metadata = read_metadata(path)
    encoding = _encoding(path, written.encoding)
    with path.open(encoding=encoding, newline="") as file, copy.open("w", encoding="utf-8", newline="") as out:
        try:
            csv.writer(out).writerows(record_lines(file, metadata))
        except UnicodeDecodeError:
            raise InputError(
                f"is not {printable(encoding, 40)} text: name its encoding with --encoding", path=path
            ) from None
    return copy


def _decoded(decoder: codecs.IncrementalDecoder, piece: bytes, last: bool, where: tuple[Path, str, int]) -> str:
    path, encoding, line = where
    try:
        return decoder.decode(piece, last)
    except UnicodeDecodeError as fault:
        at = line + piece[: fault.start].count(b"\n")
        what = f"is not {printable(encoding, 40)} text: name its encoding with --encoding"
        raise InputError(what, path=path, line=at) from None


def _encoding(path: Path, given: str | None) -> str:
    """The encoding of a text file, by its first bytes, as it is given, or by a look at all of it."""
    with path.open("rb") as file:
        head = file.read(4)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        warnings.warn(f"{printable(path.name)} is read as UTF-16 text", stacklevel=2)
        return "utf-16"
    if given is not None:
        return known_encoding(given)
    if _is_utf8(path):
        return "utf-8-sig"
    said = "is not UTF-8 and is read as Windows-1252 text (--encoding names another)"
    warnings.warn(f"{printable(path.name)} {said}", stacklevel=2)
    return "cp1252"


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", True)
        except UnicodeDecodeError:
            return False
    return True


def separator_of(copy: Path, path: Path, written: Written) -> str:
    """The sign between the columns of a text file; `path` is for messages."""
    if (given := parse_separator(written.separator)) is not None:
        return given
    with copy.open(encoding="utf-8-sig", newline="") as file:
        return find_separator("".join(islice(file, LOOKED_AT)), path)
