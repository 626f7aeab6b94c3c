"""What is kept between runs: verdicts, explained survivors, reviewed changes; and the choice of a sample."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from tests.mutants.operators import Mutant, mutants_of
from tests.mutants.rooms import ROOT, Room

HERE = Path(__file__).parent
OUT = ROOT / "campaign-out"


def digest(*texts: str) -> str:
    """A short checksum of texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@cache
def text_of(path: str) -> str:
    """The text of a file of the project."""
    return (ROOT / path).read_text()


def sampled(room: Room, count: int | None, seed: int) -> list[Mutant]:
    """The mutants of a room, or as many drawn from them; whether one is drawn depends on its own text alone."""
    every = [m for path in room.paths() for m in mutants_of(str(path.relative_to(ROOT)), path.read_text())]
    return every if count is None else sorted(every, key=lambda m: digest(str(seed), m.name))[:count]


def reviewed() -> list[Mutant]:
    """The changes that are always tried, by their text; one whose code is gone is an error."""
    out = []
    for entry in tomllib.loads((HERE / "reviewed.toml").read_text())["mutant"]:
        path, before, after = entry["file"], entry["before"], entry["after"]
        source = text_of(path)
        if source.count(before) != 1:
            raise SystemExit(f"reviewed.toml: {path} holds this {source.count(before)} times, not once: {before!r}")
        at = source.index(before)
        first = source.count("\n", 0, at) + 1
        lines = first, first + before.count("\n")
        flat = (" ".join(text.split()) for text in (before, after))
        changed = source.replace(before, after)
        out.append(Mutant(path, "reviewed", *flat, changed, lines))
    return out


class Equivalents:
    """Survivors that behave as the original does, by the text of the change, with the reason."""

    def __init__(self) -> None:
        listed = tomllib.loads((HERE / "equivalent.toml").read_text()).get("mutant", [])
        self.reason = {(e["file"], e["function"], e["before"], e["after"]): e["why"] for e in listed}
        self.used: set[tuple[str, str, str, str]] = set()

    def __contains__(self, mutant: Mutant) -> bool:
        key = (mutant.path, mutant.function, mutant.before, mutant.after)
        if key in self.reason:
            self.used.add(key)
        return key in self.reason

    def why(self, mutant: Mutant) -> str:
        """Why no test can notice it."""
        return self.reason[mutant.path, mutant.function, mutant.before, mutant.after]


class Verdicts:
    """What is known of each mutant, and which lines each test executes; saved as it grows."""

    def __init__(self, fresh: bool = False) -> None:
        self.path = OUT / "mutants-state.json"
        self.known: dict[str, dict[str, Any]] = {}
        self.measured: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            state = json.loads(self.path.read_text())
            self.measured = state["measured"]
            self.known = {} if fresh else state["known"]
        tests = sorted(p for p in (ROOT / "tests").rglob("*.py") if HERE not in p.parents)
        self.tests = digest(*(p.read_text() for p in tests))

    def find(self, mutant: Mutant) -> dict[str, Any] | None:
        """The verdict, if neither the module nor (for a survivor) any test has changed since."""
        verdict = self.known.get(mutant.name)
        if verdict is None or verdict["module"] != digest(text_of(mutant.path)):
            return None
        return verdict if verdict["verdict"] == "noticed" or verdict["tests"] == self.tests else None

    def note(self, mutant: Mutant, verdict: dict[str, Any]) -> None:
        """Keep a verdict."""
        self.known[mutant.name] = verdict | {"module": digest(text_of(mutant.path)), "tests": self.tests}

    def save(self) -> None:
        """Write everything, whole or not at all."""
        OUT.mkdir(exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"measured": self.measured, "known": self.known}))
        os.replace(part, self.path)
