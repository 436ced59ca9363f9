"""The retailer's assortment, as rows by wire names."""

from __future__ import annotations

from typing import Any

__all__ = ["BERLIN", "OFF", "SHELF", "basket_item", "identity", "offer"]

BERLIN = "0a000000-0000-4000-8000-000000000001"


def identity(kind: int, number: int = 1) -> str:
    return f"{kind:08x}-0000-4000-8000-{number:012x}"


OFF = identity(0xB)


def offer(number: int, article: str, percent: int, **members: Any) -> dict[str, list[dict[str, Any]]]:
    """Return a promotion that takes ``percent`` off an article."""
    promotion = identity(0xB, number)
    return {
        "Promotions": [
            {"ID": promotion, "code": f"P{number}", "name": f"{percent} off {article}", "status": "ACTIVE", **members}
        ],
        "Conditions": [
            {"ID": identity(0xC, number), "promotion_ID": promotion, "sequence": 1, "conditionType": "ARTICLE",
             "articleNumber": article}
        ],
        "DiscountActions": [
            {"ID": identity(0xD, number), "promotion_ID": promotion, "actionType": "ARTICLE",
             "discountType": "PERCENTAGE", "discountValue": percent}
        ],
    }  # fmt: skip


def basket_item(article: str = "A-1", quantity: int = 1, price: float = 10.0) -> dict[str, Any]:
    return {"articleNumber": article, "quantity": quantity, "unitPrice": price}


SHELF: dict[str, list[dict[str, Any]]] = {
    "PosGroups": [{"ID": BERLIN, "code": "BERLIN", "name": "Berlin", "currency": "EUR"}],
    "Articles": [{"ID": identity(0xE, 1), "articleNumber": "A-1", "name": "Apple"}],
    **offer(1, "A-1", 10),
}
