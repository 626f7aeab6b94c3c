"""The mutation tool: what it changes, what it leaves alone, and that its lists speak of code that exists."""

from __future__ import annotations

import tomllib

from tests.mutants.kept import HERE, reviewed
from tests.mutants.operators import mutants_of
from tests.mutants.rooms import ROOMS, ROOT
from tests.mutants.server import replaced

SOURCE = '''"""A module."""

LIMIT = 7


def within(value: int = 3) -> bool:
    """Not -1 but 1."""
    assert value > 0
    if value < LIMIT and not value == 4:
        raise ValueError(f"{value + 1} is bad")
    return value >= 2
'''


def test_every_mutant_is_one_change_of_the_code_that_compiles() -> None:
    changes = {(m.before, m.after) for m in mutants_of("m.py", SOURCE)}
    assert changes == {
        ("LIMIT = 7", "LIMIT = 8"),
        ("def within(value: int = 3) -> bool:", "def within(value: int = 4) -> bool:"),
        ("if value < LIMIT and not value == 4:", "if value <= LIMIT and not value == 4:"),
        ("if value < LIMIT and not value == 4:", "if value < LIMIT or not value == 4:"),
        ("if value < LIMIT and not value == 4:", "if value < LIMIT and (value == 4):"),
        ("if value < LIMIT and not value == 4:", "if value < LIMIT and not value != 4:"),
        ("if value < LIMIT and not value == 4:", "if value < LIMIT and not value == 5:"),
        ('raise ValueError(f"{value + 1} is bad")', "pass"),
        ("return value >= 2", "return value > 2"),
        ("return value >= 2", "return value >= 3"),
        ("return value >= 2", "return True"),
        ("return value >= 2", "return False"),
    }
    for mutant in mutants_of("m.py", SOURCE):
        compile(mutant.source, "m.py", "exec")
        assert mutant.source.count("\n") == SOURCE.count("\n")


def test_functions_are_exchanged_alone_and_anything_else_is_seen() -> None:
    inside = replaced("m.py", SOURCE, SOURCE.replace("value >= 2", "value > 2"))
    assert inside is not None
    assert [old.co_qualname for old, _ in inside] == ["within"]
    assert replaced("m.py", SOURCE, SOURCE.replace("LIMIT = 7", "LIMIT = 8")) is None
    assert replaced("m.py", SOURCE, SOURCE.replace("int = 3", "int = 4")) is None


def test_the_kept_lists_speak_of_code_that_exists() -> None:
    assert len(reviewed()) >= 25
    known = {
        (m.path, m.function, m.before, m.after)
        for room in ROOMS.values()
        for path in room.paths()
        for m in mutants_of(str(path.relative_to(ROOT)), path.read_text())
    }
    listed = tomllib.loads((HERE / "equivalent.toml").read_text()).get("mutant", [])
    gone = [e for e in listed if (e["file"], e["function"], e["before"], e["after"]) not in known]
    assert not gone
    assert all(entry["why"] for entry in listed)
