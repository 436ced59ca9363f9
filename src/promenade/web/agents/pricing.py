"""Tools about prices: a basket's price with its explanation, and what was calculated for a transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from promenade.errors import Invalid, TooLarge
from promenade.web.agents.service import Service, segment
from promenade.web.agents.tool import RESULT_BYTES_MAX, Arguments, Part, Result, Tool, size_of

__all__ = ["PRICING"]

POS_SCOPES = "`svc.POSReader` or `svc.Admin`"
_LINES_MAX = 200

Number = Annotated[
    str,
    Meta(
        pattern=r"^-?[0-9]{1,13}(\.[0-9]{1,3})?$",
        description="Digits, such as `9.99`; never a JSON number with a fraction.",
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=50)]
Amount = Annotated[str, Meta(description="An amount of money, as digits.")]


# ---- what is asked --------------------------------------------------------------------------------------------------


class Line(Arguments, frozen=True):
    """A line of a basket."""

    article_number: Text
    quantity: Number | Annotated[int, Meta(ge=-100_000, le=100_000)]
    unit_price: Number | Annotated[int, Meta(ge=0, le=10_000_000)]
    article_group_id: Annotated[str, Meta(max_length=20)] | None = None


class Customer(Arguments, frozen=True):
    """The customer of a basket."""

    customer_id: Text | None = None
    customer_group: Text | None = None
    loyalty_tier: Text | None = None


class PriceBasket(Arguments, frozen=True):
    """A basket to price."""

    pos_group: Annotated[str, Meta(min_length=1, max_length=20, description="Code of the POS group of the sale.")]
    lines: Annotated[list[Line], Meta(min_length=1, max_length=_LINES_MAX, description="The lines of the basket.")]
    coupons: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=64)]], Meta(max_length=20, description="Codes of coupons.")
    ] = msgspec.field(default_factory=list)
    customer: Customer | None = None
    at: Annotated[datetime, Meta(tz=True, description="Time of the sale, with an offset; none: now.")] | None = None
    channel: Text | None = None
    payment_means: Text | None = None
    include_inactive: Annotated[
        bool, Meta(description="Whether drafts and inactive promotions count, too; not with `store`.")
    ] = False
    explain: Annotated[bool, Meta(description="Whether to tell why promotions did not apply.")] = False
    store: Annotated[
        bool,
        Meta(
            description="Whether to store the price as an iteration of a transaction, which a till could confirm. Only"
            " if the user asks for it."
        ),
    ] = False
    transaction_id: Annotated[
        str, Meta(min_length=1, max_length=50, description="With `store`: the transaction; none: a new one.")
    ] | None = None  # fmt: skip


# ---- what is answered -----------------------------------------------------------------------------------------------


class LineDiscount(Part, frozen=True):
    """What a promotion takes off a line."""

    promotion_id: str
    promotion_name: str
    amount: Amount


class PricedLine(Part, frozen=True):
    """A priced line."""

    line_reference: str
    article_number: str
    quantity: str
    unit_price: Amount
    total: Amount
    discount: Amount
    net: Amount
    discounts: list[LineDiscount]


class Granted(Part, frozen=True):
    """An article to hand out."""

    article_number: str
    quantity: int
    promotion_id: str
    promotion_name: str


class Missed(Part, frozen=True):
    """A promotion that did not apply, and why."""

    promotion_id: str
    promotion_name: str
    code: str
    message: str
    potential_saving: Amount | None = None
    blocked_by: str | None = None
    remedy: str | None = None


class InvalidCoupon(Part, frozen=True):
    """A coupon without effect."""

    code: str
    reason: str


class PricedBasket(Result, frozen=True):
    """A priced basket, and why it costs what it costs."""

    currency: str
    subtotal: Amount
    discount: Amount
    grand_total: Amount
    loyalty_points_earned: int
    lines: list[PricedLine]
    granted_items: list[Granted]
    applied_coupons: list[str]
    invalid_coupons: list[InvalidCoupon]
    recommendations: Annotated[list[Missed], Meta(description="What the basket nearly qualified for.")]
    missed_promotions: Annotated[list[Missed], Meta(description="Only with `explain`.")]
    budget_limited: Annotated[list[str], Meta(description="Names of promotions that a budget held back.")]
    evaluated_at: str
    transaction_id: str | None = None
    transaction_counter: Annotated[int, Meta(description="Of a stored price: which iteration it is.")] | None = None
    cut: Annotated[bool, Meta(description="Whether entries were left out, as there are too many.")] = False


async def _price_basket(service: Service, arguments: PriceBasket) -> PricedBasket:
    if arguments.store and arguments.include_inactive:
        raise Invalid("INVALID_ARGUMENTS", "What is stored is priced by what runs: leave it out.", "includeInactive")
    if arguments.transaction_id is not None and not arguments.store:
        raise Invalid("INVALID_ARGUMENTS", "Only a price that is stored belongs to a transaction.", "transactionId")
    path = "/pos/v2/evaluate" if arguments.store else "/pos/v2/simulate"
    return _priced(await service.post(f"{path}?strict=true", {"request": _request(arguments)}))


def _request(arguments: PriceBasket) -> dict[str, Any]:
    """Return the request of a till."""
    lines = msgspec.to_builtins(arguments.lines)
    request: dict[str, Any] = {
        "posGroupCode": arguments.pos_group,
        "items": [{name: value for name, value in line.items() if value is not None} for line in lines],
        "coupons": [{"code": code} for code in arguments.coupons],
        "includeMissedPromotions": arguments.explain,
    }
    if arguments.include_inactive:
        request["includeInactive"] = True
    if arguments.transaction_id is not None:
        request["header"] = {"transactionId": arguments.transaction_id}
    if arguments.customer is not None:
        one = arguments.customer
        request["customer"] = {"customerId": one.customer_id, "customerGroup": one.customer_group}
        request["customer"] |= {"loyalty": {"tier": one.loyalty_tier}} if one.loyalty_tier else {}
    if arguments.at is not None:
        request["timestamp"] = arguments.at
    if arguments.channel is not None:
        request["channel"] = arguments.channel
    if arguments.payment_means is not None:
        request["paymentInfo"] = {"paymentMeans": arguments.payment_means}
    return request


def _priced(answer: dict[str, Any]) -> PricedBasket:
    """Return what a till was answered, in fewer words."""
    totals, header = answer["totals"], answer["meta"]["header"]
    lists: dict[str, list[Any]] = {
        "lines": [_line(one) for one in answer["lineItems"]],
        "granted_items": msgspec.convert(answer["grantedItems"], list[Granted]),
        "applied_coupons": [one["code"] for one in answer["appliedCoupons"]],
        "invalid_coupons": msgspec.convert(answer["invalidCoupons"], list[InvalidCoupon]),
        "recommendations": [_missed(one, one["defaultMessage"]) for one in answer["recommendations"]],
        "missed_promotions": [_missed(one, one["message"]) for one in answer.get("missedPromotions", ())],
        "budget_limited": [one["promotionName"] for one in answer["budgetLimitedPromotions"]],
    }
    cut = _cut(lists)
    return PricedBasket(
        currency=totals["subtotal"]["currency"],
        subtotal=_amount(totals["subtotal"]),
        discount=_amount(totals["discount"]),
        grand_total=_amount(totals["grandTotal"]),
        loyalty_points_earned=int(totals["savingsSummary"]["loyaltyPointsEarned"]),
        evaluated_at=answer["meta"]["evaluatedAt"],
        transaction_id=header.get("transactionId"),
        transaction_counter=header.get("transactionCounter"),
        cut=cut,
        **lists,
    )


def _cut(lists: dict[str, list[Any]]) -> bool:
    """Shorten the longest list until all fit into a result; return whether any was. Raises TooLarge."""
    cut = False
    sizes = {name: size_of(rows) for name, rows in lists.items()}
    while sum(sizes.values()) > RESULT_BYTES_MAX - 4096:
        longest = max(sizes, key=lambda name: sizes[name])
        if not lists[longest]:
            raise TooLarge("ANSWER_TOO_LARGE", "The price has more to tell than a result may hold.")
        lists[longest] = lists[longest][: len(lists[longest]) // 2]
        sizes[longest], cut = size_of(lists[longest]), True
    return cut


def _line(one: dict[str, Any]) -> PricedLine:
    return PricedLine(
        line_reference=one["lineReference"],
        article_number=one["articleNumber"],
        quantity=str(one["quantity"]["value"]),
        unit_price=_amount(one["unitPrice"]),
        total=_amount(one["lineTotal"]),
        discount=_amount(one["lineDiscount"]),
        net=_amount(one["lineNet"]),
        discounts=[
            LineDiscount(each["promotionId"], each["promotionName"], _amount(each["totalDiscount"]))
            for each in one["discounts"]
        ],
    )


def _missed(one: dict[str, Any], message: str) -> Missed:
    saving, blocked = one.get("potentialSaving"), one.get("blockedBy", {})
    return Missed(
        promotion_id=one["promotionId"],
        promotion_name=one["promotionName"],
        code=one["code"],
        message=message,
        potential_saving=None if saving is None else _amount(saving),
        blocked_by=blocked.get("promotionName"),
        remedy=blocked.get("remedy"),
    )


def _amount(money: dict[str, Any]) -> str:
    return str(money["value"])


# ---- what was calculated --------------------------------------------------------------------------------------------


class ReadCalculation(Arguments, frozen=True):
    """Which stored price to read."""

    transaction_id: Text
    transaction_counter: Annotated[
        int, Meta(ge=1, le=2_147_483_647, description="Which iteration; none: the confirmed one, else the last.")
    ] | None = None  # fmt: skip


class Calculation(Result, frozen=True):
    """What a till was answered for a transaction."""

    transaction_id: str
    confirmed: bool
    confirmed_at: str | None
    cancelled: bool
    iterations: Annotated[int, Meta(description="How many iterations are stored, at most 100.")]
    price: PricedBasket


async def _read_calculation(service: Service, arguments: ReadCalculation) -> Calculation:
    address = f"/pos/v2/transactions/{segment(arguments.transaction_id)}"
    state = await service.get(address)
    confirmation = state.get("confirmation")
    counter = arguments.transaction_counter
    if counter is None:
        iterations = state["iterations"]
        last = iterations[0]["transactionCounter"] if iterations else 1
        counter = last if confirmation is None else confirmation["transactionCounter"]
    return Calculation(
        transaction_id=state["transactionId"],
        confirmed=state["confirmed"],
        confirmed_at=None if confirmation is None else confirmation["confirmedAt"],
        cancelled=state["cancelled"],
        iterations=len(state["iterations"]),
        price=_priced(await service.get(f"{address}/{counter}")),
    )


PRICING = (
    Tool(
        "price_basket",
        "Price a basket",
        "Prices a basket by the promotions of the tenant and explains the price; stores nothing unless asked. Drafts"
        " count if you ask for them.",
        PriceBasket,
        PricedBasket,
        _price_basket,
        POS_SCOPES,
        reads=False,
    ),
    Tool(
        "read_calculation",
        "Read a calculation",
        "Returns how a transaction of a till was calculated: which promotions gave which discount on which line.",
        ReadCalculation,
        Calculation,
        _read_calculation,
        POS_SCOPES,
    ),
)
