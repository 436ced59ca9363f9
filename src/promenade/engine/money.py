"""Whole numbers for money: minor units, rounding and splitting (pricing semantics, sections 1 and 7).

Units: ``*_minor`` whole minor units of a currency, ``*_hundredths`` and ``*_thousandths`` as in `definition`.
Nothing here raises on odd amounts: every function is total over the integers it documents.
"""

from __future__ import annotations

from collections.abc import Sequence

# ISO 4217, table A.1: every currency whose minor unit is not 2 decimals. Precious metals, bond units and the
# test currency have no minor unit at all ("N.A."); they are counted whole.
_EXCEPTIONS: dict[str, int] = {
    **dict.fromkeys(
        ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV"), 0
    ),
    **dict.fromkeys(("XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}

POWERS_OF_TEN: tuple[int, ...] = tuple(10**n for n in range(19))


_HUNDREDTHS: tuple[str, ...] = tuple([f".{n:02d}" for n in range(100)])


def minor_digits(currency: str) -> int:
    """Decimals of the currency's minor unit (ISO 4217): 2 unless the standard says otherwise."""
    return _EXCEPTIONS.get(currency, 2)


def divide(numerator: int, denominator: int, rounding: str = "ROUND_HALF_UP") -> int:
    """``numerator / denominator`` (denominator > 0) as a whole number.

    Rounding works on the magnitude, so that a return mirrors its sale: half up is away from zero at the half,
    ROUND_DOWN towards zero, ROUND_UP away from zero. NONE is exact and then half up (section 7).
    """
    magnitude = -numerator if numerator < 0 else numerator
    if rounding == "ROUND_DOWN":
        result = magnitude // denominator
    elif rounding == "ROUND_UP":
        result = -(-magnitude // denominator)
    else:
        result = (2 * magnitude + denominator) // (2 * denominator)
    return -result if numerator < 0 else result


def line_total_minor(unit_price_hundredths: int, quantity_thousandths: int, exponent: int) -> int:
    """unitPrice x quantity, rounded half up to the minor unit; below zero for a returned line (section 1)."""
    return divide(unit_price_hundredths * quantity_thousandths * POWERS_OF_TEN[exponent], 100_000)


def minor_from_hundredths(hundredths: int, exponent: int) -> int:
    """An amount at face value as minor units, rounded half up where the currency has fewer than 2 decimals."""
    if exponent >= 2:
        return hundredths * POWERS_OF_TEN[exponent - 2]
    return divide(hundredths, POWERS_OF_TEN[2 - exponent])


def threshold_minor(hundredths: int, exponent: int) -> int:
    """The least whole amount that reaches a limit at face value: 49.50 in yen is reached by 50."""
    if exponent >= 2:
        return hundredths * POWERS_OF_TEN[exponent - 2]
    return -(-hundredths // POWERS_OF_TEN[2 - exponent])


def limit_minor(hundredths: int, exponent: int) -> int:
    """The greatest whole amount within a limit at face value: 49.50 in yen allows 49."""
    if exponent >= 2:
        return hundredths * POWERS_OF_TEN[exponent - 2]
    return hundredths // POWERS_OF_TEN[2 - exponent]


def decimal_text(scaled: int, digits: int, *, trim: bool = False) -> str:
    """A scaled integer as a plain decimal: (-1250, 2) is ``-12.50``, trimmed ``-12.5``."""
    if scaled >= 0:  # most numbers: the same without its cases
        if trim and digits == 3 and scaled % 1000 == 0:
            return str(scaled // 1000)
        if digits == 2 and not trim:
            return str(scaled // 100) + _HUNDREDTHS[scaled % 100]
    text = str(abs(scaled)).rjust(digits + 1, "0")
    whole, decimals = text[: len(text) - digits], text[len(text) - digits :]
    if trim:
        decimals = decimals.rstrip("0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


def rounding_step(precision: int | None, exponent: int) -> int:
    """The step, in minor units, that ``calculationConfig.precision`` rounds to.

    None is the currency's own precision, and so is anything finer: a discount is whole minor units. A coarser
    one gives a bigger step (precision 0 in EUR: 100 cents, precision -1: 1000 cents).
    """
    if precision is None or precision >= exponent:
        return 1
    return int(10 ** (exponent - precision))


def split(mode: str | None, total: int, bases: Sequence[int], caps: Sequence[int], prices: Sequence[int]) -> list[int]:
    """Distribute ``total`` by a distribution mode; None is PROPORTIONAL (section 7).

    ``bases``, ``caps`` and ``prices`` are parallel and in basket order.
    """
    if mode == "EQUAL":
        return split_equal(total, caps)
    if mode == "HIGHEST_FIRST":
        return split_highest_first(total, caps, prices)
    return split_proportional(total, bases, caps)


# INVARIANT of the three below: parts are whole minor units >= 0, none exceeds its cap, and they add up to
# min(total, sum(caps)), cent for cent.


def split_proportional(total: int, bases: Sequence[int], caps: Sequence[int]) -> list[int]:
    """In proportion to ``bases`` by largest remainder (ties: basket order); what a cap refuses goes to the others."""
    count = len(caps)
    parts = [0] * count
    rest = total
    open_places = [place for place in range(count) if caps[place] > 0 and bases[place] > 0]
    while rest > 0 and open_places:
        weight = sum([bases[place] for place in open_places])
        full = [place for place in open_places if rest * bases[place] >= (caps[place] - parts[place]) * weight]
        if not full:
            break
        # A place whose exact share reaches its cap is filled; the remainder is shared afresh among the others.
        for place in full:
            taken = min(caps[place] - parts[place], rest)
            parts[place] += taken
            rest -= taken
        closed = set(full)
        open_places = [place for place in open_places if place not in closed]
    if rest > 0 and open_places:
        _largest_remainder(rest, bases, open_places, parts)
        rest = 0
    if rest > 0:
        _fill(rest, range(count), caps, parts)
    return parts


def _largest_remainder(total: int, bases: Sequence[int], places: list[int], parts: list[int]) -> None:
    """Add ``total`` to ``parts``; no place's exact share reaches its cap, so rounding up never exceeds it."""
    weight = sum([bases[place] for place in places])
    remainders: dict[int, int] = {}
    left = total
    for place in places:
        share, remainders[place] = divmod(total * bases[place], weight)
        parts[place] += share
        left -= share
    if left:
        for place in sorted(places, key=remainders.__getitem__, reverse=True)[:left]:  # equal ones keep their order
            parts[place] += 1


def split_equal(total: int, caps: Sequence[int]) -> list[int]:
    """The same to each, odd units to the first in basket order; what a place cannot take goes to the others alike."""
    parts = [0] * len(caps)
    rest = total
    open_places = [place for place in range(len(caps)) if caps[place] > 0]
    while open_places:
        share, odd = divmod(rest, len(open_places))
        full = [place for place in open_places if caps[place] <= share]
        if not full:
            for index, place in enumerate(open_places):
                parts[place] = share + 1 if index < odd else share
            break
        for place in full:
            parts[place] = caps[place]
            rest -= caps[place]
        open_places = [place for place in open_places if caps[place] > share]
    return parts


def split_highest_first(total: int, caps: Sequence[int], prices: Sequence[int]) -> list[int]:
    """Fill the place with the highest unit price, then the next (ties: basket order)."""
    parts = [0] * len(caps)
    _fill(total, sorted(range(len(caps)), key=lambda place: (-prices[place], place)), caps, parts)
    return parts


def _fill(total: int, order: Sequence[int], caps: Sequence[int], parts: list[int]) -> None:
    rest = total
    for place in order:
        room = caps[place] - parts[place]
        if room <= 0:
            continue
        taken = room if room < rest else rest
        parts[place] += taken
        rest -= taken
        if rest == 0:
            return
