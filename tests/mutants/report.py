"""What a run has found: the score of every room, the survivors, and the explained ones."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tests.mutants.kept import OUT, Equivalents, Verdicts
from tests.mutants.operators import Mutant
from tests.mutants.rooms import ROOT


class Report:
    """The figures of a run."""

    def __init__(
        self,
        chosen: Mapping[str, Sequence[Mutant]],
        verdicts: Verdicts,
        equivalents: Equivalents,
        extent: str,
    ) -> None:
        self.verdicts, self.equivalents, self.extent = verdicts, equivalents, extent
        self.rooms = {room: _sorted_out(mutants, verdicts, equivalents) for room, mutants in chosen.items()}

    def good(self) -> bool:
        """Whether every mutant was noticed or is explained."""
        return not any(room["survived"] for room in self.rooms.values())

    def show(self) -> None:
        """Print survivors, explained ones and the scores."""
        for room, found in self.rooms.items():
            for mutant in found["survived"]:
                print(f"survived  {mutant.path}:{mutant.lines[0]} {mutant.function}")
                print(f"    - {mutant.before}\n    + {mutant.after}")
                if why := (self.verdicts.find(mutant) or {}).get("why"):
                    print(f"    {why}")
            for mutant in found["equivalent"]:
                print(f"equivalent  {room}: {mutant.before}  ->  {mutant.after} ({self.equivalents.why(mutant)})")
        for room, found in self.rooms.items():
            noticed, survived = len(found["noticed"]), len(found["survived"])
            score = f"{noticed / (noticed + survived):.1%}" if noticed + survived else "-"
            said = f"{noticed} of {noticed + survived}, {len(found['equivalent'])} equivalent"
            print(f"{room:10} {score:>6} noticed: {said}")

    def write(self) -> None:
        """The figures as JSON, for the report on reliability."""
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        rooms = {
            room: {kind: len(found[kind]) for kind in found}
            | {"score": round(len(found["noticed"]) / max(1, len(found["noticed"]) + len(found["survived"])), 4)}
            for room, found in self.rooms.items()
        }
        content = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit.stdout.strip(),
            "extent": self.extent,
            "rooms": rooms,
        }
        OUT.mkdir(exist_ok=True)
        (OUT / "mutants.json").write_text(json.dumps(content, indent=2) + "\n")


def _sorted_out(mutants: Sequence[Mutant], verdicts: Verdicts, equivalents: Equivalents) -> dict[str, list[Mutant]]:
    out: dict[str, list[Mutant]] = {"noticed": [], "survived": [], "equivalent": []}
    for mutant in mutants:
        verdict = verdicts.find(mutant)
        if mutant in equivalents:
            out["equivalent"].append(mutant)
        elif verdict is not None:
            out[verdict["verdict"]].append(mutant)
    return out
