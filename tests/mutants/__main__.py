"""`python -m tests.mutants`: change the code in one place at a time and count the changes that a test notices.

Prints the score of every room and the mutants that no test noticed. Those explained in `equivalent.toml` cannot be
noticed and are counted apart; those in `reviewed.toml` are always tried. Verdicts are kept in `campaign-out/`, so a run
that was interrupted goes on, and only what changed is tried again.
"""

from __future__ import annotations

import argparse
import sys

from tests.mutants.judge import Judge
from tests.mutants.kept import Equivalents, Verdicts, reviewed, sampled
from tests.mutants.report import Report
from tests.mutants.rooms import EVERYWHERE, ROOMS


def main() -> int:
    """The run; exit code 1 if a mutant survived that is not explained, or a reviewed one did."""
    words = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    words.add_argument("--room", choices=ROOMS, action="append", help="only this room (may be repeated)")
    words.add_argument("--file", action="append", help="only files whose name contains this")
    words.add_argument("--sample", type=int, default=60, help="mutants per room (default 60)")
    words.add_argument("--seed", type=int, default=1, help="which sample (default 1)")
    words.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    words.add_argument("--workers", type=int, default=2, help="processes that judge (default 2)")
    words.add_argument("--fresh", action="store_true", help="forget earlier verdicts")
    given = words.parse_args()

    rooms = {name: room for name, room in ROOMS.items() if not given.room or name in given.room}
    chosen = {name: sampled(room, None if given.all else given.sample, given.seed) for name, room in rooms.items()}
    if given.file:
        chosen = {n: [m for m in ms if any(f in m.path for f in given.file)] for n, ms in chosen.items()}
    elif not given.room:
        chosen["reviewed"] = reviewed()
    verdicts = Verdicts(fresh=given.fresh)
    equivalents = Equivalents()
    wanted = [m for mutants in chosen.values() for m in mutants if m not in equivalents]
    asked = [test for room in rooms.values() for test in room.tests]
    Judge(verdicts, given.workers, [*asked, *EVERYWHERE] if "reviewed" in chosen else asked).try_all(wanted)
    report = Report(
        chosen, verdicts, equivalents, "all" if given.all else f"{given.sample} per room, seed {given.seed}"
    )
    report.show()
    if not given.file and not given.room:
        report.write()
    return 0 if report.good() else 1


if __name__ == "__main__":
    sys.exit(main())
