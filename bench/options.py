"""The command lines of the benchmarks: descriptions as they are written, defaults behind every option that has one."""

from __future__ import annotations

import argparse

from bench.kinds import KINDS


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help that shows a default wherever there is one worth saying."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        said = action.help or ""
        if "%(default)" in said or action.default in (None, False, [], float("inf"), argparse.SUPPRESS):
            return said
        return said if isinstance(action.default, (list, tuple)) else f"{said} (default: %(default)s)"


def parser_of(command: str, page: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark, described by the text at the head of its module."""
    return argparse.ArgumentParser(prog=f"python -m bench {command}", description=page, formatter_class=_Help)


def kind_names() -> str:
    """The kinds of tables as help names them; a percent sign is a format of its own there."""
    return ", ".join(sorted(KINDS)).replace("%", "%%")
