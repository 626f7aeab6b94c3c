"""Several tables that belong together: files, or one TOML file that names them with their hierarchies and aliases.

total = "Total"                          # options of all tables: total, levels, weights, decimal, ...
[hierarchies]                            # of the dimensions of all tables, by their common names
region = "region.hrc"
activity = ["nace.hrc", "branches.hrc"]  # several may break the same codes down
[aliases.region]                         # other names of codes, with the common ones
"N." = "North"

[[table]]
file = "turnover.csv"
name = "turnover"                        # of its pattern; that of the file, if it is not given
measure = "turnover"                     # tables of different measures share no cells
columns = { area = "region" }            # its names of dimensions, with the common ones
# and options of this table alone: hierarchies, aliases, total, totals, ignore, levels, ...
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuga.declared import as_list
from gpuga.errors import InputError, printable
from gpuga.files.hrc import files_of, read_hierarchy
from gpuga.files.read import Source, WrittenOptions, read_source
from gpuga.files.source import read_text
from gpuga.table.hierarchies import Hierarchy
from gpuga.table.links import Member
from gpuga.table.undeclared import NOTHING_SENSITIVE, warn_without_primaries

SUFFIX = ".toml"
TEXTS = ("total", "levels", "weights", *WrittenOptions.__annotations__)
"""What may be said of all tables or of one, as one text each."""

LISTS, MAPPINGS = ("ignore", "dimensions"), ("totals", "coincidences")
OF_ALL = ("hierarchies", "aliases", "table", *TEXTS)
OF_ONE = ("file", "name", "measure", "columns", "hierarchies", "aliases", *TEXTS, *LISTS, *MAPPINGS)


@dataclass(frozen=True, eq=False)
class TableOfPlan:
    """A table with its file, and how the other tables call its dimensions and codes."""

    source: Source
    member: Member


def is_plan(path: str | Path) -> bool:
    """Whether a file names several tables."""
    return Path(path).suffix.lower() == SUFFIX


def read_files(
    paths: Sequence[str | Path], hierarchies: Mapping[str, Sequence[str | Path]] | None = None, **options: Any
) -> list[TableOfPlan]:
    """Tables of several files, which share the hierarchies of their dimensions and all options."""
    trees = {name: [read_hierarchy(file) for file in files] for name, files in (hierarchies or {}).items()}
    found = []
    for path in paths:
        source = _read(path, **options, common=trees)
        found.append(TableOfPlan(source, Member(source.table, _file_name(Path(path).stem, Path(path)))))
    for name in trees:
        if not any(name in [d.name for d in one.member.grid.dimensions] for one in found):
            raise InputError(f"no table has a dimension {printable(name)!r}", field="--hierarchy")
    return _with_primaries(found)


def read_tables(path: str | Path) -> list[TableOfPlan]:
    """The tables that a TOML file names."""
    path = Path(path)
    try:
        content = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"is not TOML ({printable(fault)})", path=path) from None
    _check_keys(content, OF_ALL, path)
    tables = content.get("table")
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise InputError('names no table: write [[table]] and below it file = "..."', path=path, field="table")
    shared = {name: content[name] for name in TEXTS if name in content}
    trees = _hierarchies(content.get("hierarchies", {}), path)
    aliases = _aliases(content.get("aliases", {}), path)
    return _with_primaries([_read_one(one, path, shared, trees, aliases) for one in tables])


def files_named(path: str | Path) -> list[str]:
    """All files that a TOML file names, for a look at them before anything is written."""
    try:
        content = tomllib.loads(read_text(Path(path)))
    except tomllib.TOMLDecodeError:
        return []  # said when the tables are read
    tables = content.get("table")
    found: list[object] = []
    for one in [content, *(tables if isinstance(tables, list) else [])]:
        if isinstance(one, dict):
            trees = one.get("hierarchies")
            given = trees.values() if isinstance(trees, dict) else ()
            found += [one.get("file"), *(file for files in given for file in as_list(files))]
    return [str(Path(path).parent / file) for file in found if isinstance(file, str)]


def _read_one(
    given: dict[str, Any],
    path: Path,
    shared: dict[str, Any],
    trees: Mapping[str, Sequence[Hierarchy]],
    aliases: Mapping[str, Mapping[str, str]],
) -> TableOfPlan:
    """One table; what is said of it takes the place of what is said of all."""
    _check_keys(given, OF_ONE, path)
    if not isinstance(given.get("file"), str):
        raise InputError("is missing: every table needs one", path=path, field="file")
    columns = _texts(given.get("columns", {}), path, "columns")
    own_name = {common: own for own, common in columns.items()}
    own_trees = _hierarchies(given.get("hierarchies", {}), path)
    own_aliases = _aliases(given.get("aliases", {}), path)
    known = {name: {**aliases.get(name, {}), **own_aliases.get(name, {})} for name in {**aliases, **own_aliases}}
    here = {own_name.get(name, name): alias for name, alias in known.items()}
    options = shared | {name: given[name] for name in (*TEXTS, *LISTS, *MAPPINGS) if name in given}
    source = _read(
        path.parent / given["file"],
        hierarchies={own_name.get(name, name): tree for name, tree in own_trees.items()},
        common={own_name.get(name, name): tree for name, tree in trees.items()},
        aliases=here,
        **options,
    )
    name = _file_name(_text(given.get("name", Path(given["file"]).stem), path, "name"), path)
    measure = _text(given.get("measure", ""), path, "measure")
    member = Member(source.table, name, columns, known, measure)
    for own in columns:
        if own not in [d.name for d in member.grid.dimensions]:
            what = f"table {printable(name)!r} has no dimension {printable(own)!r}"
            raise InputError(what, path=path, field="columns")
    return TableOfPlan(source, member)


def _read(path: str | Path, **options: Any) -> Source:
    """A table; that one of several has no sensitive cell is nothing to be said."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=NOTHING_SENSITIVE)
        return read_source(path, **options)


