"""Patterns written to files, without the commands."""

from __future__ import annotations

from pathlib import Path

from gpuga.files.atomic import write_whole
from gpuga.files.pattern import pattern_content
from gpuga.files.read import Source
from gpuga.table.table import Mask


def write_pattern(source: Source, suppressed: Mask, path: Path) -> None:
    """The pattern of a table that came from a file, in the format that the name of the new one says."""
    write_whole(path, pattern_content(source, suppressed, path))
