"""Part `fuzz`: mutated files through every parser, guided by the lines of the parsers that they reach.

A mutated input that reaches a line no other one did is kept and mutated further. A parser may take an input or
refuse it with one of gpuga's own errors; anything else is a crash, and the input is kept with it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import numpy as np

import gpuga
from gpuga.errors import GpugaError
from gpuga.evolution import checkpoint
from gpuga.files.csv import parse_csv
from gpuga.files.hrc import read_hierarchy
from gpuga.files.jj import jj_indices, parse_jj
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source
from gpuga.table.columns import Reading
from gpuga.table.levels import parse_rule
from tests.campaign.part_malformed import CSV, HRC, JJ, PATTERN
from tests.campaign.tables import random_problem
from tests.campaign.tally import Tally, TooSlow, at_most
from tests.campaign.terminal import ROOT, run_command

TARGET = 66
INPUTS = 400  # per step
KEPT = 400  # inputs that are mutated further, per parser
WATCHED = tuple(
    str(ROOT / room) for room in ("gpuga/files", "gpuga/table", "gpuga/verify", "gpuga/evolution/checkpoint")
)

NUMBERS = (
    "0 1 -1 00 1e5 1e-5 1e400 inf -inf nan 9223372036854775807 -9223372036854775808 1152921504606846976 .5 5. 0x1 1e"
)
SIGNS = "1_0 + - . e , ; : ( ) @ @@ \" ' | # % \\ ² ٣ ½ é \ufeff \u2028 \x0b \x00 \r \t 15% max(1,10%)"
NAMES = "u s z m U Total TOTAL value status Status lower upper sliding lb ub weight contributors"
MARKS = "members sensitive None true suppression index primary secondary published"
WORDS = (*f"{NUMBERS} {SIGNS} {NAMES} {MARKS}".split(" "), "\n", "\r\n", " ")


# --- what is fuzzed


def _jj(data: bytes, folder: Path) -> None:
    text = data.decode("utf-8", "replace")
    parse_jj(text, "fuzzed.jj")
    jj_indices(text)


def _csv(data: bytes, folder: Path) -> None:
    parse_csv(data.decode("utf-8", "replace"), Path("fuzzed.csv"), Reading())


def _csv_file(data: bytes, folder: Path) -> None:
    path = folder / "fuzzed.csv"
    path.write_bytes(data)
    gpuga.read_table(path, levels="10%", weights="unit")


def _hrc(data: bytes, folder: Path) -> None:
    path = folder / "fuzzed.hrc"
    path.write_bytes(data)
    tree = read_hierarchy(path)
    parse_csv(CSV, Path("table.csv"), Reading(hierarchies={"region": [tree]}))


def _pattern(data: bytes, folder: Path) -> None:
    table, path = folder / "table.jj", folder / "fuzzed.csv"
    table.write_text(JJ)
    path.write_bytes(data)
    read_pattern(read_source(table), path)


def _pattern_by_codes(data: bytes, folder: Path) -> None:
    table, path = folder / "table.csv", folder / "fuzzed-pattern.csv"
    table.write_text(CSV)
    path.write_bytes(data)
    read_pattern(read_source(table), path)


def _parquet(data: bytes, folder: Path) -> None:
    path = folder / "fuzzed.parquet"
    path.write_bytes(data)
    gpuga.read_table(path)


def _rule(data: bytes, folder: Path) -> None:
    rule = parse_rule(data.decode("utf-8", "replace"))
    if rule.digits < 15:
        rule.levels(np.array([0, 7, 10**9], np.int64), 10**rule.digits)


def _checkpoint(data: bytes, folder: Path) -> None:
    """As it is, and with its checksum made good, so that what lies behind it is reached too."""
    into = folder / "checkpoints"
    into.mkdir(exist_ok=True)
    body = data[: -checkpoint.DIGEST]
    for content in (data, body + hashlib.sha256(body).digest()):
        (into / "generation-000000001.checkpoint").write_bytes(content)
        checkpoint.load(into)


def _records(data: bytes, folder: Path) -> None:
    path = folder / "fuzzed-records.csv"
    path.write_bytes(data)
    command = ["tabulate", str(path), "--by", "region", "--value", "value", "--rule", "frequency:3", "--quiet"]
    ended = run_command([*command, "--threads", "1", "--out", str(folder / "tabulated.csv")])
    if ended.code not in (0, 2):
        raise RuntimeError(f"exit {ended.code}: {ended.err}")


def _proof(data: bytes, folder: Path) -> None:
    for name, content in (("table.jj", JJ), ("pattern.csv", PATTERN)):
        (folder / name).write_text(content)
    path = folder / "fuzzed.proof"
    path.write_bytes(data)
    ended = run_command(["verify", str(folder / "table.jj"), str(folder / "pattern.csv"), str(path)])
    if ended.code not in (0, 1, 2) or "internal fault" in ended.err:
        raise RuntimeError(f"exit {ended.code}: {ended.err}")


PARSERS: dict[str, Callable[[bytes, Path], None]] = {
    "jj": _jj,
    "csv": _csv,
    "csv file": _csv_file,
    "hrc": _hrc,
    "pattern": _pattern,
    "pattern by codes": _pattern_by_codes,
    "parquet": _parquet,
    "rule": _rule,
    "checkpoint": _checkpoint,
    "records": _records,
}
if find_spec("gpuga.verify") is not None:
    PARSERS["proof"] = _proof


def _seeds(parser: str, folder: Path) -> list[bytes]:
    """Well-formed inputs to begin with."""
    if parser == "jj":
        return [JJ.encode(), *(random_problem(Random(i)).jj().encode() for i in range(12))]
    if parser in ("csv", "csv file", "records"):
        quoted = 'region;value;status\n"a;b";1.5;u\n"c\nd";2,5;s\n'
        grouped = "region,value,status,members,lower,upper\nA,10,u,,2,2\nB,20,s,,,\n,30,,0 1,3,3\n"
        totals = "region,size,value,lb,ub,contributors\nA,x,3,0,9,2\nA,Total,3,-inf,inf,2\n"
        return [text.encode() for text in (CSV, quoted, grouped, totals, CSV.replace(",", "\t"))]
    if parser == "hrc":
        return [HRC.encode(), b"North\n@a\n@@b\nSouth\n", b"North\n  x\nSouth\n"]
    if parser == "pattern":
        return [PATTERN.encode(), b"suppression\nprimary\nsecondary\npublished\npublished\n"]
    if parser == "pattern by codes":
        return [b"region,size,suppression\nNorth,small,primary\nTotal,small,secondary\n"]
    if parser == "rule":
        return [b"15%", b"5", b"max(1,10%)", b"0.5", b"max( 2.5 , 7.25 % )"]
    if parser == "parquet":
        return list(_parquet_seeds())
    if parser == "proof":
        return [_written_proof(folder), b"{}"]
    return [_written_checkpoint(folder)]


def _parquet_seeds() -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    for value in ([1, 2], [1.5, 2.25], ["1", "2"], [None, 3]):
        into = io.BytesIO()
        columns = {"region": ["A", "B"], "value": value, "status": ["u", "s"]}
        parquet.write_table(pyarrow.table(columns), into, compression="none")
        yield into.getvalue()


def _written_checkpoint(folder: Path) -> bytes:
    into = folder / "seed"
    arrays = {"patterns": np.ones((3, 4), np.uint8), "costs": np.arange(3)}
    checkpoint.save(into, 1, {"seed": 3, "generation": 1}, arrays)
    return next(into.iterdir()).read_bytes()


def _written_proof(folder: Path) -> bytes:
    table, proof = folder / "seed.jj", folder / "seed.proof"
    table.write_text(JJ)
    run_command(
        ["protect", str(table), "--out", str(folder / "seed.csv"), "--method", "hypercube", "--proof", str(proof)]
    )
    return proof.read_bytes() if proof.exists() else b"{}"


# --- mutation, guided by coverage


class Corpus:
    """The inputs of one parser that reached something new, and what they reached."""

    def __init__(self, seeds: list[bytes]) -> None:
        self.inputs = seeds
        self.reached: set[tuple[CodeType, int]] = set()

    def note(self, data: bytes, lines: set[tuple[CodeType, int]]) -> bool:
        """Keep an input if it reached a new line."""
        new = not lines <= self.reached
        self.reached |= lines
        if new and len(self.inputs) < KEPT:
            self.inputs.append(data)
        return new


_CORPORA: dict[str, Corpus] = {}  # of this worker: later steps go on where earlier ones ended


@contextmanager
def _watched(lines: set[tuple[CodeType, int]]) -> Iterator[None]:
    """Note the lines of the parsers that run."""

    def local(frame: FrameType, event: str, _: Any) -> Any:
        lines.add((frame.f_code, frame.f_lineno))
        return local

    def calls(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(WATCHED) else None

    before = sys.gettrace()
    sys.settrace(calls)
    try:
        yield
    finally:
        sys.settrace(before)


def mutated(data: bytes, other: bytes, rng: Random) -> bytes:
    """An input with a few changes: of bytes, of tokens, of lines, or with a piece of another one."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind = rng.choice((_bytes, _tokens, _tokens, _lines))
        data = kind(data, other, rng)
    return data[:20_000]


