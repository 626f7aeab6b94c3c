"""The best known cost and bound of the csplib tables: python -m bench best-known FOLDER [--seconds N] [--table NAME].

FOLDER holds the `.jj` files, which are not part of the repository. Every run may lower a cost or raise a bound in
bench/results/best_known.csv, never the other way: the list only improves. Where a pattern is better its proof is
checked by the small program of `gpuga verify` before the list believes it; pattern and proof are then kept, packed,
in bench/results/proofs. With --verify nothing is run: every kept proof is checked again, and its cost held to the list.
"""

from __future__ import annotations

import csv
import json
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from bench.machine import commit
from bench.options import parser_of
from bench.sections import figure, markdown_table, percent
from gpuga.errors import GpugaError

LIST = Path(__file__).parent / "results" / "best_known.csv"
PROOFS = LIST.parent / "proofs"
PRESET = 9 | lzma.PRESET_EXTREME
KEPT = ("csv", "proof")
"""The suffixes of pattern and proof; what is kept is packed and ends in .xz as well."""


@dataclass(frozen=True)
class Known:
    """A table with the lowest cost and the highest bound known, who found each, and the proof of the pattern."""

    table: str
    cells: int
    cost: float | None = None
    method: str = ""
    cost_commit: str = ""
    proof: str = ""
    lower_bound: float = 0.0
    bound_method: str = ""
    bound_commit: str = ""

    @property
    def proven(self) -> bool:
        """Whether the pattern is optimal."""
        return self.cost is not None and self.lower_bound >= self.cost


def merged(old: Known, new: Known) -> Known:
    """The better cost and the better bound of two entries; of equals the older, or the one with a proof."""
    best = old
    proven_now = new.cost == old.cost and bool(new.proof) and not old.proof
    if new.cost is not None and (old.cost is None or new.cost < old.cost or proven_now):
        best = replace(best, cost=new.cost, method=new.method, cost_commit=new.cost_commit, proof=new.proof)
    if new.lower_bound > old.lower_bound:
        best = replace(
            best, lower_bound=new.lower_bound, bound_method=new.bound_method, bound_commit=new.bound_commit
        )  # fmt: skip
    if best.cost is not None and best.lower_bound > best.cost:
        raise ValueError(f"{old.table}: a bound of {best.lower_bound:g} stands against a cost of {best.cost:g}")
    return best


def read_list(path: Path) -> dict[str, Known]:
    """The entries of the file by table."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {line["table"]: _known(line) for line in lines}


def _known(line: dict[str, str]) -> Known:
    texts = {name: line[name] for name in ("method", "cost_commit", "proof", "bound_method", "bound_commit")}
    cost = float(line["cost"]) if line["cost"] else None
    return Known(line["table"], int(line["cells"]), cost, lower_bound=float(line["lower_bound"]), **texts)


def write_list(path: Path, entries: Sequence[Known]) -> None:
    """The whole list, by table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Known)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(entry) for entry in sorted(entries, key=lambda one: one.table))


