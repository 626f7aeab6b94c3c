"""`gpuga warm-up`: everything is compiled now, so that no later run has to."""

from __future__ import annotations

import click

from gpuga.cli.options import quiet_option


@click.command("warm-up")
@quiet_option
def warm_up(quiet: bool) -> None:
    """Compile the inner loops for this machine, so that the first run does not have to.

    What is compiled depends on the processor and on the versions of the packages, so it is made where it is used and
    kept on disk. Run it once after an installation, as the user who will work with gpuga.
    """
    from gpuga import compiling
    from gpuga.cli.progress import progress_on_terminal, ready_to_compile
    from gpuga.compile_ahead import whole_walk

    ready_to_compile(quiet)
    with progress_on_terminal(quiet) as progress:
        whole_walk(progress)
    if not quiet:
        spent = compiling.seconds()
        click.echo(
            f"compiled in {spent:.0f} s; later runs start at once" if spent else "everything is compiled already"
        )
