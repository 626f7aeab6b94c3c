"""`gpuga expose`: which primaries are exposed before anything is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.question import Question, question_options
from gpuga.cli.sections import Sectioned

if TYPE_CHECKING:
    from gpuga.report.names import Names


@click.command(cls=Sectioned)
@question_options
def expose(**asked: Any) -> None:
    """List the sensitive cells of TABLE that are exposed if no other cell is suppressed.

    A cell is initially exposed if single equations suffice to narrow it down, otherwise consequentially exposed. Cells
    that are undecided at the time limit count as exposed. In the JSON file cells are numbered by their position in the
    table, from 0.
    """
    import gpuga
    from gpuga.cli.progress import progress_on_terminal, ready_to_compile
    from gpuga.cli.report import exposure_content
    from gpuga.context import Context
    from gpuga.report.names import Names

    question = Question(**asked)
    source, clock = question.begin()
    ready_to_compile(question.quiet)
    with progress_on_terminal(question.quiet, clock) as progress:
        context = Context(clock=clock, progress=progress)
        content = exposure_content(gpuga.exposure(source.table, context=context, **question.attacker))
    late = ["time limit reached: undecided cells count as exposed"] if clock.expired() else []
    names = Names.of(source)
    sets = [f"{kind.replace('_', ' ')}: {len(cells)}{_shortened(cells, names)}" for kind, cells in content.items()]
    question.say_heading(source.table)
    question.answer(content, [*late, *sets])


def _shortened(cells: list[int], names: Names, most: int = 10) -> str:
    """The first cells by name."""
    shown = "; ".join(names(cell) for cell in cells[:most])
    more = f"; and {len(cells) - most} more" if len(cells) > most else ""
    return f" ({shown}{more})" if cells else ""
