"""Parses scenario files into engine values: strict, exact, and in the terms a retailer reads (scenarios/README.md).

YAML is read without implicit numbers, dates or yes/no: every scalar stays text until the field it fills determines its
type, so an amount is never a float. A key that no table below knows is a `ScenarioError`, so that a misspelled word
cannot turn a scenario into one that checks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from promenade.engine.basket import (
    ArticleFact,
    Basket,
    BasketLine,
    BudgetFact,
    CouponFact,
    Customer,
    Facts,
    Payment,
    PosGroupFact,
    Settings,
    UsageFact,
)
from promenade.engine.definition import PromotionDefinition
from tests.engine.scenario_promotions import (
    Fields,
    ScenarioError,
    flag,
    hundredths,
    identify,
    mapping,
    moment,
    pairs,
    promotion,
    rows_of,
    scaled,
    sequence,
    take,
    text,
    texts,
    thousandths,
    whole,
)

__all__ = ["FOLDER", "Scenario", "ScenarioError", "identify", "load", "load_all", "load_file", "parse", "read_yaml"]

FOLDER = Path(__file__).parent / "scenarios"
DEFAULT_NOW = "2026-03-14T12:00:00Z"  # a Saturday
EXPONENTS = {"JPY": 0, "KWD": 3}  # every other currency used here has two decimals


@dataclass(frozen=True, slots=True)
class Scenario:
    """One sale, ready to be priced. ``expect`` keeps the file's own values (text, lists and mappings)."""

    path: Path
    title: str
    why: str
    covers: Mapping[str, str]
    definitions: tuple[PromotionDefinition, ...]
    article_groups: Mapping[str, str | None]
    barred_groups: Mapping[str, str]
    basket: Basket
    facts: Facts
    settings: Settings
    expect: Mapping[str, Any]
    readable: Mapping[str, str]  # UUID -> the short name the file uses


class _Loader(yaml.SafeLoader):
    """A loader for text, true, false and null: no other type is inferred from a scalar."""


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^(?:null|)$"), ["n", ""])


def _unique_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ScenarioError(f"written twice: {', '.join(map(str, twice))} (line {node.start_mark.line + 1})")
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _unique_mapping)


def read_yaml(text: str) -> Any:
    """Parse YAML into text, bools, None, lists and mappings; a duplicate key is a `ScenarioError`."""
    return yaml.load(text, Loader=_Loader)


LINE: Fields = {
    "ref": ("reference", text),
    "article": ("article_number", text),
    "quantity": ("quantity_thousandths", thousandths),
    "price": ("unit_price_hundredths", hundredths),
    "ean": ("ean", text),
    "group": ("article_group_id", text),
    "manufacturer": ("manufacturer_id", text),
    "fields": ("fields", pairs),
    "regularPrice": ("regular_price_hundredths", hundredths),
}
ARTICLE: Fields = {
    "ean": ("ean", text),
    "name": ("name", text),
    "group": ("article_group_id", text),
    "manufacturer": ("manufacturer_id", text),
    "unit": ("unit", text),
    "basePrice": ("base_price_hundredths", hundredths),
    "currency": ("currency", text),
    "neverDiscounted": ("never_discounted", text),
}
STORE: Fields = {"code": ("code", text), "currency": ("currency", text), "timeZone": ("time_zone", text)}
SETTINGS: Fields = {
    "strategy": ("strategy", text),
    "pointsPerCurrencyUnit": ("points_per_currency_unit_thousandths", thousandths),
    "includeInactive": ("include_inactive", flag),
    "includeMissed": ("include_missed", flag),
    "nudges": ("nudges", flag),
    "countsTowardsThreshold": ("barred_counts", flag),
    "excludedCountsTowardsThreshold": ("excluded_counts", flag),
}
CUSTOMER: Fields = {
    "id": ("customer_id", text),
    "group": ("customer_group", text),
    "loyaltyCard": ("loyalty_card_number", text),
    "tier": ("loyalty_tier", text),
    "points": ("loyalty_points", whole),
}
PAYMENT: Fields = {
    "paymentMeans": ("payment_means", text),
    "cardType": ("card_type", text),
    "cardNumber": ("card_prefix", lambda value: text(value)[:8]),
}
MANUAL: Fields = {"enabled": ("manual_discount", flag), "reasonCode": ("manual_discount_reason", text)}
COUPON: Fields = {"type": ("type", text), "refusal": ("refusal", text)}
USAGE: Fields = {"total": ("total", whole), "byCustomer": ("by_customer", whole)}


def _as_is(value: Any) -> Any:
    return value


FILE: Fields = {
    key: (key, _as_is)
    for key in (
        *("title", "why", "covers", "store", "now", "settings", "articleGroups", "articles", "promotions"),
        "neverDiscounted",
        *("couponCodes", "budgets", "usage", "transaction", "customer", "payment", "channel", "userFields"),
        *("manualDiscount", "coupons", "basket", "expect"),
    )
}


def _line(value: Any, where: str, _: int) -> BasketLine:
    stated = take(value, where, LINE, ["article", "price"])
    return BasketLine(**({"quantity_thousandths": 1000, "reference": stated["article_number"]} | stated))