def _bytes(data: bytes, other: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 1, 4, 40)))
    new = rng.choice((b"", bytes([rng.randrange(256)]), data[at:end] * 2, other[at:end], rng.choice(WORDS).encode()))
    return data[:at] + new + data[end:]


def _tokens(data: bytes, other: bytes, rng: Random) -> bytes:
    separator = rng.choice((b" ", b",", b"\n", b";"))
    tokens = data.split(separator)
    at = rng.randrange(len(tokens))
    kind = rng.randrange(4)
    if kind == 0:
        tokens[at] = rng.choice(WORDS).encode()
    elif kind == 1:
        tokens.insert(at, rng.choice(tokens))
    elif kind == 2 and len(tokens) > 1:
        del tokens[at]
    else:
        tokens[at] = str(rng.choice((rng.randint(-9, 9), 10 ** rng.randint(0, 30), rng.random()))).encode()
    return separator.join(tokens)


def _lines(data: bytes, other: bytes, rng: Random) -> bytes:
    lines, more = data.split(b"\n"), other.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines.insert(at, rng.choice(more))
    elif kind == 1:
        lines[at] = rng.choice(lines)
    elif kind == 2 and len(lines) > 1:
        del lines[at]
    else:
        lines = lines[:at]
    return b"\n".join(lines)


