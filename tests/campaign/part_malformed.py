"""Part `malformed`: inputs and options that are wrong, each of which must end in exit code 2 and one sentence.

Nothing may be written, no input changed, no traceback shown, and no number of a sensitive cell repeated.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.campaign.tally import Tally, at_most
from tests.campaign.terminal import Ended, run_command, run_process

IN_A_PROCESS = 30  # every so many cases, one runs in a process of its own
SECRET = "7654321"  # the value of the sensitive cell in the templates

JJ = f"""0
4
0 {SECRET} 3 u 0 100000000000000000000 1000 1000 0
1 5 3 s 0 100000000000000000000 0 0 0
2 6 3 s 0 100000000000000000000 0 0 0
3 7654332 3 s 0 100000000000000000000 0 0 0
1
0 4 : 0 (1) 1 (1) 2 (1) 3 (-1)
"""

CSV = f"""region,size,value,status,lower,upper,weight
North,small,{SECRET},u,1000,1000,4
North,large,120,s,,,5
South,small,300,s,,,6
South,large,450,s,,,7
"""

UNDECLARED = """region,size,value,status
A,x,1042,u
A,y,2177,s
A,z,311,s
B,x,3391,s
B,y,4723,s
B,z,975,s
All,x,4433,s
All,y,6900,s
All,z,1286,s
C,x,500,s
C,y,900,s
C,z,77,s
"""
HRC = "North\nSouth\n"
PATTERN = "index,suppression\n0,primary\n1,secondary\n2,published\n3,published\n"


@dataclass(frozen=True)
class Case:
    """One wrong thing: the files that are there and the command that meets it."""

    name: str
    arguments: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]
    codes: tuple[int, ...] = (2,)


def _case(name: str, arguments: str, **files: str | bytes) -> Case:
    named = {"t.jj": JJ, "t.csv": CSV, "r.hrc": HRC, "p.csv": PATTERN}
    named |= {key.replace("__", "."): content for key, content in files.items()}  # type: ignore[misc]
    content = {n: c if isinstance(c, bytes) else c.encode() for n, c in named.items()}
    return Case(
        name, tuple(arguments.split("\x00") if "\x00" in arguments else arguments.split()), tuple(content.items())
    )


READ_JJ = "expose bad.jj"
READ_CSV = "expose bad.csv"


@cache
def cases() -> tuple[Case, ...]:
    """Every case, in a fixed order."""
    readers = (_jj_fields, _jj_frames, _csv_fields, _csv_frames, _notations, _workbooks, _argus, _hierarchies, _parquet)
    makers = (*readers, _patterns, _options, _folders)
    return tuple(case for maker in makers for case in maker())


# --- .jj

NOT_NUMBERS = ("x", "nan", "1e400", "--1", "1,5", "½", "٣", "0x10", "1_000", "1.2.3", "9" * 40)


def _changed(text: str, line: int, field: int, token: str, separator: str | None = None) -> str:
    lines = text.split("\n")
    fields = lines[line].split(separator)
    fields[field] = token
    lines[line] = (separator or " ").join(fields)
    return "\n".join(lines)


def _jj_fields() -> Iterator[Case]:
    names = ("index", "value", "weight", "status", "lb", "ub", "lower", "upper", "sliding")
    for at, name in enumerate(names):
        for token in NOT_NUMBERS:
            if name in ("lb", "ub") and token in ("1e400", "9" * 40):
                continue  # a bound beyond every number is none
            if name == "index" and token == "9" * 40:
                continue  # an odd name, but a name: the equation's cell is then missing, tried below
            yield _case(f".jj: {name} is {token}", READ_JJ, bad__jj=_changed(JJ, 2, at, token))
    for token in ("inf", "-inf", "-5"):
        for at in (6, 7, 8):
            yield _case(f".jj: level is {token}", READ_JJ, bad__jj=_changed(JJ, 2, at, token))
    for token in ("inf", "-1"):
        yield _case(f".jj: weight is {token}", READ_JJ, bad__jj=_changed(JJ, 3, 2, token))
    for token in ("U", "q", "us", "0", "ſ"):
        yield _case(f".jj: status is {token}", READ_JJ, bad__jj=_changed(JJ, 2, 3, token))
    yield _case(".jj: value below lb", READ_JJ, bad__jj=_changed(JJ, 3, 4, "6"))
    yield _case(".jj: value above ub", READ_JJ, bad__jj=_changed(JJ, 3, 5, "4"))
    yield _case(".jj: no room for levels", READ_JJ, bad__jj=_changed(_changed(JJ, 2, 4, SECRET), 2, 5, SECRET))
    yield _case(".jj: not additive", READ_JJ, bad__jj=_changed(JJ, 3, 1, "55"))
    yield _case(".jj: an index twice", READ_JJ, bad__jj=_changed(JJ, 3, 0, "0"))
    yield _case(".jj: sums beyond exact arithmetic", READ_JJ, bad__jj=JJ.replace("7654332", "9223372036854775000"))


def _jj_frames() -> Iterator[Case]:
    lines = JJ.rstrip("\n").split("\n")
    for token in ("1", "", "x", "00", "\ufeff\ufeff0"):
        yield _case(f".jj: first line {token!r}", READ_JJ, bad__jj="\n".join([token, *lines[1:]]))
    for token in ("-1", "x", "99", "²", "1e1", "0", "", "4.0", "9" * 30):
        yield _case(f".jj: number of cells {token!r}", READ_JJ, bad__jj="\n".join([lines[0], token, *lines[2:]]))
        yield _case(
            f".jj: number of equations {token!r}", READ_JJ, bad__jj="\n".join([*lines[:6], token or "x", lines[7]])
        )
    for keep in range(8):
        yield _case(f".jj: cut after {keep} lines", READ_JJ, bad__jj="\n".join(lines[:keep]))
    equations = {
        "right-hand side x": "x 4 : 0 (1) 1 (1) 2 (1) 3 (-1)",
        "right-hand side nan": "nan 4 : 0 (1) 1 (1) 2 (1) 3 (-1)",
        "right-hand side inf": "inf 4 : 0 (1) 1 (1) 2 (1) 3 (-1)",
        "too few entries": "0 4 : 0 (1) 1 (1) 2 (1)",
        "too many entries": "0 3 : 0 (1) 1 (1) 2 (1) 3 (-1)",
        "a cell that is not there": "0 4 : 0 (1) 1 (1) 2 (1) 7 (-1)",
        "a sign that is a word": "0 4 : 0 (1) 1 (1) 2 (1) 3 (minus)",
        "a sign that is a fraction": "0 4 : 0 (1) 1 (1) 2 (1) 3 (-1.5)",
        "a sign too large": "0 4 : 0 (1) 1 (1) 2 (1) 3 (-100000000)",
        "a cell twice": "0 5 : 0 (1) 1 (1) 2 (1) 3 (-1) 0 (1)",
        "a count that is a superscript": "0 \u00b2 : 0 (1) 1 (1)",
        "an Arabic count": "0 \u0664 : 0 (1) 1 (1) 2 (1) 3 (-1)",
        "an Arabic sign": "0 4 : 0 (\u0661) 1 (1) 2 (1) 3 (-1)",
        "a zero sign": "0 4 : 0 (0) 1 (1) 2 (1) 3 (-1)",
        "nothing": "",
        "off by one": "1 4 : 0 (1) 1 (1) 2 (1) 3 (-1)",
    }
    for name, text in equations.items():
        yield _case(f".jj: equation with {name}", READ_JJ, bad__jj="\n".join([*lines[:7], text]) + "\n")
    yield _case(".jj: more after the end", READ_JJ, bad__jj=JJ + "5 6 7\n")
    yield _case(".jj: bytes", READ_JJ, bad__jj=bytes(range(256)))
    yield _case(".jj: half of UTF-16", READ_JJ, bad__jj=JJ.encode("utf-16")[:-1])
    yield _case(".jj: a zero byte", READ_JJ, bad__jj=JJ.replace("5 3", "5\x003"))


# --- .csv


def _csv_fields() -> Iterator[Case]:
    header = CSV.split("\n", 1)[0] + ",sliding,lb,ub,contributors"
    body = [line + ",5,0,99999999,3" for line in CSV.strip().split("\n")[1:]]
    whole = "\n".join([header, *body]) + "\n"
    names = header.split(",")
    for name in ("value", "lower", "upper", "weight", "sliding", "lb", "ub", "contributors"):
        for token in ("x", "nan", "--1", "½", "٣", "0x10", "1_000", "1.2.3"):
            yield _case(
                f".csv: {name} is {token}", READ_CSV, bad__csv=_changed(whole, 1, names.index(name), token, ",")
            )
    for name in ("value", "lower", "upper", "sliding", "weight", "contributors"):
        for token in ("inf", "1e400", "9" * 40):
            yield _case(
                f".csv: {name} is {token}", READ_CSV, bad__csv=_changed(whole, 1, names.index(name), token, ",")
            )
    for name in ("lower", "upper", "sliding", "weight", "contributors"):
        yield _case(f".csv: {name} is negative", READ_CSV, bad__csv=_changed(whole, 1, names.index(name), "-3", ","))
    yield _case(
        ".csv: contributors are a fraction",
        READ_CSV,
        bad__csv=_changed(whole, 1, names.index("contributors"), "2.5", ","),
    )
    for name in ("value", "region", "size", "weight"):
        yield _case(f".csv: {name} is blank", READ_CSV, bad__csv=_changed(whole, 1, names.index(name), "", ","))
    for token in ("x", "us", "1", "sensitive", "primary"):
        yield _case(f".csv: status is {token}", READ_CSV, bad__csv=_changed(CSV, 1, 3, token, ","))
    yield _case(".csv: value above ub", READ_CSV, bad__csv=_changed(whole, 2, names.index("ub"), "3", ","))
    yield _case(".csv: value below lb", READ_CSV, bad__csv=_changed(whole, 2, names.index("lb"), "3000", ","))


def _csv_frames() -> Iterator[Case]:
    lines = CSV.strip().split("\n")
    headers = {
        "no value": "region,size,amount,status,lower,upper,weight",
        "Value": "region,size,Value,status,lower,upper,weight",
        "Status": "region,size,value,Status,lower,upper,weight",
        "flag": "region,size,value,flag,lower,upper,weight",
        "STATUS with a space": "region,size,value,STATUS ,lower,upper,weight",
        "a name twice": "region,region,value,status,lower,upper,weight",
        "a blank name": "region,,value,status,lower,upper,weight",
        "too short": "region,size,value,status",
    }
    for name, header in headers.items():
        yield _case(f".csv: header with {name}", READ_CSV, bad__csv="\n".join([header, *lines[1:]]) + "\n")
    texts: dict[str, str | bytes] = {
        "empty": "",
        "blank lines only": "\n\n\n",
        "header only": lines[0] + "\n",
        "a row too long": CSV + "North,tiny,3,s,,,4,9\n",
        "a row too short": CSV + "North,tiny\n",
        "a row twice": CSV + lines[2] + "\n",
        "an open quote": CSV + '"North,tiny,3,s,,,4\n',
        "text after a quote": CSV + '"North"x,tiny,3,s,,,4\n',
        "a total that is wrong": CSV + "Total,small,5,s,,,9\n",
        "no dimension": "value,status\n3,u\n",
        "bytes": bytes(range(256)),
        "a zero byte": CSV.replace("120", "1\x0020"),
        "a sensitive zero": CSV.replace("North,large,120,s,,", "North,large,0,u,,").replace("u,,,5", "u,0,0,5"),
        "status and sensitive": CSV.replace("weight", "sensitive").replace(",4\n", ",1\n"),
        "sums beyond exact arithmetic": CSV.replace("450", "1152921504606846970"),
        "a file of one comma": ",",
        "totals that are not declared": UNDECLARED,
        "members of unknown cells": "region,value,status,members,lower,upper\nA,10,u,,2,2\nB,20,s,,,\n,30,,0 9,3,3\n",
        "a group of one": "region,value,status,members,lower,upper\nA,10,u,,2,2\nB,20,s,,,\n,10,,0,3,3\n",
        "a group with a wrong sum": "region,value,status,members,lower,upper\nA,10,u,,2,2\nB,20,s,,,\n,31,,0 1,3,3\n",
        "a group without a level": "region,value,status,members,lower,upper\nA,10,u,,2,2\nB,20,s,,,\n,30,,0 1,,\n",
        "cells below a group": "region,value,status,members,lower,upper\nA,10,u,,2,2\n,30,,0 1,3,3\nB,20,s,,,\n",
    }
    for name, text in texts.items():
        yield _case(f".csv: {name}", READ_CSV, bad__csv=text)
    many = ",".join(f"d{i}" for i in range(60)) + ",value,status\n" + ",".join("a" for _ in range(60)) + ",1,u\n"
    yield _case(".csv: sixty dimensions", READ_CSV, bad__csv=many)
    wide = ",".join(f"d{i}" for i in range(30)) + ",value,status\n"
    wide += "".join(",".join(f"{c}{i}" for i in range(30)) + ",5,s\n" for c in "abc")
    yield _case(".csv: thirty dimensions of three codes", READ_CSV, bad__csv=wide)


def _notations() -> Iterator[Case]:
    """Numbers, letters and columns that could be read in two ways, or in none."""
    texts = {
        "a sign that means two things": "r;value\na;1.234\nb;5.678\n",
        "a comma that means two things": 'r,value\na,"1,234"\nb,"5,678"\n',
        "two notations": 'r,value\na,"1.234,5"\nb,"1,234.5"\n',
        "groups of two digits": "r,value\na,12 34\nb,5\n",
        "two separators": "a,b;value\n1;2,3\n",
        "a code page of its own": b"r\x81,value\na,1\n",
        "half of UTF-16": "r,value\na,1\n".encode("utf-16")[:-1],
        "UTF-16 without a mark": "r,value\na,1\n".encode("utf-16-le"),
    }
    for name, text in texts.items():
        yield _case(f".csv: {name}", READ_CSV, bad__csv=text)
    signs = ("--decimal x", "--thousands ab", "--decimal , --thousands ,", "--separator ab")
    for option in (*signs, "--encoding klingon", "--encoding rot13", "--sheet s", "--wide region", "--wide value"):
        yield _case(f".csv: {option}", f"expose t.csv {option}")


def _workbooks() -> Iterator[Case]:
    for name, content in {"text": b"value", "empty": b"", "no archive": b"PK\x03\x04", "zeros": bytes(500)}.items():
        yield _case(f".xlsx: {name}", "expose bad.xlsx", bad__xlsx=content)


def _argus() -> Iterator[Case]:
    good = "r\n <RECODEABLE>\nv\n <NUMERIC>\n"
    yield _case(".tab: no metadata", "expose bad.tab", bad__tab="a;1\n")
    rdas = {
        "nothing": "",
        "a tag before any variable": "<NUMERIC>\n",
        "no value": "r\n <RECODEABLE>\n",
        "two values": good + "w\n <NUMERIC>\n",
        "no dimension": "v\n <NUMERIC>\n",
        "a hierarchy that is not there": good.replace("<RECODEABLE>", '<RECODEABLE>\n <HIERCODELIST> "no.hrc"'),
        "a hierarchy by digits": good.replace("<RECODEABLE>", "<RECODEABLE>\n <HIERLEVELS> 1 1"),
        "an empty separator": '<SEPARATOR> ""\n' + good,
        "a long separator": '<SEPARATOR> "ab"\n' + good,
        "bytes": bytes(range(256)),
    }
    for name, rda in rdas.items():
        yield _case(f".tab: metadata with {name}", "expose bad.tab", bad__tab="a;1\nb;2\n", bad__rda=rda)
    for name, tab in {
        "too many fields": "a;1;2\n",
        "a word": "a;many\n",
        "a quote": 'a;"1\n',
        "zeros": bytes(9),
    }.items():
        yield _case(f".tab: {name}", "expose bad.tab", bad__tab=tab, bad__rda=good)


def _hierarchies() -> Iterator[Case]:
    command = "expose t.csv --hierarchy region=bad.hrc"
    texts: dict[str, str | bytes] = {
        "empty": "",
        "a step too deep": "North\n@@South\n",
        "a first line below nothing": "@North\nSouth\n",
        "a code twice": "North\nSouth\nNorth\n",
        "a code below itself": "North\n@North\nSouth\n",
        "a code that is not in the table": "North\nSouth\nWest\n",
        "a code of the table that is missing": "North\n",
        "the total itself": "Total\nNorth\nSouth\n",
        "signs only": "North\n@\nSouth\n",
        "bytes": bytes(range(128, 256)),
        "two thousand steps": "".join("@" * i + f"c{i}\n" for i in range(2000)) + "North\nSouth\n",
    }
    for name, text in texts.items():
        yield _case(f".hrc: {name}", command, bad__hrc=text)
    for pair in ("region", "=r.hrc", "region=", "nothing=r.hrc", "value=r.hrc", "region=missing.hrc", "region=."):
        yield _case(f".hrc: --hierarchy {pair}", f"expose t.csv --hierarchy {pair}")
    yield _case(".hrc: for a .jj table", "expose t.jj --hierarchy region=r.hrc")


def _parquet() -> Iterator[Case]:
    command = "expose bad.parquet"
    yield _case(".parquet: text", command, bad__parquet="this is not Parquet")
    yield _case(".parquet: empty", command, bad__parquet=b"")
    if find_spec("pyarrow") is None:
        return
    import pyarrow
    from pyarrow import parquet

    def made(columns: dict[str, object]) -> bytes:
        into = io.BytesIO()
        parquet.write_table(pyarrow.table(columns), into)
        return into.getvalue()

    good: dict[str, object] = {"region": ["A", "B"], "value": [10, 20], "status": ["u", "s"]}
    whole = made(good)
    for keep in (4, 50, len(whole) // 2, len(whole) - 1, len(whole) - 9):
        yield _case(f".parquet: cut after {keep} bytes", command, bad__parquet=whole[:keep])
    yield _case(
        ".parquet: a flipped footer",
        command,
        bad__parquet=whole[:-20] + bytes(b ^ 255 for b in whole[-20:-8]) + whole[-8:],
    )
    columns: dict[str, dict[str, object]] = {
        "no value": {"region": ["A", "B"], "status": ["u", "s"]},
        "a null value": good | {"value": [10, None]},
        "a NaN value": good | {"value": [10.0, float("nan")]},
        "an endless value": good | {"value": [10.0, float("inf")]},
        "lists as values": good | {"value": [[1], [2]]},
        "lists as codes": good | {"region": [["A"], ["B"]]},
        "structs as codes": good | {"region": [{"a": 1}, {"a": 2}]},
        "structs as values": good | {"value": [{"a": 1}, {"a": 2}]},
        "words as values": good | {"value": ["ten", "twenty"]},
        "an unknown status": good | {"status": ["u", "q"]},
        "no rows": {"region": pyarrow.array([], pyarrow.string()), "value": pyarrow.array([], pyarrow.int64())},
        "a code twice": good | {"region": ["A", "A"]},
        "a null code": good | {"region": ["A", None]},
        "Status": {"region": ["A", "B"], "value": [10, 20], "Status": ["u", "s"]},
        "values beyond exact arithmetic": good | {"value": [2**62, 2**62]},
    }
    for name, content in columns.items():
        yield _case(f".parquet: {name}", command, bad__parquet=made(content))


def _patterns() -> Iterator[Case]:
    texts: dict[str, str | bytes] = {
        "empty": "",
        "no column suppression": "index,kind\n0,primary\n",
        "an unknown word": PATTERN.replace("secondary", "hidden"),
        "a cell that is not there": PATTERN + "9,secondary\n",
        "a cell twice": PATTERN + "1,secondary\n",
        "an index that is a word": PATTERN.replace("1,sec", "one,sec"),
        "a sensitive cell published": PATTERN.replace("primary", "published"),
        "neither index nor all rows": "suppression\nprimary\n",
        "a row too long": PATTERN + "3,published,5\n",
        "a blank word": PATTERN.replace("secondary", ""),
        "bytes": bytes(range(128, 256)),
        "an Arabic index": PATTERN.replace("1,sec", "١,sec"),
        "a header twice": PATTERN.replace("index,suppression", "suppression,suppression"),
    }
    for name, text in texts.items():
        yield _case(f"pattern: {name}", "audit t.jj bad.csv", bad__csv=text)
        if name != "empty":
            yield _case(f"--start: {name}", "protect t.jj --out o.csv --generations 1 --start bad.csv", bad__csv=text)
    frozen = JJ.replace("1 5 3 s", "1 5 3 z")
    yield _case("pattern: a frozen cell suppressed", "audit bad.jj p.csv", bad__jj=frozen)
    by_codes = "region,size,suppression\nNorth,small,primary\nEast,small,secondary\n"
    yield _case("pattern: codes that are not there", "audit t.csv bad.csv", bad__csv=by_codes)
    yield _case("pattern: missing", "audit t.jj missing.csv")
    yield _case("pattern: a folder", "audit t.jj .")
    yield _case("pattern: the table itself", "audit t.csv t.csv")


# --- options

PROTECT = "protect t.jj --out o.csv"


def _options() -> Iterator[Case]:
    bad = {
        "--seconds": ("nan", "0", "-1", "x", "-inf"),
        "--generations": ("0", "-1", "x", "1.5"),
        "--population": ("0", "-1", "x", "1000000000", "99999999999999999999"),
        "--seed": ("-1", "x", "1.5"),
        "--patience": ("0", "x"),
        "--improvement-rate": ("-1", "x", "nan"),
        "--method": ("nothing", "", "Circuits", "../circuits"),
        "--variant": ("zzz",),
        "--selection": ("nonsense",),
        "--replacement": ("nonsense",),
        "--backend": ("tpu", ""),
        "--lp": ("gurobi", ""),
        "--levels": ("x", "-5", "15%%", "max(1,2)", "15 percent", "1e3", ""),
        "--weights": ("price", "count", "Unit"),
        "--start": ("missing.csv", "."),
        "--whole": ("perhaps",),
        "--level-zero": ("maybe",),
        "--nothing": ("1",),
    }
    for option, values in bad.items():
        for value in values:
            words = "\x00".join([*PROTECT.split(), option, value])
            yield _case(f"protect {option} {value!r}", words)
    for command in (
        "protect t.jj",
        "protect --out o.csv",
        "protect t.jj t.csv --out o.csv",
        f"{PROTECT} --resume",
        "protect missing.jj --out o.csv",
        "protect . --out o.csv",
        "protect t.jj --out missing/o.csv",
        "protect t.jj --out .",
        "protect t.jj --out t.jj",
        "protect t.csv --out t.csv",
        "protect t.csv --out ./t.csv",
        f"{PROTECT} --json o.csv",
        f"{PROTECT} --json t.jj",
        f"{PROTECT} --log t.jj",
        f"{PROTECT} --log o.csv",
        f"{PROTECT} --json missing/s.json",
        f"{PROTECT} --log missing/l.json",
        "protect t.csv --hierarchy region=r.hrc --out r.hrc",
        f"{PROTECT} --start p.csv --json p.csv",
        "protect t.jj --out o.xlsx",
        "protect t.jj --out o.parquet",
        "protect t.csv --out o.xlsx",
        "protect r.hrc --out o.csv",
        "protect t.jj --out o.csv --checkpoint t.csv",
        f"{PROTECT} --method castro --population 5",
        f"{PROTECT} --method marginal --generations 5",
        f"{PROTECT} --method hypercube --selection tournament",
        f"{PROTECT} --method shortest-path --checkpoint c",
        f"{PROTECT} --method incremental --log l.jsonl",
        f"{PROTECT} --method exact --patience 5",
        f"{PROTECT} --method ordering-ga --variant ku:nothing",
        f"{PROTECT} --method incremental --variant one-p",
        "protect t.csv --out o.csv --ignore nothing",
        "protect t.csv --out o.csv --ignore value",
        "protect t.csv --out o.csv --ignore region --ignore size",
        "protect t.csv --out o.csv --total North",
        "protect t.csv --out o.csv --weights count",
        "audit t.jj",
        "audit t.jj p.csv extra",
        "audit t.jj p.csv --json missing/a.json",
        "audit t.jj p.csv --json t.jj",
        "audit t.jj p.csv --json p.csv",
        "audit t.jj p.csv --nothing",
        "audit missing.jj p.csv",
        "bound",
        "bound t.jj --seconds 0",
        "bound t.jj --seconds nan",
        "bound t.jj --json t.jj",
        "bound missing.jj",
        "expose",
        "expose missing.csv",
        "expose t.jj --json t.jj",
        "expose t.jj --nothing",
        "compare t.jj --methods nothing",
        "compare t.jj --methods circuits,,exact,zzz",
        "compare missing.jj --methods exact",
        "generate class1 --rows 0 --cols 5 --out g.jj",
        "generate class1 --rows -3 --cols 5 --out g.jj",
        "generate class1 --rows x --cols 5 --out g.jj",
        "generate class9 --rows 5 --cols 5 --out g.jj",
        "generate class1 --rows 5 --out g.jj --nothing 3",
        "generate class1 --rows 5 --cols 5 --out g.doc",
        "generate herrington --rows 5 --cols 5 --sensitive 2 --out g.jj",
        "generate herrington --rows 5 --cols 5 --sensitive x --out g.jj",
        "generate smith2d --rows 5 --cols 5 --sensitive 0.1 --zeros 1.5 --out g.jj",
        "generate smith3d --shape 3 --sensitive 0.1 --zeros 0.1 --out g.jj",
        "generate smith3d --shape 3x0x3 --sensitive 0.1 --zeros 0.1 --out g.jj",
        "generate smith3d --shape axbxc --sensitive 0.1 --zeros 0.1 --out g.jj",
        "generate smith3d --shape 3x3x3 --sensitive -1 --zeros 0.1 --out g.jj",
        "generate smith3d --shape 3x3x3 --sensitive 0.1 --zeros 0.1 --out missing/g.jj",
        "tabulate t.csv",
        "tabulate missing.csv --by region --value value --out o.csv",
        "tabulate t.csv --by nothing --value value --out o.csv",
        "tabulate t.csv --by region --value nothing --out o.csv",
        "tabulate t.csv --by region --value value --rule nonsense --out o.csv",
        "microdata protect",
        "microdata protect missing.csv",
        "microdata nothing",
        "nothing",
        "--nothing",
        "protect t.jj --out o.csv --seconds",
        "methods extra",
        "doctor extra",
    ):
        yield _case(command, command)
    if find_spec("gpuga.verify") is not None:
        for command in (
            "verify",
            "verify t.jj p.csv",
            "verify t.jj p.csv missing.proof",
            "verify missing.jj p.csv p.csv",
            "verify t.jj p.csv .",
        ):
            yield _case(command, command)
        for name, text in {
            "empty": "",
            "text": "nothing",
            "braces": "{}",
            "list": "[]",
            "bytes": bytes(range(256)),
            "null": "null",
        }.items():
            case = _case(f"verify: a proof that is {name}", "verify t.jj p.csv bad.proof", bad__proof=text)
            yield replace(case, codes=(1, 2))  # not proven, or not a proof


def _folders() -> Iterator[Case]:
    """Checkpoints that are none."""
    names = ("generation-000000001.checkpoint", "generation-000000002.checkpoint")
    contents: dict[str, bytes] = {
        "empty": b"",
        "text": b"gpuga checkpoint 1\n{}\n",
        "bytes": bytes(range(256)) * 4,
        "zeros": bytes(500),
    }
    for name, content in contents.items():
        case = _case(f"checkpoint: {name}", f"{PROTECT} --method circuits --generations 1 --checkpoint c --resume")
        yield Case(case.name, case.arguments, (*case.files, *((f"c/{n}", content) for n in names)))


TARGET = 300


def step(seed: int, index: int, folder: Path) -> Tally:
    """One case; the whole list is longer than the target, and every case of it is tried in turn."""
    tally = Tally()
    every = cases()
    share = range(index * len(every) // TARGET, (index + 1) * len(every) // TARGET)
    for at in share:
        _tried(every[at], at, folder / f"case-{at}", tally)
    return tally


def _tried(case: Case, at: int, folder: Path, tally: Tally) -> None:
    tally.count("cases")
    where = f"python -m tests.campaign --only malformed --again {at * TARGET // len(cases())}"
    shown = {n: c.decode("utf-8", "replace") for n, c in case.files if n.startswith("bad")}
    try:
        ended = _ended(case, at, folder)
    except Exception:
        tally.fail(
            "crashes", f"{case.name}\n{traceback.format_exc()[-1200:]}", f"gpuga {' '.join(case.arguments)}", shown
        )
        return
    command = f"gpuga {' '.join(case.arguments)}   ({where})"
    if ended.code not in case.codes:
        kind = "accepted" if ended.code in (0, 3) else "wrong exit codes"
        tally.fail(kind, f"{case.name}: exit {ended.code}: {ended.err.strip()[-200:]}", command, shown)
        return
    said = [line for line in ended.err.strip().splitlines() if not line.startswith("gpuga: note:")]
    if ended.code == 1 and not said:  # a verdict, on standard output
        said = ended.out.strip().splitlines()[:1]
    if len(said) != 1 or "Traceback" in ended.err or "internal fault" in ended.err:
        tally.fail("not one sentence", f"{case.name}: {ended.err.strip()[-300:]}", command, shown)
    if SECRET in ended.err + ended.out and SECRET not in " ".join(case.arguments):
        tally.fail("values shown", f"{case.name}: {ended.err.strip()[-300:]}", command, shown)
    tally.count("exit 2 with one sentence")


def _ended(case: Case, at: int, folder: Path) -> Ended:
    """How the command ends; complains where files were written or changed."""
    folder.mkdir(parents=True)
    try:
        for name, content in case.files:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        before = _contents(folder)
        with at_most(240):
            if at % IN_A_PROCESS == 0 and not any("\x00" in word for word in case.arguments):
                ended = run_process(case.arguments, cwd=folder)
            else:
                ended = _in(folder, case.arguments)
        after = _contents(folder)
        if after != before:
            changed = sorted(set(after.items()) ^ set(before.items()))
            names = sorted({name for name, _ in changed})
            return Ended(
                ended.code if ended.code not in case.codes else 98,
                ended.out,
                f"files written or changed: {names}; {ended.err}",
            )
        return ended
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _in(folder: Path, arguments: tuple[str, ...]) -> Ended:
    import contextlib

    with contextlib.chdir(folder):
        return run_command(arguments)


def _contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
