"""Proofs made by asking the attacker's linear program about every requirement, and files of tables to check them on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuga.files.read import Source, read_source
from gpuga.proof_file import Attacked, proof_content
from gpuga.safety.attacker import Attacker
from gpuga.safety.evidence import SafetyProof
from gpuga.table.table import Mask, Table
from gpuga.table.witnesses import Witnesses
from tests.support.patterns import write_pattern


def asked(table: Table, suppressed: Mask, cells: NDArray[np.integer]) -> SafetyProof:
    """How far each of the cells can go, as witnesses."""
    attacker = Attacker(table, suppressed)
    subjects, directions, found = [], [], []
    for cell in cells.tolist():
        for direction in (1, -1):
            most = max(int(x[cell]) for x in vars(table.levels).values())
            reach = attacker.reach(cell, direction, most + 1)
            if reach.witness is not None and reach.attained > 0:
                subjects.append(cell)
                directions.append(direction)
                found.append(reach.witness)
    start = np.cumsum([0, *(len(w.cell) for w in found)])
    joined = [np.concatenate([np.zeros(0, np.int64), *(getattr(w, n) for w in found)]) for n in ("cell", "amount")]
    over = np.array([int(w.denominator[0]) for w in found], np.int64)
    witnesses = Witnesses(start, joined[0].astype(np.int32), joined[1], over)
    return SafetyProof(
        np.array(subjects, np.int32), np.array(directions, np.int8), np.arange(len(found), dtype=np.int64), witnesses
    )


@dataclass(frozen=True)
class Case:
    """A table, a pattern and a proof as files."""

    source: Source
    table: Path
    pattern: Path
    proof: Path

    @property
    def files(self) -> list[str]:
        """The arguments of the checker."""
        return [str(self.table), str(self.pattern), str(self.proof)]


def case(
    folder: Path, path: Path, suppressed: Mask | None = None, attacked: Attacked | None = None, **read: object
) -> Case:
    """The proof of a pattern (by default everything is suppressed that may be) of the table in a file."""
    attacked = attacked or Attacked()
    source = read_source(path, **read)  # type: ignore[arg-type]
    table = source.table
    suppressed = table.suppressible.copy() if suppressed is None else suppressed
    judged = np.flatnonzero(suppressed) if attacked.protect_secondary else table.sensitive
    made = Case(source, path, folder / f"{path.stem}_pattern.csv", folder / f"{path.stem}.proof")
    write_pattern(source, suppressed, made.pattern)
    made.proof.write_bytes(proof_content(table, suppressed, asked(table, suppressed, judged), attacked, made.proof))
    return made


def sealed(lines: list[object]) -> bytes:
    """Lines of a proof with a checksum that fits them."""
    body = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()
    return body + json.dumps({"sha256": sha256(body).hexdigest()}).encode() + b"\n"


def unsealed(data: bytes) -> list[object]:
    """The lines of a proof without the checksum."""
    return [json.loads(line) for line in data.splitlines()[:-1]]
