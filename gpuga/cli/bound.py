"""`gpuga bound`: a proven lower bound on the cost of any safe pattern."""

from __future__ import annotations

from typing import Any

import click

from gpuga.cli.options import notes_on_stderr, worker_options
from gpuga.cli.question import Question, question_options
from gpuga.cli.sections import Sectioned


@click.command(cls=Sectioned)
@question_options
@worker_options
def bound(workers: int | None, cluster: str | None, **asked: Any) -> None:
    """Compute a proven lower bound on the cost of any safe pattern of TABLE.

    The bound holds in exact arithmetic, whatever the time limit. General tables of more than 3,000 cells are bounded
    line by line, those of more than 60,000 part by part, unless --workers or --cluster names who solves the attacker's
    programs.
    """
    import gpuga
    from gpuga.cli.progress import ending_on_interrupt, progress_on_terminal, ready_to_compile
    from gpuga.context import Context

    question = Question(**asked)
    source, clock = question.begin()
    question.say_heading(source.table)
    ready_to_compile(question.quiet)
    attacker = question.attacker
    knows: dict[str, Any] = {name: attacker[name] for name in ("whole", "level_zero")}
    with notes_on_stderr(), progress_on_terminal(question.quiet, clock) as progress, ending_on_interrupt(clock):
        context = Context(clock=clock, progress=progress, strict=attacker["strict"])
        found = gpuga.lower_bound(source.table, context, workers=workers, cluster=cluster, **knows)
    shown = source.table.shown_cost(found.lower_bound)
    content = {"lower_bound": shown, "proven": found.proven, "seconds": round(found.seconds, 3)}
    question.answer(content, [f"lower bound {shown:,} ({found.kind}, {found.seconds:.2f} s)"])
