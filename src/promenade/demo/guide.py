"""The output of `promenade demo`: the clients with their rights, and commands to paste into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from promenade.demo.assortment import shelf_price
from promenade.demo.leaflet import Leaflet
from promenade.engine.basket import BasketLine, Customer
from promenade.workflows.pricing.evaluate import PricingRequest

_RUNNING = "/api/v1/Promotions?$filter=status%20eq%20%27ACTIVE%27&$select=code,name,validTo&$top=3&$count=true"
_BUDGETS = "/admin/Budgets?$select=code,status,utilization&$orderby=utilization%20desc&$top=3&$count=true"
_STORE, _CHANNEL, _CUSTOMER, _COUPON = "DE-HAM", "IN_STORE", "C-10042", "WELCOME10"


@dataclass(frozen=True, slots=True)
class DemoClient:
    """A client of the token issuer that the demo created, one per role."""

    role: str
    client_id: str
    secret: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A person who may sign in to the back office of the demo."""

    user_name: str
    password: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Purchase:
    """A line of the basket that the printed example buys."""

    article_number: str
    name: str
    quantity: int
    unit_price: str


def tour_purchases(leaflet: Leaflet) -> tuple[Purchase, ...]:
    """Return two packs of coffee and three shampoos, as a till in Hamburg sells them."""
    coffee, shampoo = leaflet.first("Ground coffee")[0], leaflet.first("Shampoo")[0]
    return tuple(
        Purchase(article.article_number, article.name, quantity, str(shelf_price(article, "EUR")))
        for article, quantity in ((coffee, 2), (shampoo, 3))
    )


def tour_request(purchases: Sequence[Purchase]) -> PricingRequest:
    """Return the basket of the printed example, to find out in advance which promotions will apply."""
    lines = tuple(
        BasketLine(
            reference=str(place),
            article_number=item.article_number,
            quantity_thousandths=item.quantity * 1000,
            unit_price_hundredths=int(Decimal(item.unit_price) * 100),
        )
        for place, item in enumerate(purchases, start=1)
    )
    return PricingRequest(
        lines=lines,
        pos_group_code=_STORE,
        channel=_CHANNEL,
        customer=Customer(customer_id=_CUSTOMER, loyalty_tier="GOLD", loyalty_points=120),
        coupons=(_COUPON,),
    )


def guide_text(
    url: str,
    tenant_id: str,
    clients: Sequence[DemoClient],
    people: Sequence[DemoPerson],
    purchases: Sequence[Purchase],
    promotion_ids: Sequence[str],
) -> str:
    """Return the whole text. ``url`` is the base URL of the service, without a trailing slash.

    ``promotion_ids`` are the promotions that discount ``purchases``, which the till names when it confirms.
    """
    till = next(client for client in clients if "svc.POSReader" in client.scopes)
    integrator = next(client for client in clients if client.scopes[0] == "PublicApi.Read")
    planner = next(client for client in clients if "svc.PromotionManager" in client.scopes)
    return "\n".join(
        (
            f"Promenade demo: tenant {tenant_id} at {url}",
            f"Back office: {url}/ - sign in with user name and password:",
            *_people_table(people),
            f"Interfaces to browse and try out: {url}/pos/docs and {url}/api/v1/docs",
            "",
            *_clients_table(clients),
            "",
            "# 1. A token for the till (it holds for about four hours)",
            _token_line("TOKEN", url, till),
            "",
            "# 2. Price a basket: " + ", ".join(f"{item.quantity} x {item.name}" for item in purchases),
            _post_line(url, "/pos/v2/evaluate", _evaluate_body(purchases)),
            "",
            "# 3. Confirm it, once and for all, with the promotions that the answer named",
            _post_line(url, "/pos/v2/confirm", _confirm_body(promotion_ids)),
            "",
            "# 4. What the sale set in motion: coupons, points, budgets",
            f'curl -s -H "Authorization: Bearer $TOKEN" {url}/pos/v2/transactions/TOUR-1/1/side-effects; echo',
            "",
            "# 5. A token for the ERP system, and three of the promotions that run, from the public API",
            _token_line("API_TOKEN", url, integrator),
            f'curl -s -H "Authorization: Bearer $API_TOKEN" {shlex.quote(url + _RUNNING)}; echo',
            "",
            "# 6. A token for a promotion planner, and the budgets that are nearest to their end, from administration",
            _token_line("ADMIN_TOKEN", url, planner),
            f'curl -s -H "Authorization: Bearer $ADMIN_TOKEN" {shlex.quote(url + _BUDGETS)}; echo',
            "",
        )
    )


def _people_table(people: Sequence[DemoPerson]) -> list[str]:
    width = max((len(one.user_name) for one in people), default=0)
    return [f"  {one.user_name:<{width}}  {one.password}  ({' '.join(one.scopes)})" for one in people]


def _clients_table(clients: Sequence[DemoClient]) -> list[str]:
    width = max(len(client.role) for client in clients)
    return [
        f"{client.role:<{width}}  client id {client.client_id}  secret {client.secret}  ({' '.join(client.scopes)})"
        for client in clients
    ]


def _token_line(variable: str, url: str, client: DemoClient) -> str:
    form = f"grant_type=client_credentials&client_id={client.client_id}&client_secret={client.secret}"
    pick = """sed -E 's/.*"access_token":"([^"]+)".*/\\1/'"""
    return f"{variable}=$(curl -s -d {shlex.quote(form)} {url}/oauth/token | {pick})"


def _post_line(url: str, path: str, body: object) -> str:
    data = shlex.quote(msgspec.json.encode(body).decode())
    return f'curl -s -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d {data} {url}{path}; echo'


def _evaluate_body(purchases: Sequence[Purchase]) -> object:
    return {
        "request": {
            "header": {"transactionId": "TOUR-1"},
            "posGroupCode": _STORE,
            "channel": _CHANNEL,
            "customer": {"customerId": _CUSTOMER, "loyalty": {"tier": "GOLD", "points": 120}},
            "coupons": [{"code": _COUPON}],
            "items": [
                {
                    "articleNumber": item.article_number,
                    "quantity": item.quantity,
                    "unitPrice": msgspec.Raw(item.unit_price.encode()),
                }
                for item in purchases
            ],
        }
    }


def _confirm_body(promotion_ids: Sequence[str]) -> object:
    return {
        "request": {
            "header": {"transactionId": "TOUR-1", "transactionCounter": 1},
            "transactionId": "TOUR-1",
            "customerId": _CUSTOMER,
            "appliedPromotions": [{"promotionId": promotion_id} for promotion_id in promotion_ids],
        }
    }
