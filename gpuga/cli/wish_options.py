"""The options of `gpuga protect` that say what a pattern should be like, besides safe and cheap."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import Command, added
from gpuga.errors import InputError

if TYPE_CHECKING:
    from gpuga.files.read import Source
    from gpuga.table.likeness import Likeness

WISHES = ("like", "like_weight", "keep", "keep_totals", "front")

_OPTIONS = (
    click.option(
        "--keep",
        multiple=True,
        metavar="DIM=CODE[,DIM=CODE]",
        help="Total that must be published, by its codes (*: all codes; dimensions left out are at their total); may "
        "be repeated.",
    ),
    click.option(
        "--keep-totals",
        type=int,
        metavar="LEVEL",
        help="Publish all totals that are not sensitive, down to this level: 0 is the grand total, 1 also what it is "
        "the sum of, and so on.",
    ),
    click.option(
        "--like",
        type=click.Path(),
        metavar="PATTERN",
        help="Earlier pattern to resemble: cells that it does not suppress cost more, those that it does less.",
    ),
    click.option(
        "--like-weight",
        type=int,
        metavar="PERCENT",
        help="How much more, and less, cells cost with --like: 1 to 99.  [default: 10]",
    ),
    click.option(
        "--front",
        type=click.Path(),
        metavar="FILE.csv",
        help="Write a front of safe patterns to a file, one row each: cost, suppressed cells, totals lost, difference "
        "from --like; their patterns go to FILE-1.csv and so on.  [circuits]",
    ),
)


def wish_options(command: Command) -> Command:
    """What a pattern should be like, for `Wishes`."""
    return added(command, _OPTIONS)


@dataclass(frozen=True)
class Wishes:
    """The values of these options."""

    like: str | None
    like_weight: int | None
    keep: tuple[str, ...]
    keep_totals: int | None
    front: str | None

    @classmethod
    def of(cls, given: dict[str, Any]) -> Wishes:
        """Taken out of all values that a command was given."""
        wishes = cls(**{name: given.pop(name) for name in WISHES})
        if wishes.like_weight is not None and wishes.like is None:
            raise InputError("needs --like", field="--like-weight")
        if wishes.front is not None and Path(wishes.front).suffix.lower() != ".csv":
            raise InputError("is written as .csv", path=wishes.front, field="--front")
        return wishes

    def options(self) -> dict[str, Any]:
        """What the method has to know of them."""
        if self.front is None:
            return {}
        return {"objectives": ("cost", "cells", "totals", *(("difference",) if self.like else ()))}

    def arguments(self, source: Source) -> dict[str, Any]:
        """The arguments of `gpuga.protect`."""
        return {"like": self._likeness(source), "keep": self.keep, "keep_totals": self.keep_totals}

    def _likeness(self, source: Source) -> Likeness | None:
        from gpuga.files.pattern import read_earlier
        from gpuga.table.likeness import USUAL_PERCENT, Likeness

        if self.like is None:
            return None
        earlier = read_earlier(source, self.like)
        if earlier.unknown:
            what = f"{earlier.unknown} rows of the earlier pattern are no cells of this table: the others are used"
            warnings.warn(what, stacklevel=2)
        percent = USUAL_PERCENT if self.like_weight is None else self.like_weight
        return Likeness(earlier.suppressed, earlier.known, percent)


def numbered(path: str, number: int) -> str:
    """The name of a further file: NAME-2.csv beside NAME.csv."""
    name = Path(path)
    return str(name.with_name(f"{name.stem}-{number}{name.suffix}"))
