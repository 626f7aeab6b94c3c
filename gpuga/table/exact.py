"""Exact decimals: numbers as people write them become scaled integers at the door, without a float between.

A column of numbers is read as integers in units of `10**-digits`, `digits` being the smallest number of
decimals that shows all of them. No message here repeats a number: it may belong to a suppressed cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError
from gpuga.table.table import INFINITE, LARGEST, TOO_LARGE, Ints, Mask

MOST_DIGITS = 18
"""More digits than this on either side of the point do not fit into exact int64 arithmetic."""

NO_BOUND = 10**19
"""A bound of this size or more, in the user's units, means "no bound": files of the field write 10^20. It lies
beyond every value plus every level that a table can have, so it never is a bound that was meant."""

_INFINITE_WORDS = {"inf": 1, "+inf": 1, "infinity": 1, "+infinity": 1, "-inf": -1, "-infinity": -1}


@dataclass(frozen=True, eq=False)
class Decimals:
    """A column of numbers: `mantissa / 10**digits` where `present`; `infinite` is -1, 0 or +1 per row."""

    mantissa: Ints
    digits: int
    present: Mask
    infinite: Ints
    field: str

    def scaled(self, digits: int) -> Ints:
        """The numbers in units of `10**-digits`; infinite ones become `INFINITE` (0 where not present)."""
        factor = 10 ** (digits - self.digits)
        if (beyond := self._beyond(INFINITE, factor)).any():
            what = "has too many digits for exact arithmetic"
            raise InputError(what, field=self.field, cell=int(np.argmax(beyond)))
        return np.where(self.infinite != 0, self.infinite * INFINITE, self.mantissa * factor).astype(np.int64)

    def whole(self, rows: Mask) -> bool:
        """Whether the numbers of these rows are whole."""
        return not (self.mantissa[rows] % 10**self.digits).any()

    def bounds(self, digits: int) -> Ints:
        """As `scaled`, within what bounds may be; a finite bound that does not fit is refused, never dropped."""
        if (beyond := self._beyond(2 * LARGEST, 10 ** (digits - self.digits))).any():
            raise InputError(TOO_LARGE, field=self.field, cell=int(np.argmax(beyond)))
        return self.scaled(digits)

    def _beyond(self, limit: int, factor: int) -> Mask:
        """Which numbers reach `limit` once they are multiplied (compared without absolute values: -2**63 has none)."""
        most = (limit - 1) // factor
        return np.asarray((self.mantissa > most) | (self.mantissa < -most))


def decimals(values: Sequence[object] | NDArray[np.generic], field: str, infinite: bool = False) -> Decimals:
    """A column from texts, integers, floats or Decimals; blanks, None and (outside texts) NaN are missing.

    With `infinite`, the words inf and -inf are allowed, and numbers from `NO_BOUND` on mean the same.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return _from_integers(values, field, infinite)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return _from_floats(values.astype(np.float64), field, infinite)
    plain = isinstance(values, list) and set(map(type, values)) == {str}
    texts: list[str] = list(map(str.strip, values)) if plain else [_text(v) for v in values]  # type: ignore[arg-type]
    return _from_texts(texts, field, infinite)


