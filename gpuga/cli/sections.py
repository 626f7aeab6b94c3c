"""Help of commands with many options, by subject: what users ask for first stands first."""

from __future__ import annotations

import click

SECTIONS: dict[str, tuple[str, ...]] = {
    "Result": ("out", "front", "proof", "json_path", "show", "log", "progress", "quiet", "verbose", "help"),
    "Table": ("levels", "weights", "hierarchy", "total", "ignore", "dimension", "coincidence", "wide"),
    "Records instead of a table": ("by", "value", "rule"),
    "How TABLE is written": ("decimal", "thousands", "encoding", "separator", "sheet"),
    "What the attacker knows": ("strict", "whole", "level_zero", "protect_secondary"),
    "Wishes": ("keep", "keep_totals", "like", "like_weight", "alternatives"),
    "Method and time": ("method", "methods", "seconds", "seed", "start", "one_by_one", "checkpoint", "resume"),
    "Machine": (
        "backend", "device", "lp", "no_fallback", "cuopt_host", "workers", "islands", "exchange", "topology", "cluster",
        "cluster_backend",
    ),
}  # fmt: skip
FIRST, LAST = "Options", "Parameters of methods"
"""Options that no section lists: of one command alone, or, where there are methods, of some of these."""


class Sectioned(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section."""
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        others = LAST if any(option.name == "method" for option in options) else FIRST
        section_of = {name: section for section, names in SECTIONS.items() for name in names}
        listed: dict[str, list[tuple[str, str]]] = {section: [] for section in (FIRST, *SECTIONS, LAST)}
        for option in options:
            name = "help" if "--help" in option.opts else option.name or ""
            record = option.get_help_record(ctx)
            if record is not None:
                listed[section_of.get(name, others)].append(record)
        for section, records in listed.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)
