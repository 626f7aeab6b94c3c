"""Options that several commands share, and reading a table with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpuga.errors import Alarm, InputError, printable

if TYPE_CHECKING:
    from gpuga.files.read import Source

Command = TypeVar("Command", bound=Callable[..., Any])

_TABLE = (
    click.argument("table", type=click.Path()),
    click.option(
        "--levels",
        metavar="RULE",
        help="Rule for the levels of sensitive cells that have none: 15%, 5 or max(1,10%).  [default: 15%]",
    ),
    click.option(
        "--weights",
        type=click.Choice(["value", "count", "unit", "log"]),
        help="Cost of suppressing a cell: its value, its number of contributors, 1, or the logarithm of its value.  "
        "[default: the weights in the file, else value]",
    ),
    click.option(
        "--hierarchy",
        multiple=True,
        metavar="DIM=FILE.hrc",
        help="Hierarchy of a dimension; may be repeated, also for the same dimension.",
    ),
    click.option(
        "--total",
        multiple=True,
        metavar="[DIM=]CODE",
        help="Code of the totals, for all dimensions or for one; may be repeated.  [default: Total]",
    ),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="Column that is not a dimension; may be repeated."),
    click.option(
        "--dimension",
        multiple=True,
        metavar="COLUMN",
        help="Column that is a dimension although its name looks like a reserved one; may be repeated.",
    ),
    click.option(
        "--coincidence",
        multiple=True,
        metavar="DIM=CODE",
        help="Code that equals the sum of other codes by chance; may be repeated.",
    ),
    click.option(
        "--wide", metavar="NAME", help="TABLE is a pivot table; its header has the codes of the dimension NAME."
    ),
)

_RECORDS = (
    click.option("--by", metavar="A,B", help="TABLE is a file of records; these columns become the dimensions."),
    click.option("--value", metavar="COLUMN", help="With --by: column to sum."),
    click.option(
        "--rule",
        multiple=True,
        metavar="RULE",
        help="With --by: rule for sensitive cells, as in gpuga tabulate (which has more options); may be repeated.",
    ),
)

_WRITTEN = (
    click.option("--decimal", metavar="SIGN", help="Decimal separator: point or comma.  [default: as found]"),
    click.option(
        "--thousands",
        metavar="SIGN",
        help="Thousands separator: space, point, comma, apostrophe or none.  [default: as found]",
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of text files, such as cp1252.  [default: as found]"),
    click.option(
        "--separator",
        "--delimiter",
        metavar="SIGN",
        help="Column separator of text files.  [default: as found]",
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook.  [default: its only one]"),
)


def added(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """A command with options (and arguments), in their order."""
    return reduce(lambda c, option: option(c), reversed(options), command)


def bundled(name: str, options: Sequence[Callable[..., Any]]) -> Callable[[Command], Command]:
    """Adds options of which the command gets the values together, as a dictionary by the name of the bundle."""

    def bare() -> None:
        """Takes the options for their names."""

    names = [param.name for param in added(bare, options).__click_params__]  # type: ignore[attr-defined]

    def decorated(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> Any:
            return command(**{name: {option: given.pop(option) for option in names}}, **given)

        return added(call, options)  # type: ignore[return-value]

    return decorated


table_options = bundled("reading", (*_TABLE, *_RECORDS, *_WRITTEN))
"""The argument TABLE and everything that says how to read it, for `read_options`."""


written_options = bundled("written", _WRITTEN)
"""How a file of records is written: the fields of `gpuga.files.notation.Written`."""


def read_options(
    table: str,
    hierarchy: tuple[str, ...],
    total: tuple[str, ...],
    dimension: tuple[str, ...],
    coincidence: tuple[str, ...],
    **plainly: Any,
) -> Source:
    """The table that the options describe; what had to be assumed is said on standard error."""
    plain = [code for code in total if "=" not in code]
    if len(plain) > 1:
        raise InputError("names more than one code for all dimensions: write DIM=CODE", field="--total")
    chances = [pair_of(text, "--coincidence", "DIM=CODE") for text in coincidence]
    said = {
        "hierarchies": files_by_dimension(hierarchy),
        "total": plain[0] if plain else "Total",
        "totals": _by_dimension([text for text in total if "=" in text], "--total", "DIM=CODE"),
        "dimensions": dimension,
        "coincidences": {name: [code for other, code in chances if other == name] for name, _ in chances},
    }
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        source = _read(table, said | plainly)
    for note in notes:
        _say_note(note.message, note.category)
    return source


def _read(path: str, said: dict[str, Any]) -> Source:
    """The table in a file: a table, or with --by a file of records, which is tabulated."""
    from gpuga.files.read import read_source

    by, value, rules = (said.pop(name) for name in ("by", "value", "rule"))
    if by is None:
        for option, given in (("--value", value), ("--rule", rules)):
            if given:
                raise InputError("is for records: give their dimensions with --by", field=option)
        return read_source(path, **said)
    return _tabulated(path, by, value, rules, said)


def _tabulated(path: str, by: str, value: str | None, rules: tuple[str, ...], said: dict[str, Any]) -> Source:
    from gpuga.cli.microdata_options import parse_names
    from gpuga.files.notation import Written
    from gpuga.records import records_source

    for option, given in (("--value", value), ("--rule", rules)):
        if not given:
            raise InputError("is missing: records need it", field=option)
    for option, name in (("--wide", "wide"), ("--dimension", "dimensions"), ("--ignore", "ignore")):
        if said.pop(name):
            raise InputError("is not for records", field=option)
    if said.pop("totals"):
        raise InputError("records take one code for all totals", field="--total")
    written = Written(**{name: said.pop(name) for name in ("encoding", "separator", "decimal", "thousands", "sheet")})
    tabulating = {"by": parse_names(by, "--by"), "value": value, "rule": rules, "total": said["total"]}
    return records_source(path, tabulating | {"written": written}, **said)


def files_read(reading: dict[str, Any]) -> dict[str, str | tuple[str, ...]]:
    """The files that `read_options` reads, by the option that names them."""
    hierarchies = tuple(pair.partition("=")[2] for pair in reading["hierarchy"])
    return {"TABLE": reading["table"], "--hierarchy": tuple(filter(None, hierarchies))}


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Warnings as one line each, as they come."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _say_note
        yield


def _say_note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    word = "WARNING" if issubclass(category, Alarm) else "note"
    click.echo(f"gpuga: {word}: {printable(message, 300)}", err=True)


def files_by_dimension(texts: Sequence[str]) -> dict[str, list[str]]:
    """The files of hierarchies by dimension; of one dimension there may be several."""
    files: dict[str, list[str]] = {}
    for text in texts:
        dimension, file = pair_of(text, "--hierarchy", "DIM=FILE.hrc")
        if file in files.setdefault(dimension, []):
            what = f"names the same file twice for dimension {printable(dimension)!r}"
            raise InputError(what, path=file, field="--hierarchy")
        files[dimension].append(file)
    return files


def _by_dimension(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """What an option says of each dimension, which may be only one thing."""
    said: dict[str, str] = {}
    for text in texts:
        dimension, what = pair_of(text, option, form)
        if dimension in said:
            raise InputError(f"is given twice for dimension {printable(dimension)!r}", field=option)
        said[dimension] = what
    return said


def pair_of(text: str, option: str, form: str) -> tuple[str, str]:
    """An option such as DIM=CODE in two."""
    dimension, sign, rest = text.partition("=")
    if not (dimension and sign and rest):
        raise InputError(f"{printable(text)!r} is not {form}", field=option)
    return dimension, rest


def fraction(text: str, field: str) -> float:
    """A share such as 0.01 or 1%."""
    percent = text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{printable(text, 20)!r} is not a share such as 1% or 0.01", field=field)
    return value


def _positive(ctx: click.Context, param: click.Parameter, seconds: float | None) -> float | None:
    """A time limit as it should be: positive, neither infinite nor nan."""
    if seconds is not None and not 0 < seconds < float("inf"):
        raise click.BadParameter(f"{seconds} is not a positive number of seconds", ctx, param)
    return seconds


def time_limit(what: str) -> Callable[[Command], Command]:
    """The option --seconds, described by what it limits."""
    words = f"{what} in seconds.  [default: no limit]"
    return click.option("--seconds", type=float, callback=_positive, metavar="N", help=words)


protect_secondary_option = click.option(
    "--protect-secondary",
    is_flag=True,
    help="Also require that no secondary suppression can be computed exactly.",
)
seconds_option = time_limit("Time limit")
json_option = click.option(
    "--json", "json_path", type=click.Path(), metavar="FILE", help="Write the result to a JSON file."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print errors only.")
PROGRESS = "gpuga.progress"
"""Where a command remembers that --progress was given."""


def _remember(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    ctx.meta[PROGRESS] = asked


progress_option = click.option(
    "--progress",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Print progress in plain lines every few seconds where there is no terminal, such as in a log.",
)

_WORKERS = (
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of processes that solve the attacker's programs of a large table, at most one per processor.  "
        "[default: this process]",
    ),
    click.option(
        "--cluster", metavar="ADDRESS|FILE|local", help="Dask cluster whose workers solve the attacker's programs."
    ),
)


def worker_options(command: Command) -> Command:
    """Who else solves the attacker's programs: so many processes of this machine, or the workers of a cluster."""
    return added(command, _WORKERS)


