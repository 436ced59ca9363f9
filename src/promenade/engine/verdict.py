"""Verdicts instead of booleans: why a condition holds or does not; stacking and advice read the same one."""

from __future__ import annotations

from promenade.engine.value import value


@value(frozen=True, slots=True)
class Trigger:
    """A quantity or amount threshold that was met, for counting how often (FREE_ITEM, section 6).

    A threshold of 0 counts nothing: the lines only have to be present.
    """

    lines: tuple[int, ...]  # positions of the sale lines that counted
    is_quantity: bool
    threshold: int  # thousandths of pieces, or minor units
    reached: int
    is_remaining: bool = False  # an amount after earlier promotions, not the original amount


@value(frozen=True, slots=True)
class Met:
    """``lines``: positions of the matched sale lines; None when the condition is not about lines."""

    lines: tuple[int, ...] | None = None
    triggers: tuple[Trigger, ...] = ()


@value(frozen=True, slots=True)
class Piece:
    """What one component of an incomplete bundle lacks: so many pieces like one of the ``lines`` that fit.

    ``article_number`` and ``article_group_id`` are what the component names.
    """

    count: int
    lines: tuple[int, ...]
    article_number: str | None = None
    article_group_id: str | None = None


@value(frozen=True, slots=True)
class Missed:
    """``code`` says what kind of thing was missing, stable and upper-case (RECEIPT_AMOUNT_TOO_LOW ...).

    ``current`` and ``threshold`` are set when a number fell short (minor units or thousandths, see
    ``is_quantity``): NEAR_MISS reads the fraction reached. ``lines``: what did match so far. ``pieces``: what an
    incomplete bundle lacks.
    """

    code: str
    params: tuple[tuple[str, str], ...] = ()
    message: str = ""
    gap_type: str | None = None  # RECEIPT_AMOUNT, ITEM_QUANTITY, SCALED_RECEIPT
    current: int | None = None
    threshold: int | None = None
    is_quantity: bool = False
    lines: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = ()


Verdict = Met | Missed