def _with_primaries(tables: list[TableOfPlan]) -> list[TableOfPlan]:
    """The tables; that none of them has a sensitive cell is said."""
    if not any(len(one.source.table.sensitive) for one in tables):
        warn_without_primaries(tables[0].source.table)
    return tables


def _check_keys(given: Mapping[str, Any], known: Sequence[str], path: Path) -> None:
    """Refuse words that mean nothing here, and words where texts belong."""
    for key, value in given.items():
        if key not in known:
            raise InputError(f"is not one of {', '.join(known)}", path=path, field=key)
        if key in TEXTS:
            _text(value, path, key)
        if key in LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise InputError("must be a list of texts", path=path, field=key)
        if key in MAPPINGS and not isinstance(value, dict):
            raise InputError("must be a table of dimensions", path=path, field=key)


def _text(value: object, path: Path, key: str) -> str:
    if not isinstance(value, str):
        raise InputError("must be a text", path=path, field=key)
    return value


def _texts(value: object, path: Path, key: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise InputError("must be a table of texts", path=path, field=key)
    return value


def _aliases(value: object, path: Path) -> dict[str, dict[str, str]]:
    """By dimension: other names of codes, with the common ones."""
    if not isinstance(value, dict):
        raise InputError("must be a table of dimensions", path=path, field="aliases")
    return {name: _texts(codes, path, f"aliases.{name}") for name, codes in value.items()}


def _hierarchies(value: object, path: Path) -> dict[str, list[Hierarchy]]:
    """By dimension: the files of its hierarchies, read."""
    if not isinstance(value, dict):
        raise InputError("must be a table of dimensions", path=path, field="hierarchies")
    found = {}
    for name, given in value.items():
        files = [given] if isinstance(given, str) else given
        if not isinstance(files, list) or not files or not all(isinstance(file, str) for file in files):
            raise InputError("must be a file or a list of files", path=path, field=f"hierarchies.{name}")
        found[name] = [read_hierarchy(path.parent / file) for file in files_of(files)]
    return found


def _file_name(name: str, path: Path) -> str:
    """The name of a table, once it is known that its pattern can be called so."""
    if not name or name.startswith(".") or not name.isprintable() or set(name) & set('/\\:*?"<>|'):
        raise InputError(f"{printable(name)!r} cannot be the name of a pattern file", path=path, field="name")
    return name
