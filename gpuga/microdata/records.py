"""Records: a microdata file (CSV or Parquet, larger than memory is fine) opened in an embedded DuckDB.

The columns that are asked for are copied as text into a private temporary database, so that every later step
reads them once more in file order, and a complaint can name the first bad row. Nothing of it outlives the
`with` block.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from errno import EIO
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict

from numpy.typing import NDArray

from gpuga.errors import InputError, MissingExtra, printable
from gpuga.files.notation import PLAIN, SIGNS, Written, find_notation
from gpuga.microdata.readable import readable_copy, separator_of

MOST_DECIMALS = 9
_UNCLEAR = "[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}"
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def quoted(name: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def is_parquet(path: Path) -> bool:
    """Whether the name says Parquet; everything else is CSV."""
    return path.suffix.lower() in (".parquet", ".pq")


class OpeningOptions(TypedDict, total=False):
    """How a microdata file is read: how it is written (found out where not said), and the number of threads (all)."""

    written: Written | None
    threads: int | None


class Records:
    """An open microdata file. `column(i)` of the table `records` is the i-th name given to `load`."""

    def __init__(self, path: str | Path, written: Written | None = None, threads: int | None = None) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingExtra("reading microdata", "microdata") from error
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no such file", path=self.path)
        if any(c in str(self.path) for c in "*?[]"):
            raise InputError("the file's path contains one of * ? [ ], rename it", path=self.path)
        self.written = written or Written()
        self._failures: type[Exception] = duckdb.Error
        self._directory = tempfile.TemporaryDirectory(prefix="gpuga-")
        self._file, self.delimiter = self.path, ","
        if is_parquet(self.path):
            self.written.refuse(self.path, "a Parquet file", "encoding", "separator", "sheet")
        else:
            self._file = readable_copy(self.path, self.written, Path(self._directory.name))
            self.delimiter = separator_of(self._file, self.path, self.written)
        # No extension is fetched, none is needed: nothing leaves the machine because of a file's contents.
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": self._directory.name,
            "preserve_insertion_order": True,
        }
        if threads is not None:
            settings["threads"] = threads
        self.connection = duckdb.connect(str(Path(self._directory.name) / "records.duckdb"), config=settings)

    def __enter__(self) -> Records:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()
        self._directory.cleanup()

    @property
    def source(self) -> str:
        """The SQL table function that reads the file; its parameters are `source_parameters`."""
        if is_parquet(self.path):
            return "read_parquet(?)"
        return "read_csv(?, delim = ?, header = true, all_varchar = true, quote = '\"', escape = '\"')"

    @property
    def source_parameters(self) -> list[str]:
        """What `source` is called with."""
        return [str(self._file)] if is_parquet(self.path) else [str(self._file), self.delimiter]

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Run a statement; what DuckDB refuses becomes one sentence without any value."""
        try:
            return self._interruptible(lambda: self.connection.execute(sql, list(parameters)))
        except self._failures as error:
            raise self._refused(error) from None

    def _interruptible(self, work: Callable[[], Any]) -> Any:
        """Do it in another thread: DuckDB itself would heed Ctrl-C only after a part of its work, which can be long."""
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(work)
            try:
                return answer.result()
            except KeyboardInterrupt:
                self.connection.interrupt()
                raise

    def copy(self, table: str, target: Path, *, like: Path) -> None:
        """Write a table into a file that is there, of the kind that the name `like` says."""
        kind = "FORMAT parquet" if is_parquet(like) else f"FORMAT csv, HEADER, DELIMITER '{self.delimiter}'"
        place = str(target).replace("'", "''")
        try:
            self.connection.execute(f"COPY {table} TO '{place}' ({kind}, USE_TMP_FILE false)")
        except self._failures as error:
            reason = str(error).rpartition(": ")[2]
            raise OSError(EIO, printable(reason)) from None

    def _refused(self, error: Exception) -> InputError:
        text = str(error)
        line = re.search(r"[Ll]ine:? (\d+)", text)
        kind = text.split(":", 1)[0]
        what = "is not a well-formed file"
        if "Expected Number of Columns" in text or "xpected number of columns" in text:
            what = "the number of columns differs from the header's"
        elif kind not in ("Invalid Input Error", "CSV Error", "IO Error"):
            what = f"could not be read ({printable(kind)})"
        return InputError(what, path=self.path, line=int(line[1]) if line else None)

    def append(self, table: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Append columns of equal length, in the table's order, to a table."""
        columns = dict(arrays)  # found by its name in the statement below
        self.connection.register("columns_to_append", columns)
        self.run(f"INSERT INTO {table} SELECT * FROM columns_to_append")
        self.connection.unregister("columns_to_append")

    def header(self) -> list[str]:
        """The file's column names, in order."""
        rows = self.run(f"DESCRIBE SELECT * FROM {self.source}", self.source_parameters).fetchall()
        return [str(row[0]) for row in rows]

    def load(self, columns: Sequence[str]) -> None:
        """Copy these columns, as text, into the table `records` (column names c0, c1, ...)."""
        known = self.header()
        for name in columns:
            if name not in known:
                raise InputError(
                    f"there is no such column; the file has {', '.join(printable(c) for c in known)}",
                    path=self.path, field=name,
                )  # fmt: skip
        chosen = ", ".join(f"CAST({quoted(c)} AS VARCHAR) AS c{i}" for i, c in enumerate(columns))
        self.run(f"CREATE TABLE records AS SELECT {chosen} FROM {self.source}", self.source_parameters)
        self.columns = list(columns)
        self.count = int(self.run("SELECT count(*) FROM records").fetchone()[0])
        if self.count == 0:
            raise InputError("there is no record in the file", path=self.path)

    def column(self, name: str) -> str:
        """The SQL name of a loaded column."""
        return f"c{self.columns.index(name)}"

    def complain(self, row: int, column: str, what: str) -> InputError:
        """An error about record `row` (from 0): CSV lines count from the header, Parquet rows from 1."""
        if is_parquet(self.path):
            return InputError(f"row {row + 1}: {what}", path=self.path, field=column)
        return InputError(what, path=self.path, line=row + 2, field=column)

    def refuse_where(self, condition: str, column: str, what: str, parameters: Sequence[Any] = ()) -> None:
        """Raise for the first record (in file order) for which the SQL condition holds."""
        row = self.run(f"SELECT min(rowid) FROM records WHERE {condition}", parameters).fetchone()[0]
        if row is not None:
            raise self.complain(int(row), column, what)

    def refuse_blank(self, name: str) -> None:
        """Raise for the first record in which the column is blank."""
        self.refuse_where(f"trim(coalesce({self.column(name)}, '')) = ''", name, "is blank")

    def write_plainly(self, names: Sequence[str]) -> None:
        """Rewrite columns of numbers with points and without thousands, whatever signs the file has."""
        columns = {name: self._examples(self.column(name)) for name in names}
        try:
            notation = find_notation(columns, *self.written.signs, comma_separated=self.delimiter == ",")
        except InputError as fault:
            raise InputError(fault.what, path=self.path, field=fault.field) from None
        if notation == PLAIN and self.written.decimal is None and self.written.thousands is None:
            return
        signs = "|".join(f"[{sign}]" for sign in SIGNS).replace("'", "''")
        pattern = notation.pattern.replace("'", "''")
        for name in names:
            column = self.column(name)
            text = f"trim({column})"
            well = f"regexp_full_match({text}, '{pattern}')"
            what = f"is not a number with {notation.words} (--decimal and --thousands say how numbers are written)"
            self.refuse_where(f"regexp_matches({text}, '{signs}') AND NOT {well}", name, what)
            plain = (
                f"translate({text}, '{notation.decimal}\u2212{notation.dropped.replace(chr(39), chr(39) * 2)}', '.-')"
            )
            self.run(f"UPDATE records SET {column} = {plain} WHERE {well}")

    def _examples(self, column: str) -> list[str]:
        """Some numbers with each sign, first those that can be read in one way only."""
        found: list[str] = []
        text = f"trim({column})"
        for sign in SIGNS:
            for clear in (f"AND NOT regexp_full_match({text}, '{_UNCLEAR}')", ""):
                where = f"contains({text}, ?) {clear} ORDER BY rowid LIMIT 100"
                found += [
                    str(row[0]) for row in self.run(f"SELECT {text} FROM records WHERE {where}", [sign]).fetchall()
                ]
        return list(dict.fromkeys(found))

    def number(self, name: str, decimals: int | None = None) -> tuple[str, int]:
        """An SQL expression for the column as an exact scaled integer (BIGINT), and its number of decimals.

        Without `decimals` every digit counts; with it, values are rounded to that many. The expression is
        NULL where a number has too many digits for exact arithmetic.
        """
        text = f"trim({self.column(name)})"
        number = f"TRY_CAST({text} AS DOUBLE)"
        point = f"CASE WHEN contains({text}, '.') THEN length({text}) - strpos({text}, '.') ELSE 0 END"
        # a quick look at every value; regular expressions only where it raises a doubt
        bad, digits, exponent = self.run(
            "SELECT min(rowid) FILTER"
            f" (WHERE {number} IS NULL OR NOT isfinite({number}) OR contains({text}, '_')),"
            f" max({point}), bool_or(contains(lower({text}), 'e')) FROM records"
        ).fetchone()
        if bad is not None:
            raise self.no_number(int(bad), name)
        if exponent or digits > MOST_DECIMALS:
            digits = self._decimals(text)
        if decimals is None and digits > MOST_DECIMALS:
            raise InputError(
                f"has values with {digits} decimals, at most {MOST_DECIMALS} are exact: choose --decimals",
                path=self.path, field=name,
            )  # fmt: skip
        kept = int(digits) if decimals is None else decimals
        return f"TRY_CAST(TRY_CAST({text} AS DECIMAL(18,{kept})) * {10**kept} AS BIGINT)", kept

    def no_number(self, row: int, name: str) -> InputError:
        """What is wrong with the number in one record."""
        text = f"trim(coalesce({self.column(name)}, ''))"
        blank, well_formed = self.run(
            f"SELECT {text} = '', regexp_full_match({text}, '{NUMBER}') FROM records WHERE rowid = ?", [row]
        ).fetchone()
        large = "is too large for exact arithmetic" if well_formed else "is not a number"
        return self.complain(row, name, "is blank" if blank else large)

    def _decimals(self, text: str) -> int:
        """The largest number of decimals of any value in a column of numbers."""
        fraction = f"length(rtrim(regexp_extract({text}, '\\.([0-9]*)', 1), '0'))"
        digits = f"nullif(regexp_extract({text}, '[eE]([+-]?[0-9]+)', 1), '')"
        exponent = f"coalesce(TRY_CAST({digits} AS INTEGER), 0)"
        row = self.run(f"SELECT max(greatest(0, {fraction} - {exponent})) FROM records").fetchone()
        return int(row[0])
