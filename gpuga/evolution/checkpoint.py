"""Checkpoints: the state of a run as packed arrays with a checksummed manifest, whole or not at all.

One file per checkpoint: a line that names the format, a line of JSON (the manifest: audience, figures, and name,
type, shape and SHA-256 of every array), the arrays' bytes, and the SHA-256 of everything before it. A new file takes
its name by an atomic rename after it has reached the disk; the two latest are kept. Nothing in it is a value of a
cell: circuits are supports, patterns are bits, costs are computed again. A folder serves one run at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.audience import CONFIDENTIAL, OFFICE
from gpuga.errors import InputError
from gpuga.files.atomic import check_folder
from gpuga.table.table import Table
from gpuga.version import __version__

FORMAT = f"gpuga checkpoint 2, {CONFIDENTIAL}\n".encode()
KEPT = 2
DIGEST = 32
_NAME = re.compile(r"generation-(\d{9})\.checkpoint")

Arrays = dict[str, NDArray[Any]]


class Damaged(Exception):
    """A checkpoint is not what was written."""


def save(folder: Path, generation: int, figures: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the checkpoint of a generation and remove all but the latest two; an `OSError` leaves the older ones."""
    content = packed(figures, arrays)
    target = folder / f"generation-{generation:09d}.checkpoint"
    part = folder / f".{target.name}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    for old in _found(folder)[KEPT:]:
        old.unlink(missing_ok=True)


def save_or_say(folder: Path, generation: int, state: tuple[Mapping[str, Any], Arrays], unsaved: bool) -> bool:
    """Save a checkpoint; where that fails, go on without, with a warning the first time. Whether it ever failed."""
    try:
        save(folder, generation, *state)
    except OSError as fault:
        if not unsaved:
            said = f"checkpoints cannot be written ({fault.strerror}): continuing without them"
            warnings.warn(said, stacklevel=3)
        return True
    return unsaved


def packed(figures: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a checkpoint, from which `read` gets figures and arrays."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries = [_entry(name, array) for name, array in plain.items()]
    manifest = {"audience": OFFICE, "figures": dict(figures), "arrays": entries}
    body = FORMAT + json.dumps(manifest, sort_keys=True).encode() + b"\n"
    body += b"".join(array.tobytes() for array in plain.values())
    return body + hashlib.sha256(body).digest()


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Hold a folder for one run, which can write to it; the lock dies with its process, however that ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(folder)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as fault:
        raise InputError(f"cannot be written to ({fault.strerror})", path=folder, field="--checkpoint") from None
    try:
        _lock(handle, folder)
        for left in folder.glob(".generation-*.part"):  # by a run that was killed while it wrote
            left.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("is in use by another run", path=folder, field="--checkpoint") from None
    except OSError as fault:
        said = f"the checkpoint folder cannot be locked ({fault.strerror}): make sure that no other run uses it"
        warnings.warn(said, stacklevel=2)


def load(folder: Path) -> tuple[dict[str, Any], Arrays] | None:
    """The latest checkpoint that is whole, with a warning about those that are not; None if there is none yet."""
    found = _found(folder)
    for path in found:
        try:
            return read(path.read_bytes())
        except (Damaged, OSError) as fault:
            warnings.warn(f"checkpoint {path.name} is not used: {fault}", stacklevel=2)
    if found:
        raise InputError("no checkpoint in it is whole; start without --resume", path=folder)
    return None


def owner(folder: Path) -> str | None:
    """The fingerprint of the latest checkpoint that is whole; None without one."""
    for path in _found(folder):
        try:
            return str(read(path.read_bytes())[0]["fingerprint"])
        except (Damaged, OSError):
            continue  # `load` tells of those that are damaged
    return None


def read(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """Figures and arrays of a checkpoint's bytes, or `Damaged`."""
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if len(content) < DIGEST or hashlib.sha256(body).digest() != digest:
        raise Damaged("its checksum does not match")
    if not body.startswith(FORMAT):
        raise Damaged("it has another format")
    end = body.index(b"\n", len(FORMAT))
    manifest = json.loads(body[len(FORMAT) : end])
    arrays: Arrays = {}
    at = end + 1
    for entry in manifest["arrays"]:
        kind, shape = np.dtype(entry["type"]), tuple(entry["shape"])
        size = kind.itemsize * int(np.prod(shape))
        piece = body[at : at + size]
        if hashlib.sha256(piece).hexdigest() != entry["sha256"]:
            raise Damaged(f"the checksum of {entry['name']} does not match")
        arrays[entry["name"]] = np.frombuffer(piece, kind).reshape(shape).copy()
        at += size
    return manifest["figures"], arrays


def part(name: str, arrays: Arrays) -> Arrays:
    """The arrays whose names begin so, without that beginning."""
    return {key.removeprefix(f"{name}_"): array for key, array in arrays.items() if key.startswith(f"{name}_")}


def _entry(name: str, array: NDArray[Any]) -> dict[str, Any]:
    if array.dtype.hasobject:
        raise TypeError(f"{name} holds Python objects, which are not written")
    digest = hashlib.sha256(array.tobytes()).hexdigest()
    return {"name": name, "type": array.dtype.str, "shape": list(array.shape), "sha256": digest}


def _found(folder: Path) -> list[Path]:
    """The checkpoints of a folder, the latest first."""
    if not folder.is_dir():
        return []
    return sorted((path for path in folder.iterdir() if _NAME.fullmatch(path.name)), reverse=True)


def arrays_of(table: Table) -> Arrays:
    """Everything in a table that decides about its patterns."""
    return {
        "value": table.value,
        "weight": table.weight,
        "status": table.status,
        "lb": table.lb,
        "ub": table.ub,
        **{f"level_{name}": level for name, level in vars(table.levels).items()},
        **{f"lines_{name}": getattr(table.lines, name) for name in ("start", "cell", "coef", "rhs")},
    }


def fingerprint(table: Table, settings: Mapping[str, Any]) -> str:
    """What a checkpoint belongs to: the whole table, the settings that shape a run, and this version."""
    digest = hashlib.sha256()
    for name, array in arrays_of(table).items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    words = dict(settings) | {"version": __version__, "units": [table.scale, table.weight_scale, table.groups]}
    digest.update(json.dumps(words, sort_keys=True, default=str).encode())
    return digest.hexdigest()
