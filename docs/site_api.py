"""The Python reference of the site: every public name with its signature and its docstring."""

from __future__ import annotations

import inspect
import re
from typing import Any

import gpuga

HEAD = """# Python

Everything that `import gpuga` offers, made from the docstrings. Names are loaded when they are first used: importing
the package is quick and touches no GPU. `help(gpuga.protect)` says the same at the prompt.
"""


def api_page() -> str:
    """The page."""
    names = [name for name in gpuga.__all__ if not name.startswith("_")]
    functions = [name for name in names if not inspect.isclass(getattr(gpuga, name))]
    classes = [name for name in names if name not in functions]
    parts = [HEAD, "## Functions\n", *map(_entry, functions), "## Classes\n", *map(_class, classes)]
    return "\n".join(parts)


def _entry(name: str) -> str:
    thing = getattr(gpuga, name)
    code = f"```python\n{name}{_written(*_signature(thing))}\n```"
    return f"### gpuga.{name}\n\n{code}\n\n{markdown(inspect.getdoc(thing) or '')}\n"


def _class(name: str) -> str:
    """A class with its methods and properties that have docstrings of their own."""
    thing = getattr(gpuga, name)
    rows = [f"### gpuga.{name}\n\n{markdown(inspect.getdoc(thing) or '')}\n"]
    for member, what in vars(thing).items():
        if member.startswith("_") or not getattr(what, "__doc__", None):
            continue
        if isinstance(what, property):
            rows.append(f"- `{member}`: {_line(what.__doc__ or '')}")
        elif callable(getattr(what, "__func__", what)):
            function = getattr(what, "__func__", what)
            rows.append(f"- `{member}{_in_a_line(*_signature(function))}`: {_line(function.__doc__ or '')}")
    return "\n".join(rows) + "\n"


def _line(text: str) -> str:
    """A docstring as the text of one item."""
    return " ".join(text.split())


def _signature(function: Any) -> tuple[list[str], str]:
    """The parameters as they are written, and what stands after them."""
    signature = inspect.signature(function)
    words: list[str] = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not any(word.startswith("*") for word in words):
            words.append("*")
        if one.name not in ("self", "cls"):
            words.append(_parameter(one))
    end = "" if signature.return_annotation is inspect.Signature.empty else f" -> {_plain(signature.return_annotation)}"
    return words, end


def _in_a_line(words: list[str], end: str) -> str:
    return f"({', '.join(words)}){end}"


def _written(words: list[str], end: str) -> str:
    """A signature, with one parameter a line where they are many."""
    short = _in_a_line(words, end)
    return short if len(short) <= 90 else "(\n" + "".join(f"    {word},\n" for word in words) + f"){end}"


def _parameter(one: inspect.Parameter) -> str:
    """A parameter with its annotation and its default."""
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    kind = "" if one.annotation is one.empty else f": {_plain(one.annotation)}"
    if one.default is one.empty:
        return f"{stars}{one.name}{kind}"
    return f"{stars}{one.name}{kind}{' = ' if kind else '='}{one.default!r}"


def _plain(annotation: Any) -> str:
    """An annotation without the names of modules that it may carry."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def markdown(text: str) -> str:
    """A docstring as Markdown: examples at the prompt become blocks of code, indented text stays as it is written."""
    out = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith(">>>"):
            body = re.sub(r"\s*# doctest: \+SKIP", "", part)
            out.append(f"```pycon\n{body}\n```")
        elif part.startswith("    "):
            out.append(f"```text\n{inspect.cleandoc(part)}\n```")
        else:
            out.append(part)
    return "\n\n".join(out)
