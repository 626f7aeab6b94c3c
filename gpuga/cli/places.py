"""Where a run reads and writes, looked at before the work: no output is an input or another output."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gpuga.errors import InputError, printable
from gpuga.files.atomic import check_folder, check_writable, is_device, real_path

Named = Mapping[str, str | Iterable[str] | None]
"""Files by the option (or argument) that names them; None where it was not given."""

Identity = tuple[int, int, str]


def check_places(inputs: Named, outputs: Named, folder: str | None = None) -> None:
    """Refuse outputs that cannot be written or that name an input or each other; `folder` is that of checkpoints."""
    taken: dict[Identity, str] = {}
    for option, path in _each(inputs):
        if (identity := _identity(path)) is not None:
            taken.setdefault(identity, option)
    for option, path in _each(outputs):
        _take(taken, option, path)
        check_writable(path)
    if folder is not None:
        _take(taken, "--checkpoint", folder)
        _check_checkpoints(folder)


def _each(named: Named) -> Iterator[tuple[str, str]]:
    for option, paths in named.items():
        for path in (paths,) if isinstance(paths, str) else (paths or ()):
            yield option, path


def _take(taken: dict[Identity, str], option: str, path: str) -> None:
    identity = _identity(path)
    if identity is None:
        return
    if identity in taken:
        raise InputError(f"names the same file as {printable(taken[identity])}", path=path, field=option)
    taken[identity] = option


def _identity(path: str) -> Identity | None:
    """What two names of one file have in common, through links of both kinds; None for devices and pipes."""
    target = real_path(path)
    try:
        if is_device(path):
            return None
        if target.exists():
            info = os.stat(target)
            return info.st_dev, info.st_ino, ""
        above = os.stat(target.parent)
        return above.st_dev, above.st_ino, target.name
    except OSError:
        return 0, 0, str(target)


def _check_checkpoints(folder: str) -> None:
    """Make the folder of checkpoints, and see that files can be made in it."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        check_folder(Path(folder))
    except FileExistsError:
        raise InputError("is a file: name a folder", path=folder, field="--checkpoint") from None
    except OSError as fault:
        raise InputError(f"cannot be written to ({fault.strerror})", path=folder, field="--checkpoint") from None
