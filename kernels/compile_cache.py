"""Compiled functions on disk: found again only if nothing that they were made from has changed, and if they are whole.

Numba's own cache looks at the file of a function alone: it misses changed callees and constants of other files, gives
two processes that fill it at once the same file name, and believes what it reads, so that one flipped byte of machine
code ends a run. Here a file is named after everything that it was made from, and begins with its checksum.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import types
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

CONSTANTS = (int, float, str, bytes, tuple, np.generic, np.ndarray)


class SourceCache(FunctionCache):  # type: ignore[misc]
    """The cache of one function."""

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__(function)
        self._cache_file = CheckedFiles(
            Path(self._cache_path), self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return (*super()._index_key(signature, codegen), made_from(self._py_func))


class CheckedFiles:
    """The files of one function: one for each signature, processor and version."""

    def __init__(self, folder: Path, name: str, stamp: bytes) -> None:
        self.folder, self.name = folder, name
        self.source = f"{name}.{hashlib.sha256(stamp).hexdigest()[:8]}"

    def load(self, key: object) -> Any:
        """What was saved under this key; None where nothing was, or where it is damaged."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        checksum, data = content[:32], content[32:]
        return pickle.loads(data) if hashlib.sha256(data).digest() == checksum else None

    def save(self, key: object, compiled: object) -> None:
        """Keep a compiled function, whole or not at all; what was made from an older source goes."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            if not path.name.startswith(f"{self.source}."):
                path.unlink(missing_ok=True)
        data = dumps(compiled)
        draft = self.folder / f"{self.name}.{uuid.uuid4().hex[:16]}.draft"
        try:
            draft.write_bytes(hashlib.sha256(data).digest() + data)
            os.replace(draft, self._path(key))
        finally:
            draft.unlink(missing_ok=True)

    def flush(self) -> None:
        """Forget everything."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        named = hashlib.sha256(f"{numba.__version__} {key!r}".encode()).hexdigest()[:24]
        return self.folder / f"{self.source}.{named}.nbc"


@cache
def made_from(function: types.FunctionType) -> str:
    """A digest of what a function is compiled from beside its own file: callees, in whatever file, and constants."""
    found = hashlib.sha256()
    for part in sorted(set(_parts(function, set()))):
        found.update(part.encode())
    return found.hexdigest()


def _parts(function: types.FunctionType, seen: set[types.FunctionType]) -> Iterator[str]:
    """The digests of all files with callees of a function, and the constants that they name."""
    if function in seen:
        return
    seen.add(function)
    path = function.__code__.co_filename
    yield _digest(path, os.stat(path).st_mtime_ns) if os.path.exists(path) else path
    for name, value in _named(function):
        if isinstance(value, Dispatcher):
            yield from _parts(value.py_func, seen)
        elif isinstance(value, types.FunctionType):
            yield from _parts(value, seen)
        elif isinstance(value, CONSTANTS):
            yield f"{name} = {value!r}"
        elif hasattr(value, "_fields"):
            yield f"{name}: {value._fields!r}"


def _named(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    """The global names that a function uses, and attributes of modules among them."""
    names = set(_names(function.__code__))
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, types.ModuleType) and not value.__name__.startswith(("numpy", "numba", "math")):
            yield from ((f"{name}.{inner}", vars(value)[inner]) for inner in names & vars(value).keys())
    if function.__closure__ is not None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
            yield name, cell.cell_contents


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


@cache
def _digest(path: str, _changed: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
