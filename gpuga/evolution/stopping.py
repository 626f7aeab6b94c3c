"""When a run ends: time, generations, generations without improvement, improvement per second, proof."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from gpuga.context import Context
from gpuga.parameters import StopParameters


@dataclass
class Stop:
    """Asked once per generation. `patience` counts generations without improvement; `rate` is the least
    relative improvement per second that is still worth waiting for (over the last `WINDOW` seconds)."""

    context: Context
    generations: int | None
    patience: int | None
    rate: float | None = None
    since: int = 0
    best: int | None = None
    why: str = ""
    _history: deque[tuple[float, int]] = field(default_factory=deque)

    WINDOW = 5.0

    @classmethod
    def of(cls, context: Context, parameters: StopParameters) -> Stop:
        """As the parameters say."""
        return cls(context, parameters.generations, parameters.patience, parameters.improvement_rate)

    def note(self, best: int) -> None:
        """The best cost after another generation."""
        if self.best is None or best < self.best:
            self.best, self.since = best, 0
        else:
            self.since += 1
        self._history.append((self.context.clock.spent(), best))

    def reached(self, generation: int, lower: int | None = None) -> bool:
        """Whether to end now; `why` says the reason."""
        if lower is not None and self.best is not None and self.best <= lower:
            self.why = "proof"
        elif self.context.clock.expired():
            self.why = "interrupt" if self.context.clock.interrupted else "seconds"
        elif self.generations is not None and generation >= self.generations:
            self.why = "generations"
        elif self.patience is not None and self.since >= self.patience:
            self.why = "no improvement"
        elif self._slow():
            self.why = "improvement per second"
        return bool(self.why)

    def _slow(self) -> bool:
        if self.rate is None or len(self._history) < 2:
            return False
        now, best = self._history[-1]
        while len(self._history) > 2 and self._history[1][0] <= now - self.WINDOW:
            self._history.popleft()
        then, before = self._history[0]
        if now - then < self.WINDOW or before <= 0:
            return False
        return (before - best) / before / (now - then) < self.rate
