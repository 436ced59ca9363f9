"""Master data messages as a leading system sends them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
REQUEST = "ProductMerchandiseViewReplicationBulkRequest"
ITEM = "ProductMerchandiseViewReplicationRequestMessage"


def item(number: str = "A-1", code: str | None = "04", **members: str) -> str:
    """Return an item; ``members`` are added to its product."""
    attribute = "" if code is None else f' ActionCode="{code}"'
    texts = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in ({"ProductID": number} | members).items())
    return f"<{ITEM}><MessageHeader><ID>i</ID></MessageHeader><Product{attribute}>{texts}</Product></{ITEM}>"


def envelope(items: str, *, message_id: str = "", declaration: str = "", header: str = "", more: str = "") -> str:
    """Return a message; ``declaration`` precedes it, ``header`` goes into the envelope, ``more`` into its start tag."""
    named = f"<MessageHeader><ID>{message_id}</ID></MessageHeader>" if message_id else ""
    return (
        f'{declaration}<soap:Envelope xmlns:soap="{ENVELOPE}"{more}>{header}<soap:Body>'
        f'<n:{REQUEST} xmlns:n="urn:erp">{named}{items}</n:{REQUEST}></soap:Body></soap:Envelope>'
    )


def message(items: Any, message_id: str | None = None) -> bytes:
    """Return the same message in JSON."""
    header = {} if message_id is None else {"MessageHeader": {"ID": message_id}}
    return json.dumps(header | {ITEM: items}).encode()


def product(number: object = "A-1", code: str | None = "04", **members: Any) -> dict[str, Any]:
    named = {} if code is None else {"ActionCode": code}
    return {"MessageHeader": {"ID": "i"}, "Product": named | {"ProductID": number} | members}


def many(numbers: Sequence[int], filling: int = 0) -> str:
    """Return one item per number, each some 400 bytes long plus ``filling``."""
    text = "A product that is sold by the piece &amp; kept dry" + "." * filling
    return "".join(
        f'<{ITEM}><MessageHeader><ID>{number}</ID></MessageHeader><Product ActionCode="04"><ProductID>M-{number}'
        f'</ProductID><Description languageCode="EN">{text}</Description><GTIN>{4006381000000 + number}</GTIN>'
        f"<Brand>Acme</Brand><MerchandiseCategoryID>G-{number % 50}</MerchandiseCategoryID><BaseUnitOfMeasure>PCE"
        f"</BaseUnitOfMeasure></Product></{ITEM}>\n"
        for number in numbers
    )
