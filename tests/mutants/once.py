"""Tests in a new process in which one module is imported with another text: for changes outside every function."""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path

import pytest


def substitute(module: str, text: str) -> None:
    """Have the module at a path imported with this text; nothing is written into caches."""
    sys.dont_write_bytecode = True
    read = SourceFileLoader.get_data

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        if os.path.realpath(path) == module:
            return text.encode()
        if path.endswith(".pyc") and os.path.realpath(self.path) == module:
            raise OSError(f"the compiled form {cache_from_source(self.path)} is of another text")
        return read(self, path)

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign]


def main() -> None:
    """`once MODULE TEXT TEST...`: exit code 0 if all tests pass."""
    module, text, *tests = sys.argv[1:]
    substitute(module, Path(text).read_text())
    sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests]))


if __name__ == "__main__":
    main()
