"""Parameters that are declared once: a dataclass says the type, range, default and meaning of each.

From a declaration come the validation, the options of the command line and their help, `gpuga methods NAME`, the tables
in the documentation, the record in SUMMARY.json and what a checkpoint belongs to.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

from gpuga.errors import InputError, printable

Role = Literal["search", "stop", "result", "file", "machine"]
"""What a parameter is about: the search (a checkpoint belongs to it), when a run ends, what else is returned, files,
or the machine."""


@dataclass(frozen=True)
class Parameter:
    """The declaration of one parameter.

    `kind` is int, float, str, bool or tuple (of words); `unset` says in words what None, the default, stands for;
    `needs` names a parameter without which it means nothing.
    """

    name: str
    kind: type
    default: Any
    meaning: str
    least: int = 1
    choices: tuple[str, ...] = ()
    unset: str = ""
    metavar: str = ""
    needs: str = ""
    role: Role = "search"
    python_only: bool = False

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return flag(self.name)

    @property
    def range(self) -> str:
        """The values that it takes, in words."""
        if self.choices:
            return f"{'any' if self.kind is tuple else 'one'} of {self.listed()}"
        name = _KINDS[self.kind][1]
        if self.kind in (int, float):
            return f"{name} >= {self.least}"
        return self.metavar or name

    def listed(self, quote: str = "") -> str:
        """Its choices; those that are another one with a colon and a word are listed by their words."""
        plain = [choice for choice in self.choices if ":" not in choice]
        ends = dict.fromkeys(choice[choice.index(":") :] for choice in self.choices if ":" in choice)
        names = ", ".join(f"{quote}{choice}{quote}" for choice in plain)
        return f"{names}, each alone or with {', '.join(f'{quote}{end}{quote}' for end in ends)}" if ends else names

    @property
    def usual(self) -> str:
        """The default, in words."""
        if self.default is None or self.default == ():
            return self.unset or "none"
        return {True: "yes", False: "no"}[self.default] if self.kind is bool else str(self.default)

    def checked(self, value: Any, method: str) -> Any:
        """The value as its kind, or a sentence that names the option and the method."""
        if value is None and self.default is None:
            return None
        check, _, needed = _KINDS[self.kind]
        try:
            found: Any = check(value)
        except (TypeError, ValueError, OverflowError):
            what = f"{method} needs {needed}, not {printable(value, 40)!r}"
            raise InputError(what, field=self.flag) from None
        if self.kind in (int, float) and found < self.least:
            raise InputError(f"{found} is too small: {method} needs at least {self.least}", field=self.flag)
        words: tuple[str, ...] = found if self.kind is tuple else (found,)
        if self.choices and (unknown := [word for word in words if word not in self.choices]):
            what = f"unknown {self.name} {printable(unknown[0])!r} of {method}; choose one of {self.listed()}"
            raise InputError(what, field=self.flag)
        return found


def flag(name: str) -> str:
    """The option of the command line for a parameter."""
    return f"--{name.replace('_', '-')}"


def parameter(default: Any, meaning: str, **more: Any) -> Any:
    """A field of a dataclass of parameters, with its meaning and the other entries of `Parameter`."""
    return field(default=default, metadata={"meaning": meaning, **more})


@dataclass(frozen=True)
class Parameters:
    """The parameters of a method, valid from the moment they are made. Subclasses say `method="name"`."""

    method: ClassVar[str] = "this method"

    def __init_subclass__(cls, method: str = "", **rest: Any) -> None:
        """Keep the method's name, for errors."""
        super().__init_subclass__(**rest)
        if method:
            cls.method = method

    def __post_init__(self) -> None:
        """Validate and normalise every value."""
        for one in self.declared():
            object.__setattr__(self, one.name, one.checked(getattr(self, one.name), self.method))
        for one in self.declared():
            if one.needs and getattr(self, one.name) and getattr(self, one.needs) is None:
                raise InputError(f"needs {flag(one.needs)}", field=one.flag)

    @classmethod
    def declared(cls) -> tuple[Parameter, ...]:
        """The declarations, in order."""
        hints = get_type_hints(cls)
        return tuple(Parameter(f.name, _kind(hints[f.name]), f.default, **f.metadata) for f in fields(cls))

    @classmethod
    def of(cls, given: Mapping[str, Any], method: str = "") -> Self:
        """Parameters from names and values (None: not given); names that are not declared are refused."""
        known = [one.name for one in cls.declared()]
        for name in given:
            if name not in known:
                others = ", ".join(map(flag, known)) or "no options of its own"
                what = f"is not an option of {method or cls.method}, which has {others}"
                raise InputError(what, field=flag(printable(name)))
        return cls(**{name: value for name, value in given.items() if value is not None})

    def values(self, roles: Iterable[Role] = ("search", "stop")) -> dict[str, Any]:
        """The parameters of these roles by name."""
        return {one.name: getattr(self, one.name) for one in self.declared() if one.role in roles}

    def changed(self) -> frozenset[str]:
        """The names of those that differ from their defaults, among what decides about the search and its end."""
        declared = {one.name: one for one in self.declared()}
        return frozenset(name for name, value in self.values().items() if value != declared[name].default)


def as_list(given: Any) -> list[Any]:
    """What a file gives as a list, or alone where it is one."""
    return given if isinstance(given, list) else [given]


def _kind(hint: Any) -> type:
    """The type without None; tuples whatever they hold."""
    if get_origin(hint) is UnionType:
        (hint,) = (kind for kind in get_args(hint) if kind is not type(None))
    kind: type = get_origin(hint) or hint
    return kind


def _finite(value: Any) -> float:
    number = float(operator.index(value)) if not isinstance(value, float) else value
    if not math.isfinite(number):
        raise ValueError
    return number


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError
    return text


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError
    return tuple(map(_text, value))


_KINDS: dict[type, tuple[Callable[[Any], Any], str, str]] = {
    int: (_whole, "integer", "a whole number"),
    float: (_finite, "number", "a finite number"),
    bool: (_flag, "flag", "True or False"),
    str: (_text, "text", "a text"),
    tuple: (_words, "list of words", "a list of words"),
}
"""Per type: the check, its name in documentation, its name in errors."""
