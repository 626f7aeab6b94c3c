"""The dispatcher of the benchmarks: python -m bench throughput --json FILE."""

from __future__ import annotations

import importlib
import sys

# Name on the command line -> module with main(arguments: list[str]) -> int.
COMMANDS = {
    "contest": "bench.contest",
    "gpu-day": "bench.gpu_day",
    "history": "bench.history",
    "papers": "bench.papers.command",
    "peers": "bench.peers",
    "report": "bench.report",
    "scale": "bench.scale",
    "share": "bench.share",
    "throughput": "bench.throughput",
    "plane": "bench.plane",
    "peers-2d": "bench.peers_2d",
    "work": "bench.work",
}


def main(arguments: list[str]) -> int:
    """Run the benchmark that is named first; exit code 2 when there is none of that name."""
    if not arguments or arguments[0] not in COMMANDS:
        print(f"usage: python -m bench {{{' | '.join(sorted(COMMANDS))}}} [options]", file=sys.stderr)
        return 2
    code: int = importlib.import_module(COMMANDS[arguments[0]]).main(arguments[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
