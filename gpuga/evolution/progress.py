"""What a run shows: figures on the live display, and a log of JSON lines, one per generation."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuga.audience import OFFICE
from gpuga.context import Context
from gpuga.evolution.engine import Evolution
from gpuga.table.table import Table


@dataclass
class Reporter:
    """Tells of every generation; costs include what is suppressed beforehand (`base`). A resumed log goes on."""

    table: Table
    context: Context
    base: int = 0
    path: str | None = None
    resumed: bool = False

    def __post_init__(self) -> None:
        self.log: Path | None = None if self.path is None else Path(self.path)
        self._write("", "a" if self.resumed else "w")

    def _write(self, text: str, mode: str = "a") -> None:
        if self.log is None:
            return
        try:
            with open(self.log, mode, encoding="utf-8") as file:
                file.write(text)
        except OSError as fault:
            warnings.warn(f"the log cannot be written ({fault.strerror}): continuing without it", stacklevel=2)
            self.log = None

    def tell(self, run: Evolution, lower: int, diversity: float, **more: int) -> None:
        """Show a generation and write its row."""
        row = self._row(run, lower, diversity) | more
        shown = {"generation": row["generation"], "best": row["best"]}
        if row["gap"] is not None:
            shown["gap"] = f"{100 * row['gap']:.2f} %"
        shown |= {"children/s": row["evaluations_per_second"], "diversity": row["diversity"]}
        self.context.progress.advance(1, **shown)
        self._keep(row)

    def tell_leg(self, steps: int, generation: int, best: int, lower: int, children: int) -> None:
        """Show what islands have after a leg of so many generations, and write its row."""
        best, lower = best + self.base, lower + self.base
        spent = max(self.context.clock.spent(), 1e-6)
        row: dict[str, Any] = {
            "audience": OFFICE,
            "generation": generation,
            "best": self.table.shown_cost(best),
            "lower_bound": self.table.shown_cost(lower),
            "gap": best / lower - 1 if lower > 0 else None,
            "children": children,
            "seconds": round(spent, 3),
        }
        shown = {"generation": generation, "best": row["best"], "children/s": round(children / spent)}
        if row["gap"] is not None:
            shown["gap"] = f"{100 * row['gap']:.2f} %"
        self.context.progress.advance(steps, **shown)
        self._write(json.dumps(row) + "\n")

    def tell_settled(self, best: int, lower: int) -> None:
        """The only row of a run that needed no generation."""
        best, lower = best + self.base, lower + self.base
        row = {
            "audience": OFFICE,
            "generation": 0,
            "best": self.table.shown_cost(best),
            "lower_bound": self.table.shown_cost(lower),
            "gap": best / lower - 1 if lower > 0 else None,
            "seconds": round(self.context.clock.spent(), 3),
        }
        self._keep(row)

    def _keep(self, row: dict[str, Any]) -> None:
        """Write a row to the log, and leave it to whoever draws the run."""
        self.context.history.append(row)
        self._write(json.dumps(row) + "\n")

    def _row(self, run: Evolution, lower: int, diversity: float) -> dict[str, Any]:
        record, best = run.logbook[-1], run.best.fitness.values[0] + self.base
        bound = lower + self.base
        spent = max(self.context.clock.spent(), 1e-6)
        return {
            "audience": OFFICE,
            "generation": run.generation,
            "best": self.table.shown_cost(best),
            "mean": round(float(self.table.shown_cost(self.base)) + record["mean"] / self.table.weight_scale, 6),
            "worst": self.table.shown_cost(record["worst"] + self.base),
            "lower_bound": self.table.shown_cost(bound),
            "gap": best / bound - 1 if bound > 0 else None,
            "evaluations": run.evaluations,
            "evaluations_per_second": round(run.evaluations / spent),
            "diversity": round(diversity, 4),
            "seconds": round(spent, 3),
        }
