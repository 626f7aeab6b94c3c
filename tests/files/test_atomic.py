"""Results are written whole and together, or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuga.context import Clock
from gpuga.errors import InputError
from gpuga.files import atomic
from gpuga.files.atomic import check_writable, write_together, write_whole

ROOT = Path(__file__).parents[2]


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


def test_every_place_that_cannot_be_written_has_its_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path, sentence in [
        (tmp_path, "is a directory: name a file to write"),
        (tmp_path / "folder" / "p.csv", "its folder does not exist"),
        (file / "p.csv", "its folder does not exist"),
        ("", "is not a file name"),
        ("a\0b", "is not a file name"),
        (tmp_path / ("x" * 300), "File name too long"),
    ]:
        with pytest.raises(InputError, match=sentence):
            check_writable(path)
    monkeypatch.setattr(atomic.os, "access", lambda path, mode: Path(path) != file)
    with pytest.raises(InputError, match="is write-protected"):
        check_writable(file)
    check_writable(tmp_path / "p.csv")


def test_a_result_in_the_place_of_a_folder_keeps_the_others_from_being_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        write_together([(tmp_path / "one", "content"), (tmp_path, "content")])
    assert not list(tmp_path.iterdir())


def test_a_name_that_cannot_be_taken_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(atomic.os, "replace", refused)
    with pytest.raises(InputError, match="Operation not permitted"):
        write_whole(tmp_path / "p.csv", "content")
    assert not list(tmp_path.iterdir())


def test_new_files_get_the_rights_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "p.csv", "content")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "p.csv").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_takes_a_result_between_its_lines_in_a_redirected_file_too(name: str, tmp_path: Path) -> None:
    code = f"from gpuga.files.atomic import write_whole; print('a'); write_whole({name!r}, 'b\\n'); print('c')"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=ROOT)
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_a_clock_takes_numbers_of_seconds_only(seconds: float) -> None:
    with pytest.raises(InputError, match="not a number of seconds"):
        Clock(seconds)


def test_a_named_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_whole(pipe, "content")
    assert reader.communicate()[0] == b"content"
    assert pipe.is_fifo()


def test_long_names_and_any_letters_are_written(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 110 + ".csv")  # 224 bytes of at most 255
    write_whole(path, "grün\n")
    assert path.read_bytes() == "grün\n".encode()
    write_whole(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_result_lies_beside_its_target_under_a_hidden_name_until_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bytes, int]] = []
    taken = os.replace

    def noted(part: Path, target: Path) -> None:
        seen.append((part.name, part.read_bytes(), part.stat().st_mode & 0o777))
        assert part.parent == target.parent
        taken(part, target)

    monkeypatch.setattr(atomic.os, "replace", noted)
    before = os.umask(0o022)
    try:
        write_together([(tmp_path / "one.csv", "1"), (tmp_path / "two.csv", "2")])
    finally:
        os.umask(before)
    assert [(name.startswith((".one.csv.", ".two.csv.")), name.endswith(".part")) for name, _, _ in seen] == [
        (True, True)
    ] * 2
    assert [(content, mode) for _, content, mode in seen] == [(b"1", 0o644), (b"2", 0o644)]


def test_devices_come_before_any_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object) -> None:
        raise InputError("cannot be written (Broken pipe)")

    monkeypatch.setattr(atomic, "_write_device", closed)
    with pytest.raises(InputError, match="Broken pipe"):
        write_together([(tmp_path / "one.csv", "1"), ("/dev/null", "2")])
    assert not list(tmp_path.iterdir())
