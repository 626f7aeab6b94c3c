"""The dispatcher of the benchmarks: python -m bench throughput --json FILE."""

from __future__ import annotations

import importlib
import sys

COMMANDS = {
    "all": ("bench.everything", "all results from one commit, resumable"),
    "best-known": ("bench.best_known", "best known costs and bounds of the csplib tables; the list only improves"),
    "contest": ("bench.contest", "all methods at equal time"),
    "gpu-day": ("bench.gpu_day", "everything that only a machine with a CUDA device can tell"),
    "history": ("bench.history", "a small fixed set of runs, compared with the last entry"),
    "islands": ("bench.islands", "islands against one population at equal work"),
    "jobs": ("bench.jobs", "jobs per second of gpuga run, and what a job costs besides its work"),
    "microdata": ("bench.microdata", "searches over recodings side by side, and what a recoding weighs"),
    "papers": ("bench.papers.command", "the papers' experiments, published and measured side by side"),
    "peers": ("bench.peers", "other programs for cell suppression on the same tables"),
    "peers-2d": ("bench.peers_2d", "exact and tau-ARGUS's optimal method on two-way tables"),
    "plane": ("bench.plane", "proven optima, gaps and times of exact on two-way tables"),
    "report": ("bench.report", "write bench/RESULTS.md from the figures in bench/results"),
    "scale": ("bench.scale", "time and memory against the number of cells"),
    "share": ("bench.share", "share of a run's CPU time that is spent in the back end"),
    "throughput": ("bench.throughput", "patterns per second of each operation, back end by back end"),
    "work": ("bench.work", "cost against the number of children evaluated"),
}
"""Name on the command line -> module with main(arguments: list[str]) -> int, and what it measures."""


def main(arguments: list[str]) -> int:
    """Run the benchmark that is named first; exit code 2 when there is none of that name."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(usage())
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        print(usage(), file=sys.stderr)
        return 2
    code: int = importlib.import_module(COMMANDS[arguments[0]][0]).main(arguments[1:])
    return code


def usage() -> str:
    """The benchmarks by name."""
    lines = [f"  {name:<12}{what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["usage: python -m bench COMMAND [options]; COMMAND --help lists the options", "", *lines])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
