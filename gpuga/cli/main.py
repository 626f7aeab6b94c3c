"""The program `gpuga`: finds the command, loads it, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from errno import ENOMEM
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from gpuga import __version__
from gpuga.errors import GpugaError, printable

COMMANDS: dict[str, tuple[str, str]] = {
    "protect": ("gpuga.cli.protect:protect", "Find a safe suppression pattern for a table."),
    "audit": ("gpuga.cli.audit:audit", "Check whether a pattern is safe against an attacker."),
    "verify": ("gpuga.cli.verify:verify", "Check a proof of safety with an independent program."),
    "publish": ("gpuga.cli.publish:publish", "Write the table for publication, without suppressed values."),
    "explain": ("gpuga.cli.explain:explain", "Explain why cells are suppressed, and where protection is tightest."),
    "report": ("gpuga.cli.report_page:report", "Write a report to look at, as one HTML file."),
    "plan": ("gpuga.cli.plan:plan", "Find which of several tables must be protected together."),
    "bound": ("gpuga.cli.bound:bound", "Compute a proven lower bound on the cost of any safe pattern."),
    "expose": ("gpuga.cli.expose:expose", "List the sensitive cells that need secondary suppressions."),
    "compare": ("gpuga.cli.compare:compare", "Compare several methods on one table."),
    "generate": ("gpuga.cli.generate:generate", "Generate a random test table."),
    "run": ("gpuga.cli.run:run", "Protect many tables, on this machine or on a Dask cluster."),
    "tabulate": ("gpuga.cli.tabulate:tabulate", "Tabulate microdata and mark the sensitive cells."),
    "microdata": ("gpuga.cli.microdata:microdata", "Protect microdata by local suppression and global recoding."),
    "methods": ("gpuga.cli.methods:methods", "List the methods, or describe one and its options."),
    "warm-up": ("gpuga.cli.warm_up:warm_up", "Compile for this machine, so that the first run starts at once."),
    "doctor": ("gpuga.cli.doctor:doctor", "Check which back ends and solvers work on this machine."),
}


class LazyGroup(click.Group):
    """A group that imports a command only when it is used, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands whose modules are there."""
        return [name for name, (where, _) in COMMANDS.items() if find_spec(where.partition(":")[0])]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gpuga")
@click.option("--debug", is_flag=True, help="Show the traceback of an error (may show cell values).")
def cli(debug: bool) -> None:
    """Cell suppression for statistical tables: patterns that are proven safe."""


def main(args: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    code = run(sys.argv[1:] if args is None else args)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: a late Ctrl-C changes nothing
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the program and return its exit code."""
    if not all(map(_plain, arguments)):
        return _say("an argument contains a NUL character or half of a surrogate pair", 2)
    if arguments and arguments[0] == "--debug":
        return _code(cli.main(arguments, prog_name="gpuga", standalone_mode=False))
    try:
        return _code(cli.main(arguments, prog_name="gpuga", standalone_mode=False))
    except GpugaError as fault:
        return _say(str(fault), fault.exit_code)
    except click.ClickException as fault:
        return _say(fault.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", 1)
    except Exception as fault:  # the last resort: a sentence instead of a traceback that could show values
        if _lacks_memory(fault):
            return _say("this machine does not have enough memory for this table", 1)
        return _say(f"internal error {type(fault).__name__}: run gpuga --debug ... for the traceback", 1)


def _lacks_memory(fault: BaseException | None) -> bool:
    """Whether memory ran out: for an array, for a library that is mapped, or behind another fault."""
    while fault is not None:
        if isinstance(fault, MemoryError) or (isinstance(fault, OSError) and fault.errno == ENOMEM):
            return True
        if isinstance(fault, ImportError) and "cannot map" in str(fault).lower():
            return True
        fault = fault.__cause__ or fault.__context__
    return False


def _plain(argument: str) -> bool:
    """Whether an argument could have come from a command line at all."""
    try:
        return b"\0" not in os.fsencode(argument)
    except UnicodeEncodeError:
        return False


def _code(result: Any) -> int:
    return result if isinstance(result, int) else 0


def _say(sentence: str, code: int) -> int:
    click.echo(f"gpuga: {printable(sentence, 1000)}", err=True)
    return code
