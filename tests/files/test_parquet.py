"""What a Parquet file says of itself is judged before it is read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from gpuga.errors import InputError
from gpuga.files.parquet import _refuse_claims


def claimed(rows: int, columns: int, *sizes: int) -> SimpleNamespace:
    """The metadata of a file with row groups of so many bytes."""
    groups = [SimpleNamespace(total_byte_size=size) for size in sizes]
    return SimpleNamespace(num_rows=rows, num_columns=columns, num_row_groups=len(groups), row_group=groups.__getitem__)


@pytest.mark.parametrize(
    ("rows", "columns", "sizes"),
    [(20_000_000, 10, (9,)), (10, 20_000_000, (9,)), (2, 2, (2**29, 2**29)), (0, 3, ())],
)
def test_a_file_may_claim_ten_million_rows_fifty_million_fields_and_a_gigabyte(
    rows: int, columns: int, sizes: tuple[int, ...]
) -> None:
    _refuse_claims(claimed(rows, columns, *sizes), Path("t.parquet"))


@pytest.mark.parametrize(
    ("rows", "columns", "sizes", "says"),
    [
        (20_000_001, 1, (9,), "claims 20000001 rows of 1 columns"),
        (20_000_000, 11, (9,), "claims 20000000 rows of 11 columns"),
        (1, 200_000_001, (9,), "at most 20000000 rows and 200000000 fields are possible"),
        (2, 2, (2**29, 2**29, 1), "would unpack to 1073741825 bytes; at most 1073741824 are possible"),
    ],
)
def test_a_file_that_claims_more_is_refused(rows: int, columns: int, sizes: tuple[int, ...], says: str) -> None:
    with pytest.raises(InputError, match=says) as fault:
        _refuse_claims(claimed(rows, columns, *sizes), Path("t.parquet"))
    assert fault.value.path == Path("t.parquet")
