"""A question about a table: the options that `bound` and `expose` share, and the table read with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from gpuga.cli.options import (
    Command,
    added,
    attacker_options,
    files_read,
    json_option,
    progress_option,
    quiet_option,
    read_options,
    seconds_option,
    table_options,
)

if TYPE_CHECKING:
    from gpuga.context import Clock
    from gpuga.files.read import Source
    from gpuga.table.attacker_model import AttackerOptions
    from gpuga.table.table import Table


def question_options(command: Command) -> Command:
    """The options of a question, by the names of its fields."""
    return added(command, (table_options, seconds_option, attacker_options, json_option, progress_option, quiet_option))


@dataclass(frozen=True)
class Question:
    """What is asked of a table: against which attacker, in what time, and where the answer goes."""

    reading: dict[str, Any]
    seconds: float | None
    attacker: AttackerOptions
    json_path: str | None
    quiet: bool

    def begin(self) -> tuple[Source, Clock]:
        """Check the files, start the clock and read the table."""
        from gpuga.cli.places import check_places
        from gpuga.context import Clock

        check_places(files_read(self.reading), {"--json": self.json_path})
        clock = Clock(self.seconds)  # reading counts
        return read_options(**self.reading), clock

    def say_heading(self, table: Table) -> None:
        """Print what comes first, unless errors only are wanted."""
        from gpuga.cli.report import heading

        if not self.quiet:
            click.echo(heading(table, self.attacker))

    def answer(self, content: dict[str, Any], lines: list[str]) -> None:
        """Write the answer to the file that was asked for, and print it."""
        from gpuga.cli.report import write_json

        if self.json_path:
            write_json(self.json_path, content)
        if not self.quiet:
            click.echo("\n".join(lines))
