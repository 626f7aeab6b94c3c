"""Results that are too large for memory are written by whoever has them, and still whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpuga.errors import InputError
from gpuga.files.atomic import write_together, write_whole


def large(part: Path) -> None:
    part.write_bytes(b"large")


def test_who_has_a_large_result_writes_it_in_place(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    out.chmod(0o640)
    write_whole(out, large)
    assert out.read_bytes() == b"large"
    assert out.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_a_result_that_is_not_finished_leaves_nothing(tmp_path: Path, fault: BaseException) -> None:
    def stopped(part: Path) -> None:
        part.write_bytes(b"half")
        raise fault

    before = tmp_path / "before"
    before.write_text("before")
    expected = InputError if isinstance(fault, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_together([(before, "new"), (tmp_path / "out", stopped)])
    assert [p.name for p in tmp_path.iterdir()] == ["before"]
    assert before.read_text() == "before"


def test_a_pipe_gets_what_cannot_be_written_in_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, large)
        assert os.read(reader, 100) == b"large"
    finally:
        os.close(reader)
