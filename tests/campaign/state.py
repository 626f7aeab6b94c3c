"""The campaign's memory: one folder per commit, one file per part, written whole; failures as files to try again."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.campaign.tally import Tally
from tests.campaign.terminal import ROOT

KEPT_FAILURES = 200


@dataclass
class Progress:
    """How far a part is: the steps that are done (all below `upto`, and some beyond) and what they saw."""

    upto: int = 0
    beyond: set[int] = field(default_factory=set)
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)

    def next_steps(self, count: int, busy: set[int]) -> list[int]:
        """The first steps that are neither done nor under way."""
        out: list[int] = []
        at = self.upto
        while len(out) < count:
            if at not in self.beyond and at not in busy:
                out.append(at)
            at += 1
        return out

    def done(self, steps: list[int], tally: Tally, seconds: float) -> None:
        """Some steps are over."""
        self.beyond.update(steps)
        while self.upto in self.beyond:
            self.beyond.remove(self.upto)
            self.upto += 1
        self.tally.add(tally)
        self.seconds += seconds

    @property
    def steps(self) -> int:
        """How many steps are done."""
        return self.upto + len(self.beyond)


class State:
    """The folder of one commit and seed."""

    def __init__(self, out: Path, commit: str, seed: int) -> None:
        self.folder = out / f"{commit}-seed{seed}"
        self.failures = self.folder / "failures"
        self.failures.mkdir(parents=True, exist_ok=True)

    def load(self, part: str) -> Progress:
        """What is known of a part; a damaged file counts as nothing known."""
        try:
            known = json.loads((self.folder / f"{part}.json").read_text())
            tally = Tally(Counter(known["counts"]), known["failures"])
            return Progress(known["upto"], set(known["beyond"]), known["seconds"], tally)
        except (OSError, ValueError, KeyError):
            return Progress()

    def save(self, part: str, progress: Progress) -> None:
        """Keep what is known, and every failure as files."""
        content = {
            "upto": progress.upto,
            "beyond": sorted(progress.beyond),
            "seconds": round(progress.seconds, 1),
            "counts": dict(sorted(progress.tally.counts.items())),
            "failures": [
                self._kept(part, number, f) for number, f in enumerate(progress.tally.failures[:KEPT_FAILURES])
            ],
        }
        target = self.folder / f"{part}.json"
        draft = target.with_suffix(f".{os.getpid()}.part")
        draft.write_text(json.dumps(content, indent=1))
        os.replace(draft, target)

    def _kept(self, part: str, number: int, failure: dict[str, Any]) -> dict[str, Any]:
        """A failure with its files written beside it."""
        name = f"{part}-{number:03d}-{failure['kind'].replace(' ', '-')}"
        files = failure.get("files", {})
        if files:
            folder = self.failures / name
            if not folder.exists():
                folder.mkdir()
                for file, text in files.items():
                    (folder / file).write_text(text)
                (folder / "command.txt").write_text(f"{failure['command']}\n\n{failure['what']}\n")
        return {**failure, "files": {}, "folder": failure.get("folder") or (f"failures/{name}" if files else "")}


def commit_id() -> str:
    """The commit that is tried, with a plus sign where the tree has been changed since."""

    def ask(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()

    head = ask("rev-parse", "--short=12", "HEAD") or "unknown"
    changed = ask("status", "--porcelain", "--untracked-files=no", "--", "gpuga", "kernels", "lp", "tests/campaign")
    return head + ("+" if changed else "")
