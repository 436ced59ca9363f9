"""The codes that GENERIC types share: stored in upper case, and presented in any case.

Individual codes are compared exactly, because the case of their characters makes them harder to guess.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import Any

import msgspec

from promenade.store.driver.hot import hot_statement
from promenade.store.driver.unit import Session

_PREFIX = 5  # characters by whose cases the index is searched: at most 32 ranges for a code
_LAST = "\U0010ffff"


def shared_form(code: str) -> str:
    """Return a code as a GENERIC type has it: in upper case, where a character has just one such form."""
    upper = code.upper()
    if len(upper) == len(code):
        return upper
    return "".join([one if len(one.upper()) > 1 else one.upper() for one in code])


# The search goes by ranges of the index of codes: a tenant may have millions of them.
@hot_statement(
    "individual codes in any case",
    postgresql="""
    SELECT DISTINCT wanted.form
    FROM unnest($2::varchar[], $3::varchar[], $4::varchar[]) AS wanted (low, high, form), LATERAL (
        SELECT 1 FROM coupon_codes c
        WHERE c.tenant_id = $1::varchar AND c.code >= wanted.low COLLATE "C" AND c.code < wanted.high COLLATE "C"
            AND upper(c.code COLLATE "C") = wanted.form
        LIMIT 1
    ) AS found
    """,
)
def _individual_codes(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, *columns = params
    return connection.execute(
        """
        SELECT DISTINCT json_extract(wanted.value, '$[2]') FROM json_each(?2) AS wanted
        WHERE EXISTS (
            SELECT 1 FROM coupon_codes c
            WHERE c.tenant_id = ?1 AND c.code >= json_extract(wanted.value, '$[0]')
                AND c.code < json_extract(wanted.value, '$[1]')
                AND upper(c.code) = json_extract(wanted.value, '$[2]')
        )
        """,
        (tenant_id, msgspec.json.encode(list(zip(*columns, strict=True))).decode()),
    ).fetchall()


async def taken_by_individual_codes(session: Session, shared: Collection[str]) -> set[str]:
    """Return those shared codes, in their `shared_form`, from which an individual code differs by case at most.

    SQL compares without regard to the case of ASCII letters only.
    """
    ranges = [(low, f"{low}{_LAST}", form) for form in sorted(shared) for low in _beginnings(form)]
    if not ranges:
        return set()
    rows = await session.hot("individual codes in any case", (session.tenant, *map(list, zip(*ranges, strict=True))))
    return {form for (form,) in rows}


def _beginnings(form: str) -> Iterator[str]:
    cases = [dict.fromkeys((one, one.lower())) if one.isascii() else (one,) for one in form[:_PREFIX]]
    return map("".join, product(*cases))
