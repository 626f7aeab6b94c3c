"""`exact` against the optimal method of tau-ARGUS (PyPI `pytauargus`, extra `peers`) on two-dimensional tables.

    python -m bench peers-2d --minutes 5 --out bench/out/peers.jsonl herrington:50x50:1%:1 smith2d:100x100:5%:1

Both get the same table in whole numbers, value weights and levels of 10 %, one after the other in processes
of their own. Times are those of the solving, audit of our own pattern included, the peer's not; what is loaded from
disk (libraries, compiled loops) is loaded before the clock starts.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.options import parser_of
from gpuga import audit, protect
from gpuga.table import Levels, Table
from gpuga.table.generate import class1, herrington, smith2d


def whole_numbers(rows: int, columns: int, share: float, seed: int) -> Table:
    """Herrington's table in whole numbers from 1 to 1000: the peer reads no decimal weights."""
    model = herrington(rows, columns, share, seed)
    inner = np.maximum(1, np.rint(model.value.reshape(rows + 1, columns + 1)[:-1, :-1] / 1000)).astype(np.int64)
    value = np.zeros((rows + 1, columns + 1), np.int64)
    value[:-1, :-1] = inner
    value[-1, :-1] = inner.sum(0)
    value[:, -1] = value.sum(1)
    flat = value.ravel()
    level = np.where(model.primary, -(-flat // 10), 0)
    levels = Levels(level, level, np.zeros_like(level))
    return Table.build(flat, model.lines, status=model.status, levels=levels, grid=model.grid, name=model.name)


def write_for_peer(table: Table, path: Path) -> None:
    """The .jj file as the peer writes it itself: totals first in every equation, a finite upper bound."""
    most = int(table.value.max())
    lines = ["0", str(len(table))]
    for cell in range(len(table)):
        kind = "u" if table.primary[cell] else "s" if table.suppressible[cell] else "z"
        lower, upper = table.levels.lower[cell], table.levels.upper[cell]
        lines.append(f"{cell} {table.value[cell]} {table.weight[cell]} {kind} 0 {most} {lower}.000 {upper}.000 0")
    lines.append(str(len(table.lines)))
    for at in range(len(table.lines)):
        entries = slice(int(table.lines.start[at]), int(table.lines.start[at + 1]))
        pairs = sorted(zip(table.lines.coef[entries].tolist(), table.lines.cell[entries].tolist(), strict=True))
        lines.append(f"0 {len(pairs)} : " + "".join(f"{cell} ({sign}) " for sign, cell in pairs))
    path.write_text("\n".join(lines) + "\n")


def ours(table: Table, path: Path, minutes: float) -> dict[str, Any]:
    """`exact` on the table."""
    protect(class1(30, 30, 2), "exact")  # loads the compiled loops
    answer: dict[str, Any] = {}
    with timed(answer):
        found = protect(table, "exact", seconds=60 * minutes)
    return answer | {"cost": found.scaled_cost, "proven": found.optimal, "safe": found.audit.safe}


def tau_argus(table: Table, path: Path, minutes: float) -> dict[str, Any]:
    """Tau-ARGUS's optimal method; it answers 0 when it has proven its pattern (lines of cell numbers)."""
    from pytauargus import HiTaSCtrl

    os.chdir(path.parent)  # it leaves log files where it runs
    write_for_peer(table, path)
    out = path.with_suffix(".out")
    answer: dict[str, Any] = {}
    with timed(answer):
        code = HiTaSCtrl().full_jj(in_file_jj=str(path), out_file=str(out), max_time=max(1, round(minutes)))
    suppressed = table.forced.copy()
    suppressed[[int(line.split()[0]) for line in out.read_text().split("\n") if line.strip()]] = True
    safe = audit(table, suppressed, intervals=False).safe
    return answer | {"cost": table.cost(suppressed), "proven": code == 0, "safe": safe}


def alone(run: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """A run in a process of its own, so that neither leaves anything behind for the other."""
    fresh = multiprocessing.get_context("spawn")
    receive, send = fresh.Pipe(False)
    worker = fresh.Process(target=_report, args=(send, run, arguments))
    worker.start()
    send.close()
    try:
        answer: dict[str, Any] = receive.recv()
    except EOFError:
        answer = {"cost": 0, "proven": False, "fault": "the process ended without an answer"}
    worker.join()
    return answer


def _report(send: Any, run: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    send.send(run(*arguments))
    send.close()


@contextmanager
def timed(answer: dict[str, Any]) -> Iterator[None]:
    """Note the CPU and wall seconds of what happens within."""
    cpu, wall = time.process_time(), time.monotonic()
    yield
    answer["cpu_seconds"] = round(time.process_time() - cpu, 2)
    answer["wall_seconds"] = round(time.monotonic() - wall, 2)


def compare(spec: str, minutes: float) -> dict[str, Any]:
    """Both methods on the table of `herrington:RxC:SHARE%:SEED` or `smith2d:RxC:SHARE%:SEED`."""
    kind, shape, percent, seed = spec.split(":")
    rows, columns = (int(size) for size in shape.split("x"))
    share = float(percent.rstrip("%")) / 100
    if kind == "smith2d":
        table = smith2d(rows, columns, share, 0.0, int(seed))
    else:
        table = whole_numbers(rows, columns, share, int(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.jj"
        peer = alone(tau_argus, table, path, minutes)
        own = alone(ours, table, path, minutes)
    for side in (own, peer):
        side["cost"] = table.shown_cost(side["cost"])
    return {"table": table.name, "gpuga": own, "tau_argus": peer}


def main(arguments: list[str]) -> int:
    """Compare on each table, a line of JSON each."""
    parser = parser_of("peers-2d", __doc__)
    parser.add_argument("specs", nargs="+", metavar="TABLE", help="tables by name, such as herrington:50x50:1%%:1")
    parser.add_argument(
        "--minutes", type=float, default=5.0, metavar="N", help="time limit of each method on each table, in minutes"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="append the results to this file, one JSON line each")
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
