"""`gpuga expose`: which primaries are exposed before anything is done."""

from __future__ import annotations

from typing import Any

import click

from gpuga.cli.question import Question, question_options


@click.command()
@question_options
def expose(**asked: Any) -> None:
    """List the sensitive cells of TABLE that are exposed if no other cell is suppressed.

    Cells are numbered by their position in the file, from 0. A cell is initially exposed if single equations suffice
    to narrow it down, otherwise consequentially exposed. Cells that are undecided at the time limit count as exposed.
    """
    import gpuga
    from gpuga.cli.report import exposure_content
    from gpuga.context import Context

    question = Question(**asked)
    source, clock = question.begin()
    content = exposure_content(gpuga.exposure(source.table, context=Context(clock=clock), **question.attacker))
    late = ["time limit reached: undecided cells count as exposed"] if clock.expired() else []
    sets = [f"{kind.replace('_', ' ')}: {len(cells)}  {_shortened(cells)}" for kind, cells in content.items()]
    question.say_heading(source.table)
    question.answer(content, [*late, *sets])


def _shortened(cells: list[int], most: int = 30) -> str:
    shown = " ".join(map(str, cells[:most]))
    return shown if len(cells) <= most else f"{shown} ..."
