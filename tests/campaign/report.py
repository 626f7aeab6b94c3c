"""What the campaign saw, as a table: printed, and written as docs/reliability.md."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.campaign.parts import FAILURES, PARTS
from tests.campaign.state import State

HEAD = """# What the campaign saw

Written by `make campaign`; do not edit. Commit `{commit}`, seed {seed}, {date} UTC, {hours:.1f} hours of work.

The campaign makes random tables, malformed files and faults, and compares what gpuga says with judges that share no
line with it: an attacker in exact integers (simplex on a fraction-free tableau), one who knows that values are whole
(branch and bound on the same tableau, and an integer program), and a search through all patterns of small tables.
`python -m tests.campaign --only PART --seed {seed} --again STEP` repeats a step.
"""


def failed(state: State) -> bool:
    """Whether any part saw a failure."""
    return any(state.load(part.name).tally.failures for part in PARTS)


def table_of(state: State) -> str:
    """Every part with its counts; failures are named even where there are none."""
    lines: list[str] = []
    for part in PARTS:
        progress = state.load(part.name)
        if not progress.steps:
            continue
        counts = progress.tally.counts
        lines += [f"## {part.name}: {part.about}", "", "| what | count |", "|---|---:|"]
        lines += [f"| {name} | {counts[name]:,} |" for name in counts_shown(counts)]
        broken = {name: counts[name] for name in FAILURES if counts[name]}
        lines.append(f"| **failures** | **{sum(broken.values())}** |")
        lines += [f"| {name} | {count:,} |" for name, count in broken.items()]
        lines.append("")
        for failure in _examples(progress.tally.failures):
            where = failure.get("folder") or failure["command"]
            lines.append(f"- {failure['kind']}: {failure['what'].splitlines()[0][:150]} ({where})")
        if progress.tally.failures:
            lines.append("")
    return "\n".join(lines)


def _examples(failures: list[dict[str, Any]], most: int = 3) -> list[dict[str, Any]]:
    """A few failures of each kind."""
    seen: Counter[str] = Counter()
    out = []
    for failure in failures:
        seen[failure["kind"]] += 1
        if seen[failure["kind"]] <= most:
            out.append(failure)
    return out


def counts_shown(counts: dict[str, int]) -> list[str]:
    """The counts that are not failures, plain ones first."""
    plain = [name for name in counts if name not in FAILURES]
    return sorted(plain, key=lambda name: (":" in name, name))


def write_document(state: State, path: Path) -> None:
    """docs/reliability.md."""
    commit, _, seed = state.folder.name.rpartition("-seed")
    hours = sum(state.load(part.name).seconds for part in PARTS) / 3600
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    head = HEAD.format(commit=commit, seed=seed, date=date, hours=hours)
    path.write_text(f"{head}\n{table_of(state)}", encoding="utf-8")