def step(seed: int, index: int, folder: Path) -> Tally:
    """Some hundred inputs for one parser."""
    tally = Tally()
    names = list(PARSERS)
    name = names[index % len(names)]
    rng = Random(f"fuzz {seed} {index}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name not in _CORPORA:
            _CORPORA[name] = Corpus(_seeds(name, folder))
        corpus = _CORPORA[name]
        slow = name in ("records", "proof")
        for number in range(INPUTS // 10 if slow else INPUTS):
            first = number < len(corpus.inputs) and index < len(names)
            data = (
                corpus.inputs[number] if first else mutated(rng.choice(corpus.inputs), rng.choice(corpus.inputs), rng)
            )
            _tried(name, data, corpus, folder, tally)
    tally.count("inputs kept for a new line", 0)
    return tally


def _tried(name: str, data: bytes, corpus: Corpus, folder: Path, tally: Tally) -> None:
    lines: set[tuple[CodeType, int]] = set()
    tally.count("inputs")
    tally.count(f"parser: {name}")
    command = f"input.b64, decoded, through {name} (see part_fuzz.PARSERS)"
    files = {"input.b64": base64.b64encode(data).decode(), "input.txt": data.decode("utf-8", "replace")}
    try:
        with at_most(30), _watched(lines):
            PARSERS[name](data, folder)
        tally.count("taken")
    except GpugaError:
        tally.count("refused by a sentence")
    except TooSlow as fault:
        tally.fail("slow", f"{name}: {fault}", command, files)
    except Exception:
        known = traceback.format_exc().strip().splitlines()
        where = next((line.strip() for line in reversed(known) if "/gpuga/" in line), "")
        tally.fail("crashes", f"{name}: {known[-1][:200]} at {where}", command, files)
    if corpus.note(data, lines):
        tally.count("inputs kept for a new line")
