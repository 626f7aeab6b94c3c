"""Plots as SVG texts, drawn by hand: nothing to install, and the same figures give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

COLOURS = ("#9aa5b1", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#5f4b8b", "#8c6d31")
INK, GRID = "#1f2933", "#e4e7eb"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 780, 380, 78, 36, 84, 60

Series = Mapping[str, Sequence[float | None]]
Points = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class ChartAxis:
    """One axis: its words, its range, whether it is logarithmic, the pixels between which it lies."""

    words: str
    least: float
    most: float
    log: bool
    first: float
    last: float
    step: float = 1.0

    @classmethod
    def over(cls, words: str, values: Sequence[float], log: bool, first: float, last: float) -> ChartAxis:
        """An axis that shows all the values; a linear one begins at zero."""
        if log:
            least = 10.0 ** math.floor(math.log10(min(values)))
            most = 10.0 ** math.ceil(math.log10(max(values)) + 1e-9)
            return cls(words, least, most if most > least else 10 * least, True, first, last)
        low, high = min(0.0, *values), max(0.0, *values)
        step = nice_step(max(high - low, 1e-12))
        return cls(words, step * math.floor(low / step), step * math.ceil(high / step), False, first, last, step)

    def at(self, value: float) -> float:
        """The pixel of a value."""
        scale: Callable[[float], float] = math.log10 if self.log else float
        share = (scale(value) - scale(self.least)) / (scale(self.most) - scale(self.least))
        return self.first + share * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Where numbers stand."""
        if self.log:
            low, high = round(math.log10(self.least)), round(math.log10(self.most))
            return [10.0**power for power in range(low, high + 1, max(1, (high - low) // 6))]
        return [self.least + self.step * k for k in range(round((self.most - self.least) / self.step) + 1)]


def nice_step(span: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that cuts a span into about five parts."""
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough - 1e-12)


def number(value: float) -> str:
    """A short number for an axis."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"1e{round(math.log10(value))}" if math.isclose(math.log10(value) % 1, 0) else f"{value:.0e}"
    return f"{value:,.10g}"


def text(x: float, y: float, words: str, size: int = 11, anchor: str = "middle", turn: int = 0) -> str:
    """One SVG text, turned by so many degrees."""
    how = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{how}>{escape(words)}</text>'


def colours(names: Sequence[str]) -> list[str]:
    """A fill for each series; `X, published` has a paler shade of the colour of `X, measured`."""
    bases = list(dict.fromkeys(name.partition(",")[0] for name in names))
    fills = []
    for name in names:
        base, _, who = name.partition(", ")
        pale = ' fill-opacity="0.45"' if who.startswith("published") else ""
        fills.append(f'fill="{COLOURS[bases.index(base) % len(COLOURS)]}"{pale}')
    return fills


@dataclass
class Drawing:
    """The parts of one plot."""

    title: str
    parts: list[str] = field(default_factory=list)

    def vertical(self, axis: ChartAxis) -> None:
        """The axis on the left with its lines across."""
        for tick in axis.ticks():
            y = axis.at(tick)
            self.parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>')
            self.parts.append(text(LEFT - 8, y + 4, number(tick), anchor="end"))
        self.parts.append(text(16, (TOP + HEIGHT - BOTTOM) / 2, axis.words, 12, turn=-90))

    def horizontal(self, axis: ChartAxis) -> None:
        """The axis at the bottom."""
        for tick in axis.ticks():
            x = axis.at(tick)
            self.parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{GRID}"/>')
            self.parts.append(text(x, HEIGHT - BOTTOM + 18, number(tick)))
        self.parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, axis.words, 12))

    def legend(self, names: Sequence[str]) -> None:
        """The names of the series above the plot, as many to a line as there is room for."""
        x, y = float(LEFT), 46.0
        for name, fill in zip(names, colours(names), strict=True):
            width = 28 + 6.2 * len(name)
            if x + width > WIDTH - RIGHT:
                x, y = float(LEFT), y + 18
            self.parts.append(f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="11" height="11" rx="2" {fill}/>')
            self.parts.append(text(x + 16, y + 1, name, anchor="start"))
            x += width

    def svg(self) -> str:
        """The whole text."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="Helvetica, Arial, DejaVu Sans, sans-serif" fill="{INK}">'
        )
        back = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
        return "\n".join([head, back, text(LEFT, 24, self.title, 14, "start"), *self.parts, "</svg>", ""])


def bars(title: str, groups: Sequence[str], series: Series, words: str, log: bool = False) -> str:
    """Bars side by side, a group for each name below; what is None has no bar."""
    drawing = Drawing(title)
    values = [v for many in series.values() for v in many if v is not None and (v > 0 or not log)]
    axis = ChartAxis.over(words, values or [1.0], log, HEIGHT - BOTTOM, TOP)
    drawing.vertical(axis)
    drawing.legend(list(series))
    room = (WIDTH - RIGHT - LEFT) / max(1, len(groups))
    fills = colours(list(series))
    wide = min(34.0, 0.82 * room / max(1, len(series)))
    for g, group in enumerate(groups):
        middle = LEFT + (g + 0.5) * room
        slanted = max(map(len, groups)) * 6.5 > room
        label = text(middle + 6, HEIGHT - BOTTOM + 14, group, 10, "end", -35)
        drawing.parts.append(label if slanted else text(middle, HEIGHT - BOTTOM + 18, group))
        for s, many in enumerate(series.values()):
            value = many[g]
            if value is None or (log and value <= 0):
                continue
            x = middle + (s - len(series) / 2) * wide
            zero = axis.least if log else 0.0
            top, foot = sorted((axis.at(value), axis.at(zero)))
            drawing.parts.append(
                f'<rect x="{x + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" height="{max(foot - top, 0.8):.1f}" '
                f"{fills[s]}/>"
            )
    return drawing.svg()


def lines(
    title: str, points: Points, x_words: str, y_words: str, log: tuple[bool, bool] = (True, True), joined: bool = True
) -> str:
    """Points of several series, joined by lines or not; `log` says which of both axes are logarithmic."""
    drawing = Drawing(title)
    shown = {name: [(x, y) for x, y in many if _fits(x, log[0]) and _fits(y, log[1])] for name, many in points.items()}
    every = [point for many in shown.values() for point in many]
    if not every:
        return drawing.svg()
    across = ChartAxis.over(x_words, [x for x, _ in every], log[0], LEFT, WIDTH - RIGHT)
    upright = ChartAxis.over(y_words, [y for _, y in every], log[1], HEIGHT - BOTTOM, TOP)
    drawing.vertical(upright)
    drawing.horizontal(across)
    drawing.legend(list(points))
    for many, fill in zip(shown.values(), colours(list(shown)), strict=True):
        places = [(across.at(x), upright.at(y)) for x, y in many]
        if joined and places:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            drawing.parts.append(f'<path d="M{path}" stroke-width="2" {fill.replace("fill", "stroke")} fill="none"/>')
        drawing.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {fill}/>' for x, y in places]
    return drawing.svg()


def _fits(value: float, log: bool) -> bool:
    """Whether an axis can show a value."""
    return value > 0 or not log