def _basket(file: Mapping[str, Any]) -> Basket:
    store = {"code": "STORE", "currency": "EUR"} | take(file.get("store", {}), "store", STORE)
    lines = rows_of(_line)(file["basket"])
    references = [line.reference for line in lines]
    if len(set(references)) < len(references):
        raise ScenarioError("basket: two lines share a reference; give them a ref each")
    customer = take(file["customer"], "customer", CUSTOMER) if "customer" in file else None
    payment = take(file["payment"], "payment", PAYMENT) if "payment" in file else None
    return Basket(
        transaction_id=text(file.get("transaction", "T-1")),
        lines=lines,
        pos_group=PosGroupFact(id=identify("POS group", store["code"]), **store),
        coupons=texts(file.get("coupons", [])),
        customer=None if customer is None else Customer(**customer),
        payment=None if payment is None else Payment(**payment),
        channel=file.get("channel"),
        user_fields=pairs(file.get("userFields", {})),
        **take(file.get("manualDiscount", {}), "manualDiscount", MANUAL),
    )


def _coupon(code: str, known: Mapping[str, Any]) -> CouponFact:
    if code not in known:
        return CouponFact(code=code, refusal="UNKNOWN_CODE")
    stated = take(known[code], f"couponCodes.{code}", COUPON, ["type"])
    return CouponFact(
        code=code,
        coupon_type_id=identify("coupon type", stated["type"]),
        coupon_type_name=stated["type"],
        coupon_id=identify("coupon", code),
        refusal=stated.get("refusal"),
    )


def _budget(name: str, value: Any, store_currency: str) -> BudgetFact:
    currency = mapping(value).get("currency", store_currency)
    fields: Fields = {
        "status": ("status", text),
        "remaining": ("remaining_minor", scaled(EXPONENTS.get(currency, 2))),
        "currency": ("currency", text),
    }
    given = {"id": identify("budget", name), "status": "ACTIVE", "currency": currency}
    return BudgetFact(**(given | take(value, f"budgets.{name}", fields, ["remaining"])))


def _facts(file: Mapping[str, Any], basket: Basket) -> Facts:
    articles = {
        number: ArticleFact(article_number=number, **take(row or {}, f"articles.{number}", ARTICLE))
        for number, row in mapping(file.get("articles", {})).items()
    }
    budgets = [_budget(name, row, basket.pos_group.currency) for name, row in mapping(file.get("budgets", {})).items()]
    return Facts(
        articles=articles,
        articles_by_ean={article.ean: article for article in articles.values() if article.ean},
        coupons=tuple(_coupon(code, mapping(file.get("couponCodes", {}))) for code in basket.coupons),
        budgets={budget.id: budget for budget in budgets},
        usage={
            identify("promotion", name): UsageFact(**take(row, f"usage.{name}", USAGE))
            for name, row in mapping(file.get("usage", {})).items()
        },
    )


def _tree(value: Any, parent: str | None = None) -> dict[str, str | None]:
    tree: dict[str, str | None] = {}
    for group, below in mapping(value or {}).items():
        tree |= {group: parent} | _tree(below, group)
    return tree


def _readable(file: Mapping[str, Any], definitions: Iterable[PromotionDefinition]) -> dict[str, str]:
    types = [row["type"] for row in mapping(file.get("couponCodes", {})).values()]
    for row in sequence(file["promotions"]):
        types += [action["targetCouponType"] for action in row.get("actions", []) if "targetCouponType" in action]
    short = {identify("promotion", row["id"]): row["id"] for row in file["promotions"]}
    if len(short) < len(list(definitions)):
        raise ScenarioError("promotions: two promotions share an id")
    return short | {identify("coupon type", name): name for name in types}


def parse(source: str, path: Path) -> Scenario:
    """Parse one scenario; raise `ScenarioError` for anything unknown."""
    try:
        file = take(read_yaml(source), "file", FILE, ["title", "why", "promotions", "basket", "expect"])
        definitions = rows_of(promotion)(file["promotions"])
        basket = _basket(file)
        return Scenario(
            path=path,
            title=text(file["title"]),
            why=text(file["why"]),
            covers=mapping(file.get("covers", {})),
            definitions=definitions,
            article_groups=_tree(file.get("articleGroups")),
            barred_groups={group: text(why) for group, why in mapping(file.get("neverDiscounted", {})).items()},
            basket=basket,
            facts=_facts(file, basket),
            settings=Settings(
                now=moment(file.get("now", DEFAULT_NOW)), **take(file.get("settings", {}), "settings", SETTINGS)
            ),
            expect=mapping(file["expect"]),
            readable=_readable(file, definitions),
        )
    except (ScenarioError, yaml.YAMLError) as error:
        raise ScenarioError(f"{path.name}: {error}") from error


@cache
def load_file(path: Path) -> tuple[Scenario, ...]:
    """Return the scenarios of one file, separated by lines of ``---``; they are frozen, so each file is read once."""
    return tuple(parse(source, path) for source in re.split(r"^---\n", path.read_text("utf-8"), flags=re.MULTILINE))


def load(path: Path) -> Scenario:
    """Return the only scenario in a file. Raise ValueError if there are several."""
    (scenario,) = load_file(path)
    return scenario


def load_all() -> list[Scenario]:
    """Return every scenario, in the order of the files' paths."""
    return [scenario for path in sorted(FOLDER.rglob("*.yaml")) for scenario in load_file(path)]
