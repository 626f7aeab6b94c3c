"""Results are written whole and together, or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpuga.context import Clock
from gpuga.errors import InputError
from gpuga.files import atomic
from gpuga.files.atomic import check_writable, write_together, write_whole


def test_a_failure_of_one_result_leaves_all_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("before")
    synced = os.fsync
    calls = []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(handle)

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(InputError, match=r"two.*No space left"):
        write_together([(one, "new"), (two, "new")])
    assert one.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["one"]


def test_rights_of_a_replaced_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("before")
    path.chmod(0o640)
    write_whole(path, "after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_its_target_gets_the_content(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    write_whole(link, "content")
    assert link.is_symlink()
    assert target.read_text() == "content"


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    with pytest.raises(InputError):
        check_writable(one)


def test_a_folder_in_which_no_file_can_be_made_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(atomic.tempfile, "TemporaryFile", read_only)
    with pytest.raises(InputError, match="Read-only"):
        check_writable(tmp_path / "p.csv")


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_a_clock_takes_numbers_of_seconds_only(seconds: float) -> None:
    with pytest.raises(InputError, match="not a number of seconds"):
        Clock(seconds)
