"""Random tables of every kind, small enough for the judges: a number goes in, the same table comes out."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

from tests.campaign.problem import Equation, Problem

TOTAL = "Total"
MOST_CELLS = 64
LARGEST = 2**60  # what the product promises to take: no sum reaches it

Tree = dict[str, str | None]


def random_problem(rng: Random) -> Problem:
    """One table: a shape, values on it, then what has to be protected and what the attacker knows."""
    shape = rng.choices(
        (_grid, _linked, _general, _degenerate, _many_ways),
        (50, 18, 12, 8, 12),
    )[0]
    return shape(rng)


def _decorated(
    rng: Random, kind: str, value: list[int], equations: list[Equation], scale: int, **more: object
) -> Problem:
    """Statuses, bounds, levels and weights for given cells."""
    status = _statuses(rng, value)
    lb, ub = _bounds(rng, value, status)
    lower, upper, sliding = _levels(rng, value, status, scale)
    roomy = rng.random() < 0.85
    for c, letter in enumerate(status):
        top, low = ub[c], lb[c]
        if letter == "u" and roomy:  # else most tables with bounds could not be protected at all
            ub[c] = None if top is None else max(top, value[c] + upper[c] + sliding[c])
            lower[c] = lower[c] if low is None or rng.random() < 0.03 else min(lower[c], value[c] - low)
        elif letter == "u" and low is not None and low == top:
            ub[c] = None  # bounds without room for the levels are refused at the door
    weight, weight_scale = _weights(rng, value, scale)
    problem = Problem(
        kind,
        tuple(value),
        "".join(status),
        tuple(lb),
        tuple(ub),
        tuple(lower),
        tuple(upper),
        tuple(sliding),
        tuple(weight),
        tuple(equations),
        scale,
        weight_scale,
        **more,  # type: ignore[arg-type]
    )
    return _with_groups(rng, problem) if rng.random() < 0.08 else problem


# --- shapes


def _grid(rng: Random) -> Problem:
    """A table of two or three ways, flat or with hierarchies on one or several axes."""
    ways, deep = rng.choice((2, 2, 2, 3, 3)), rng.random() < 0.5
    while True:
        trees = [_tree(rng, rng.randint(1, 5 if ways == 2 else 3), deep and rng.random() < 0.6) for _ in range(ways)]
        cells = _codes_product(trees)
        if 4 <= len(cells) <= MOST_CELLS:
            return _on_grid(rng, trees)


def _many_ways(rng: Random) -> Problem:
    """Four or five ways, with one or two codes along each."""
    ways = rng.choice((4, 4, 5))
    while True:
        trees = [_tree(rng, rng.choice((1, 2, 2)), False) for _ in range(ways)]
        if len(_codes_product(trees)) <= 81:
            return _on_grid(rng, trees)


def _tree(rng: Random, leaves: int, deep: bool) -> Tree:
    """Codes with their parents: flat, or with sub-totals (some of a single part)."""
    codes: Tree = {f"c{i}": None for i in range(leaves)}
    if deep:
        for level in range(rng.choice((1, 1, 2))):
            top = [c for c, parent in codes.items() if parent is None]
            some = rng.sample(top, rng.randint(1, len(top)))
            codes[f"sub{level}"] = None
            for code in some:
                codes[code] = f"sub{level}"
    return codes


def _codes_product(trees: list[Tree]) -> list[tuple[str, ...]]:
    return list(product(*([*tree, TOTAL] for tree in trees)))


def _on_grid(rng: Random, trees: list[Tree]) -> Problem:
    values, scale = _leaf_values(rng)
    labels = _codes_product(trees)
    number = {label: c for c, label in enumerate(labels)}
    value, equations = _sums(rng, trees, labels, number, values)
    dimensions = tuple(f"d{axis}" for axis in range(len(trees)))
    deep = any(parent for tree in trees for parent in tree.values())
    kind = f"{len(trees)}-way{' hierarchical' if deep else ''}"
    parents = {name: tree for name, tree in zip(dimensions, trees, strict=True) if any(tree.values())}
    return _decorated(rng, kind, value, equations, scale, dimensions=dimensions, labels=tuple(labels), parents=parents)


def _sums(rng: Random, trees: list[Tree], labels: list, number: dict, values) -> tuple[list[int], list[Equation]]:  # type: ignore[no-untyped-def,type-arg]
    """Values of all cells of a grid from random leaves, and its equations."""
    below: list[dict[str, list[str]]] = []
    for tree in trees:
        parts: dict[str, list[str]] = {}
        for code, parent in tree.items():
            parts.setdefault(parent or TOTAL, []).append(code)
        below.append(parts)
    known: dict[tuple[str, ...], int] = {}

    def value_of(label: tuple[str, ...]) -> int:
        if label not in known:
            axis = next((a for a, code in enumerate(label) if code in below[a]), None)
            if axis is None:
                known[label] = values()
            else:
                parts = below[axis][label[axis]]
                known[label] = sum(value_of((*label[:axis], part, *label[axis + 1 :])) for part in parts)
        return known[label]

    equations: list[Equation] = []
    for axis, parts in enumerate(below):
        for label in labels:
            if label[axis] in parts:
                entries = [(number[(*label[:axis], p, *label[axis + 1 :])], 1) for p in parts[label[axis]]]
                equations.append((0, (*entries, (number[label], -1))))
    return [value_of(label) for label in labels], equations


def _linked(rng: Random) -> Problem:
    """Several low-dimensional tables of the same population: they share their common marginals."""
    ways = rng.choice((3, 3, 4))
    values, scale = _leaf_values(rng)
    while True:
        sizes = [rng.randint(1, 3) for _ in range(ways)]
        faces = rng.sample(list(combinations(range(ways), 2)), rng.choice((2, 2, 3)))
        if rng.random() < 0.2:
            faces[0] = (0, 1, 2)
        micro = {leaf: values() for leaf in product(*(range(s) for s in sizes))}
        number: dict[tuple[int | None, ...], int] = {}
        equations: list[Equation] = []
        for face in faces:
            equations += _face(face, sizes, number)
        if len(number) <= MOST_CELLS:
            break
    value = [
        sum(v for leaf, v in micro.items() if all(k is None or k == x for k, x in zip(key, leaf, strict=True)))
        for key in number
    ]
    return _decorated(rng, "linked", value, equations, scale)


def _face(face: tuple[int, ...], sizes: list[int], number: dict[tuple[int | None, ...], int]) -> list[Equation]:
    """The equations of one of the linked tables; cells get their numbers as they come."""
    out: list[Equation] = []
    places: list[list[int | None]] = [[*range(s), None] if a in face else [None] for a, s in enumerate(sizes)]
    for key in product(*places):
        number.setdefault(key, len(number))
        for axis in face:
            if key[axis] is None:
                parts = [(*key[:axis], i, *key[axis + 1 :]) for i in range(sizes[axis])]
                entries = [(number.setdefault(part, len(number)), 1) for part in parts]
                out.append((0, (*entries, (number[key], -1))))
    return out


def _general(rng: Random) -> Problem:
    """Any cells and any equations, with coefficients other than 1 and right-hand sides other than 0."""
    n = rng.randint(3, 24)
    values, scale = _leaf_values(rng)
    value = [values() for _ in range(n)]
    coefs = rng.choice(((1,), (1, -1), (1, -1, 2), (1, -1, 2, -3, 5)))
    equations: list[Equation] = []
    for _ in range(rng.randint(1, max(1, n // 2))):
        cells = rng.sample(range(n), rng.randint(1, min(n, 6)))
        row = tuple((c, rng.choice(coefs)) for c in cells)
        equations.append((sum(k * value[c] for c, k in row), row))
    if rng.random() < 0.1:
        equations.append(equations[0])
    return _decorated(rng, "general", value, equations, scale)


def _degenerate(rng: Random) -> Problem:
    """The edges: no equations, one cell, zeros throughout, everything frozen or hidden, levels of nothing."""
    what = rng.choice(
        ("no equations", "one cell", "zeros", "all frozen", "all hidden", "none sensitive", "all sensitive")
    )
    values, scale = _leaf_values(rng)
    if what == "zeros":
        values = lambda: 0  # noqa: E731
    if what in ("no equations", "one cell"):
        n = 1 if what == "one cell" else rng.randint(1, 8)
        value = [values() for _ in range(n)]
        row = ((0, 1),)
        equations = [(value[0], row)] if what == "one cell" and rng.random() < 0.5 else []
        return _decorated(rng, what, value, equations, scale)
    trees = [_tree(rng, rng.randint(1, 3), False) for _ in range(2)]
    labels = _codes_product(trees)
    number = {label: c for c, label in enumerate(labels)}
    value, equations = _sums(rng, trees, labels, number, values)
    problem = _decorated(rng, what, value, equations, scale, dimensions=("d0", "d1"), labels=tuple(labels))
    if problem.groups:
        return problem
    letters = {"all frozen": "z", "all hidden": "m", "none sensitive": "s", "all sensitive": "u"}
    if what in letters:
        return _with_status(problem, letters[what] * len(problem))
    return problem


def _with_status(problem: Problem, status: str) -> Problem:
    """Other statuses; cells that are not sensitive have no levels."""
    level = {
        name: tuple(v if s == "u" else 0 for v, s in zip(getattr(problem, name), status, strict=True))
        for name in ("lower", "upper", "sliding")
    }
    pairs = zip(problem.ub, problem.lb, status, strict=True)
    ub = tuple(None if s == "u" and u == low else u for u, low, s in pairs)
    return Problem(**{**vars(problem), **level, "status": status, "ub": ub})


# --- what stands in the cells


def _leaf_values(rng: Random):  # type: ignore[no-untyped-def]
    """A source of values for the innermost cells, and the scale."""
    style = rng.choice(("counts", "counts", "small", "middle", "sparse", "negative", "decimals", "huge", "mixed"))
    if style == "counts":
        return (lambda: rng.randint(0, 9)), 1
    if style == "small":
        return (lambda: rng.randint(1, 30)), 1
    if style == "middle":
        return (lambda: int(10 ** rng.uniform(0, 5))), 1
    if style == "sparse":
        return (lambda: 0 if rng.random() < 0.5 else rng.randint(1, 12)), 1
    if style == "negative":
        return (lambda: rng.randint(-20, 20)), 1
    if style == "decimals":
        scale = 10 ** rng.choice((1, 2, 3, 6, 12))
        return (lambda: rng.randint(0, 30 * scale)), scale
    if style == "huge":  # a table of up to 81 cells has at most 2**8 times its leaves in all its marginals
        top = LARGEST // rng.choice((2**13, 2**16, 2**20))
        return (lambda: rng.randint(top // 2, top)), rng.choice((1, 1, 100))
    return (lambda: rng.choice((0, 1, 2, 3, 1000, rng.randint(1, 10**9)))), 1


def _statuses(rng: Random, value: list[int]) -> list[str]:
    share = rng.choice((0.06, 0.15, 0.25, 0.4))
    frozen = rng.choice((0.0, 0.0, 0.0, 0.0, 0.15))
    hidden = rng.choice((0.0, 0.0, 0.0, 0.1))
    free_zeros = rng.random() < 0.3
    out = []
    for v in value:
        if v == 0 and not free_zeros:
            out.append("z")
        elif rng.random() < share:
            out.append("u" if v or rng.random() < 0.2 else "s")
        elif rng.random() < frozen:
            out.append("z")
        else:
            out.append("m" if rng.random() < hidden else "s")
    if "u" not in out and rng.random() < 0.9 and (able := [c for c, v in enumerate(value) if v]):
        out[rng.choice(able)] = "u"
    return out


def _bounds(rng: Random, value: list[int], status: list[str]) -> tuple[list[int | None], list[int | None]]:
    style = rng.choice(("plain", "plain", "plain", "plain", "upper", "upper", "both", "both", "free", "tight"))
    lowest = min(value)
    lb: list[int | None] = [0 if lowest >= 0 else lowest - rng.randint(0, 3) if style != "free" else None] * len(value)
    ub: list[int | None] = [None] * len(value)
    for c, v in enumerate(value):
        room = max(1, abs(v))
        if style in ("upper", "both", "tight") and rng.random() < 0.4:
            ub[c] = v + (rng.randint(0, 3) if style == "tight" else rng.randint(0, room))
        if style in ("both", "tight") and rng.random() < 0.7:
            low = v - (rng.randint(0, 3) if style == "tight" else rng.randint(0, room))
            lb[c] = low if lowest < 0 else max(0, low)
        if style == "free" and rng.random() < 0.3:
            lb[c] = None
    return lb, ub


def _levels(rng: Random, value: list[int], status: list[str], scale: int) -> tuple[list[int], list[int], list[int]]:
    styles = ("share", "share", "share", "share", "least", "uneven", "sliding", "both", "zero", "wild")
    style = rng.choice(styles)
    share = rng.choice((5, 10, 15, 30))
    lower, upper, sliding = ([0] * len(value) for _ in range(3))
    for c, v in enumerate(value):
        if status[c] != "u":
            continue
        level = -(-abs(v) * share // 100) or 1
        if style in ("share", "both"):
            lower[c] = upper[c] = level
        elif style == "least":
            lower[c] = upper[c] = max(scale, level)
        elif style == "uneven":
            lower[c], upper[c] = rng.randint(0, level), rng.randint(0, 2 * level)
        elif style == "wild":
            lower[c], upper[c] = rng.randint(0, abs(v) + 1), rng.randint(0, 2 * abs(v) + 1)
        if style in ("sliding", "both") and (style == "sliding" or rng.random() < 0.5):
            sliding[c] = rng.randint(1, 3 * level)
        if style == "zero" and rng.random() < 0.5:
            lower[c] = upper[c] = level
    return lower, upper, sliding


def _weights(rng: Random, value: list[int], scale: int) -> tuple[list[int], int]:
    style = rng.choice(("value", "value", "unit", "random", "decimal", "some zero"))
    if style == "value":
        return [abs(v) for v in value], scale
    if style == "unit":
        return [1] * len(value), 1
    if style == "random":
        return [rng.randint(1, 50) for _ in value], 1
    if style == "decimal":
        return [rng.randint(1, 500) for _ in value], 10
    return [rng.choice((0, 1, 5)) for _ in value], 1


def _with_groups(rng: Random, problem: Problem) -> Problem:
    """Pairs of cells that must be protected together: one more sensitive cell and equation each."""
    able = [c for c, letter in enumerate(problem.status) if letter in "us"]
    if len(able) < 2:
        return problem
    count = rng.randint(1, 2)
    fields = {
        name: list(getattr(problem, name)) for name in ("value", "lb", "ub", "lower", "upper", "sliding", "weight")
    }
    equations = list(problem.equations)
    for _ in range(count):
        members = rng.sample(able, 2)
        at = len(fields["value"])
        total = sum(problem.value[c] for c in members)
        low = None if any(problem.lb[c] is None for c in members) else sum(problem.lb[c] or 0 for c in members)
        level = max(1, abs(total) * 15 // 100)
        for name, new in zip(fields, (total, low, None, level, level, 0, 0), strict=True):
            fields[name].append(new)
        equations.append((0, (*((c, 1) for c in members), (at, -1))))
    return Problem(
        **{
            **vars(problem),
            **{name: tuple(column) for name, column in fields.items()},
            "status": problem.status + "u" * count,
            "equations": tuple(equations),
            "groups": count,
            "kind": f"{problem.kind} with groups",
        }
    )
