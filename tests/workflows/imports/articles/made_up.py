"""Valid, invalid and unusual article rows as JSON texts, for property tests."""

from __future__ import annotations

import json
import uuid

from hypothesis import strategies as st

__all__ = ["FOOD", "ID", "portions"]

FOOD = str(uuid.UUID(int=1))  # an existing article group
ID = str(uuid.UUID(int=7))

_NUMBERS = ["A1", "A2", "A3", "A 4", "é😀", "x" * 50]
_ODD_NUMBERS = [*_NUMBERS, "", " ", "\u3000", "x" * 51, "a\0b", 5, None]
_PRICES = ["1", "12.5", "12.50", "0", "0.00", '"3.10"', '"007.5"', "9999999999999.99", "null", "1.500", "1e2"]
_ODD_PRICES = [
    *("-1", "-0", "12.345", "12345678901234", '"abc"', '""', '" 1"', '"1_0"', '"1.5', "1e400", "true", "[]", '"NaN"'),
    *('"1e1"', '"+1"', "1.000000000000000000000001", "9" * 500, '"٣"', '"0000000000000012.5"', "0.1e1"),
]


def _texts(length: int) -> st.SearchStrategy[str]:
    """Return text values as JSON."""
    good = st.one_of(st.just(""), st.just("x" * length), st.text(st.characters(codec="utf-8"), max_size=min(length, 8)))
    odd = st.sampled_from(
        ["5", "true", "{}", '["a"]', '"\\ud800"', '"\\u0000"', '"\\ud83d\\ude00"', json.dumps("x" * (length + 1))]
    )
    return st.one_of(good.map(json.dumps), st.just("null"), odd)


def _of(*values: object) -> st.SearchStrategy[str]:
    return st.sampled_from([json.dumps(value) for value in values])


_PLAIN = {
    "name": st.sampled_from(['"Apple"', '"Pear"', "null", '""']),
    "ean": st.sampled_from(['"4000000000001"', '"4000000000002"', "null"]),
    "category": st.sampled_from(['"Food"', '"Fo\\u006fd"']),
    "basePrice": st.sampled_from(_PRICES),
    "currency": _of("EUR", "JPY", None),
    "unit": _of("PCE", "KGM", ""),
    "source": _of("MANUAL", "IMPORTED"),
    "isActive": _of(True, False),
}
_ODD = {
    "name": _texts(255),
    "description": _texts(1000),
    "ean": _texts(18),
    "manufacturer": _texts(255),
    "manufacturerId": _texts(255),
    "category": _texts(100),
    "articleGroupId": _texts(20),
    "basePrice": st.sampled_from(_ODD_PRICES),
    "currency": _of("EURO", "", "eur", 1),
    "unit": st.one_of(_texts(10), _of(None)),
    "source": _of("EXTERNAL", "manual", None, ""),
    "isActive": _of(1, "true", None),
    "ID": _of(ID, ID.upper(), str(uuid.UUID(int=8)), "7", None),
    "articleGroup_ID": _of(FOOD, str(uuid.UUID(int=2)), "x", None),
    "articleGroup": _of({"ID": FOOD}, None, {"groupId": "G"}),
    "articleGroup@odata.bind": _of(f"ArticleGroups({FOOD})", f"Articles({FOOD})"),
    "tenantId": _of("somebody-else", None),
    "createdAt": _of("2020-01-01T00:00:00Z", 5),
    "version": _of(5),
    "minorVersion": _of(13),
    "colour": _of("red"),
    "name@odata.type": _of("#String"),
    "@odata.etag": _of('W/"1"'),
}


@st.composite
def _row(draw: st.DrawFn, *, odd: bool) -> bytes:
    members = []
    if not odd or draw(st.integers(0, 9)):
        numbers = _ODD_NUMBERS if odd and draw(st.booleans()) else _NUMBERS
        members.append(("articleNumber", json.dumps(draw(st.sampled_from(numbers)))))
    for values, most in ((_PLAIN, 3), (_ODD, 1)) if odd else ((_PLAIN, 3),):
        names = draw(st.lists(st.sampled_from(sorted(values)), max_size=most))  # with possible duplicates
        members += [(name, draw(values[name])) for name in names]
    members = draw(st.permutations(members))
    return ("{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members) + "}").encode()


_STRANGE = st.sampled_from(
    [
        *(b"5", b"[]", b"null", b'"A1"', b"{}", b"[" * 2000),
        b'{"articleNumber": "A1"',
        b'{"articleNumber": "\xff"}',
        b'{"articleNumber": "A1", "articleNumber": 5}',
        b'{"articleNumber": 5, "articleNumber": "A1"}',
    ]
)

portions = st.lists(st.one_of(_row(odd=False), _row(odd=False), _row(odd=True), _STRANGE), min_size=1, max_size=8)