def is_missing(value: object) -> bool:
    """Whether a value stands for "not given": None, NaN, NaT or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or value != value  # NaN differs from itself


def _text(value: object) -> str:
    """A value as it would stand in a file; what is missing is blank."""
    if isinstance(value, str):
        return value.strip()
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, np.floating):
        return repr(float(value))
    return repr(value) if isinstance(value, float) else str(value)


def _plain(mantissa: Ints, digits: int, present: Mask, field: str) -> Decimals:
    return Decimals(mantissa, digits, present, np.zeros(len(mantissa), np.int64), field)


def _from_integers(values: NDArray[np.generic], field: str, infinite: bool) -> Decimals:
    if values.dtype.kind == "u" and values.size and int(values.max()) >= INFINITE:
        return _from_texts([str(v) for v in values.tolist()], field, infinite)
    return _plain(values.astype(np.int64), 0, np.ones(len(values), bool), field)


def _from_floats(values: NDArray[np.float64], field: str, infinite: bool) -> Decimals:
    """The shortest decimals that read back as the same floats."""
    present = ~np.isnan(values)
    filled = np.where(present, values, 0.0)
    endless = np.isinf(filled)
    if endless.any() and not infinite:
        raise InputError("is not a finite number", field=field, cell=int(np.flatnonzero(endless)[0]))
    finite = np.where(endless, 0.0, filled)
    sign = np.where(endless, np.sign(filled), 0).astype(np.int64)
    for digits in range(16):
        power = 10.0**digits
        mantissa = np.rint(finite * power)
        if np.abs(mantissa).max(initial=0.0) >= 2**53:
            break
        if (mantissa / power == finite).all():
            return Decimals(mantissa.astype(np.int64), digits, present, sign, field)
    return _from_texts([_text(v) for v in values.tolist()], field, infinite)


def _from_texts(texts: list[str], field: str, infinite: bool) -> Decimals:
    present = np.fromiter(map(bool, texts), bool, len(texts))
    filled = texts if present.all() else [t or "0" for t in texts]
    plain = _plainly(filled, present, field)
    return _carefully(filled, present, field, infinite) if plain is None else plain


def _plainly(texts: list[str], present: Mask, field: str) -> Decimals | None:
    """The quick way for columns of nothing but digits, signs and points; None where it does not do."""
    rest = "\n".join(texts).encode("ascii", "replace").translate(None, b"0123456789+-\n")
    try:
        if not rest:
            return _plain(np.array(list(map(int, texts)), np.int64), 0, present, field)
        return None if rest.strip(b".") else _from_pointed(texts, present, field)
    except (ValueError, OverflowError):
        return None


def _from_pointed(texts: list[str], present: Mask, field: str) -> Decimals:
    """Numbers written with digits, a sign and a point only."""
    parts = [t.partition(".") for t in texts]
    fractions = [p[2].rstrip("0") for p in parts]
    digits = max((len(f) for f in fractions), default=0)
    if any(not (p[0].strip("+-") or p[2]) for p in parts):
        raise ValueError("a sign or a point without digits")
    mantissa = [int(p[0] + f.ljust(digits, "0") or "0") for p, f in zip(parts, fractions, strict=True)]
    return _plain(np.array(mantissa, np.int64), digits, present, field)


def _carefully(texts: list[str], present: Mask, field: str, infinite: bool) -> Decimals:
    """Number by number, with exponents and infinities; names the row that is not a number."""
    sign = np.zeros(len(texts), np.int64)
    numbers: list[Decimal] = []
    for row, text in enumerate(texts):
        word = _INFINITE_WORDS.get(text.lower(), 0) if infinite else 0
        number = Decimal(0) if word else _decimal(text, field, row)
        if infinite and number.copy_abs() >= NO_BOUND:
            word, number = (1 if number > 0 else -1), Decimal(0)
        if number and number.adjusted() > MOST_DIGITS:
            raise InputError(_too_long(infinite), field=field, cell=row)
        sign[row] = word
        numbers.append(number)
    digits = max((_fraction_digits(n) for n in numbers), default=0)
    mantissa = [int(n.scaleb(digits)) for n in numbers]
    for row, each in enumerate(mantissa):
        if abs(each) >= INFINITE:
            raise InputError(_too_long(infinite), field=field, cell=row)
    return Decimals(np.array(mantissa, np.int64), digits, present, sign, field)


def _too_long(bound: bool) -> str:
    return TOO_LARGE if bound else "has too many digits for exact arithmetic"


def _decimal(text: str, field: str, row: int) -> Decimal:
    try:
        number = Decimal(text) if text.isascii() and "_" not in text else Decimal("bad")
    except InvalidOperation:
        comma = " (--decimal and --thousands say how numbers are written)" if "," in text else ""
        raise InputError(f"is not a number{comma}", field=field, cell=row) from None
    if not number.is_finite():
        raise InputError("is not a finite number", field=field, cell=row)
    if number and number.adjusted() < -MOST_DIGITS:
        raise InputError("has too many digits for exact arithmetic", field=field, cell=row)
    return number


def _fraction_digits(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # finite, as checked
    return max(0, -exponent)


def all_shown(values: Ints, scale: int, infinite: str = "inf") -> list[str]:
    """Scaled integers as exact decimal texts, `infinite` where there is no bound."""
    plain = values.tolist()
    if scale == 1 and not (np.abs(values) >= INFINITE).any():
        return list(map(str, plain))
    return [("-" if v < 0 else "") + infinite if abs(v) >= INFINITE else shown(v, scale) for v in plain]


def shown(value: int, scale: int) -> str:
    """A scaled integer as the shortest exact decimal text; `scale` is a power of ten."""
    if scale == 1:
        return str(value)
    digits = len(str(scale)) - 1
    whole, fraction = divmod(abs(value), scale)
    tail = f"{fraction:0{digits}d}".rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' + tail if tail else ''}"
