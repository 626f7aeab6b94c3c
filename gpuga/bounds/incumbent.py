"""Who keeps the best safe pattern, as those see it who look for better ones."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Incumbent(Protocol):
    """Who keeps the best safe pattern."""

    cost: int

    def try_point(self, x: NDArray[np.float64]) -> int:
        """Make a safe pattern of a fractional one (float64[R, C]), keep it if it is cheaper; the cost of the best."""