seed_option = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True, help="Random seed."
)


device_option = click.option(
    "--device",
    type=click.IntRange(min=0),
    metavar="N",
    help="CUDA device to use, by number, from 0; implies the back end cuda.",
)
verbose_option = click.option("--verbose", "-v", is_flag=True, help="Also say why the back end was chosen.")


def backend_option(work: str) -> Callable[[Command], Command]:
    """The options --backend, described by the work that is done there, and --device."""
    backend = click.option(
        "--backend",
        type=click.Choice(["auto", "cuda", "cpu", "numpy"]),
        default="auto",
        show_default=True,
        help=f"Back end that {work}; auto: cuda where a device works and the work is large enough for it, else cpu.",
    )
    return lambda command: backend(device_option(command))


_ATTACKER = (
    click.option("--strict", is_flag=True, help="Require that levels are exceeded, not just reached."),
    click.option(
        "--whole",
        type=click.Choice(["auto", "yes", "no"]),
        default="auto",
        show_default=True,
        help="Whether the attacker knows that values are whole numbers; auto: yes for tables of counts.",
    ),
    click.option(
        "--level-zero",
        type=click.Choice(["exact", "ignore"]),
        default="exact",
        show_default=True,
        help="Sensitive cells whose levels are all 0: prevent exact disclosure (exact), or require nothing (ignore).",
    ),
)


attacker_options = bundled("attacker", _ATTACKER)
"""What the attacker knows, and what levels require: the arguments of that name of `gpuga.audit` and others."""
