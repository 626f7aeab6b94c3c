"""`exact` against the optimal method of tau-ARGUS (PyPI `pytauargus`, extra `peers`) on two-dimensional tables.

    python -m bench peers-2d --minutes 5 --out bench/out/peers.jsonl 50x50:1%:1 50x50:5%:1 100x100:5%:1

Both get the same .jj file, value weights and levels of 10 %, one after the other in processes of their own; CPU
seconds are those of the processes. Whether the peer stopped before its time is taken as its proof.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuga import protect, write_table
from gpuga.table import Table
from gpuga.table.generate import class1, herrington


def ours(table: Table, path: Path, minutes: float) -> dict[str, Any]:
    """`exact` on the table."""
    found = protect(table, "exact", seconds=60 * minutes)
    return {"cost": found.cost, "proven": found.optimal}


def tau_argus(table: Table, path: Path, minutes: float) -> dict[str, Any]:
    """Tau-ARGUS's optimal method on the .jj file; the suppressed cells are read back by their index."""
    from pytauargus import HiTaSCtrl

    out = path.with_suffix(".out")
    begun = time.monotonic()
    code = HiTaSCtrl().full_jj(in_file_jj=str(path), out_file=str(out), max_time=max(1, round(minutes)))
    suppressed = table.forced.copy()
    if out.exists():
        suppressed[[int(line.split()[0]) for line in out.read_text().split("\n") if line.strip()]] = True
    early = time.monotonic() - begun < 60 * minutes - 5
    return {"cost": table.cost(suppressed), "proven": code == 0 and early, "code": code}


def alone(run: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """A run in a process of its own, with its CPU and wall seconds."""
    receive, send = multiprocessing.Pipe(False)
    worker = multiprocessing.Process(target=_report, args=(send, run, arguments))
    before, wall = _children(), time.monotonic()
    worker.start()
    answer: dict[str, Any] = receive.recv() if receive.poll(None) else {}
    worker.join()
    return answer | {"cpu_seconds": round(_children() - before, 2), "wall_seconds": round(time.monotonic() - wall, 2)}


def _report(send: Any, run: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    send.send(run(*arguments))
    send.close()


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(spec: str, minutes: float) -> dict[str, Any]:
    """Both methods on the table of `RxC:SHARE%:SEED`."""
    shape, share, seed = spec.split(":")
    rows, columns = (int(size) for size in shape.split("x"))
    table = herrington(rows, columns, float(share.rstrip("%")) / 100, int(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.jj"
        write_table(table, path)
        peer = alone(tau_argus, table, path, minutes)
        own = alone(ours, table, path, minutes)
    for side in (own, peer):
        side["cost"] = table.shown_cost(side["cost"])
    return {"table": table.name, "gpuga": own, "tau_argus": peer}


def main(arguments: list[str]) -> int:
    """Compare on each table, a line of JSON each."""
    parser = argparse.ArgumentParser(prog="python -m bench peers-2d", description=__doc__.splitlines()[0])
    parser.add_argument("specs", nargs="+")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args(arguments)
    protect(class1(30, 30, 2), "exact")  # compiles what has not been compiled yet
    for spec in chosen.specs:
        line = json.dumps(compare(spec, chosen.minutes))
        print(line, flush=True)
        if chosen.out:
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            with chosen.out.open("a") as file:
                file.write(line + "\n")
    return 0