def tried(path: Path, method: str, limit: float, best: Known, proofs: Path) -> Known:
    """What one run of a method finds; a pattern that would improve the list has to pass the small verifier."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{path.stem}.{name}" for name in ("csv", "proof", "json")}
        done = _gpuga(
            "protect", path, "--out", files["csv"], "--proof", files["proof"], "--json", files["json"], "--method",
            method, "--seconds", limit, "--quiet",
        )  # fmt: skip
        if done.returncode:
            print(f"{path.stem}, {method}: {done.stderr.strip()}")
            return best
        said = json.loads(files["json"].read_text(encoding="utf-8"))
        new = Known(
            path.stem, said["cells"], lower_bound=float(said["lower_bound"] or 0.0), bound_method=method,
            bound_commit=commit(),
        )  # fmt: skip
        again = said["cost"] == best.cost and not has_proof(path.stem, proofs)
        if not said["safe"] or not (best.cost is None or said["cost"] < best.cost or again):
            return new
        if _gpuga("verify", path, files["csv"], files["proof"]).returncode:
            raise GpugaError(f"the proof of {path.stem} by {method} does not hold")
        keep(path.stem, {name: files[name].read_bytes() for name in KEPT}, proofs)
    return replace(new, cost=float(said["cost"]), method=method, cost_commit=commit(), proof=f"{path.stem}.proof.xz")


def has_proof(table: str, proofs: Path) -> bool:
    """Whether pattern and proof of a table are kept."""
    return all((proofs / f"{table}.{name}.xz").exists() for name in KEPT)


def keep(table: str, contents: dict[str, bytes], proofs: Path) -> None:
    """Keep pattern and proof, packed; the same contents give the same files."""
    proofs.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (proofs / f"{table}.{name}.xz").write_bytes(lzma.compress(content, preset=PRESET))


def verified(path: Path, entry: Known, proofs: Path) -> str:
    """What is wrong with the kept proof of an entry; empty where it holds for the table and says the entry's cost."""
    if not has_proof(path.stem, proofs):
        return "no proof is kept"
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{path.stem}.{name}" for name in KEPT]
        for file in files:
            file.write_bytes(lzma.decompress((proofs / f"{file.name}.xz").read_bytes()))
        done = _gpuga("verify", path, *files)
        cost = float(json.loads(files[1].read_text(encoding="utf-8").partition("\n")[0])["cost"])
    if done.returncode:
        return (done.stdout + done.stderr).strip()
    return "" if entry.cost == cost else f"the proof is of a pattern that costs {cost:g}, the list says {entry.cost:g}"


def _gpuga(*words: object) -> subprocess.CompletedProcess[str]:
    """The program itself, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gpuga", *map(str, words)], capture_output=True, text=True, check=False
    )


def main(arguments: list[str]) -> int:
    """Run, merge, write, show."""
    parser = parser_of("best-known", __doc__)
    parser.add_argument("folder", type=Path, help="folder of the .jj files")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each method on each table")
    parser.add_argument("--table", action="append", help="only these tables")
    parser.add_argument("--method", action="append", help="circuits and exact unless given")
    parser.add_argument("--list", type=Path, default=LIST, metavar="FILE", help="the list that may improve")
    parser.add_argument(
        "--proofs", type=Path, default=PROOFS, metavar="FOLDER", help="where proofs of better patterns are kept"
    )
    parser.add_argument("--verify", action="store_true", help="run nothing, check every kept proof again")
    given = parser.parse_args(arguments)
    known = read_list(given.list)
    if given.verify:
        return _all_verified(given.folder, known, given.proofs)
    for path in sorted(given.folder.glob("*.jj")):
        if given.table and path.stem not in given.table:
            continue
        for method in given.method or ("circuits", "exact"):
            entry = known.get(path.stem) or Known(path.stem, 0)
            new = tried(path, method, given.seconds, entry, given.proofs)
            if new.cells:
                known[path.stem] = merged(replace(entry, cells=new.cells), new)
                write_list(given.list, list(known.values()))
    print(text_of(list(known.values())))
    return 0


def _all_verified(folder: Path, known: dict[str, Known], proofs: Path) -> int:
    """Check every entry that has a cost and say the outcome; exit code 1 where one does not hold."""
    faults = {entry.table: verified(folder / f"{entry.table}.jj", entry, proofs) for entry in known.values()
              if entry.cost is not None}  # fmt: skip
    for table, fault in faults.items():
        print(f"{table}: {fault or 'the proof holds'}")
    return int(any(faults.values()))


def text_of(entries: Sequence[Known]) -> str:
    """The list for people."""
    body = []
    for one in sorted(entries, key=lambda entry: entry.table):
        gap = None if one.cost is None or not one.lower_bound else one.cost / one.lower_bound - 1
        verdict = "optimal" if one.proven else percent(gap, 2)
        body.append((one.table, figure(one.cells), figure(one.cost), _by(one.method, one.cost_commit),
                     one.proof or "not kept", figure(one.lower_bound), _by(one.bound_method, one.bound_commit),
                     verdict))  # fmt: skip
    return markdown_table(("table", "cells", "cost", "by", "proof", "lower bound", "by", "gap"), body)


def _by(method: str, commit_: str) -> str:
    return f"{method} at {commit_}" if method else "–"
