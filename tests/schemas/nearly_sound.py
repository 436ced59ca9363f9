"""Provides what schemathesis cannot know: keys of existing rows, and bodies that satisfy the rules between properties.

Each request stays as generated, or gets existing keys, or a valid body with a few generated members, so that requests
pass the first checks and are still partly wrong.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from typing import Any

from promenade import model
from promenade.model.declare import PUBLIC, EntityType
from promenade.model.edm import edm_for
from tests.contract.conftest import MINE, ROWS, THEIRS, entity_natural_key
from tests.contract.made_up import ENTITIES, identity, in_order, value
from tests.web.conftest import PROMOTION_ID, SHOP_ID, basket, item

__all__ = ["COUPON_CODES", "EDM", "RIVALS", "PosRequests", "PublicRequests"]

EDM = edm_for(PUBLIC)
FOREIGN = {
    identity(THEIRS, entity.set_name, number): entity.set_name for entity in in_order() for number in range(1, ROWS + 1)
}
"""Every key of the other tenant."""
COUPON_CODES = tuple(f"SAVE-{number}" for number in range(1, 501))
"""Codes of the shop that the POS service is tested with; their type is called Save."""
_SHARED_CODES = COUPON_CODES[:3]
"""Those that half of the requests meet at. Most others stay fresh: a redeemed code is refused by most operations."""
RIVALS = "RIVALS-OWN"
"""Is in the texts of another shop's rows, and in no request."""
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_CODES = {one.set_name: tuple(one.codes) for one in model.code_lists().values()}
_PARAMETERS = {"promotionIds": "Promotions", "promotionId": "Promotions", "templateId": "PromotionTemplates"}


_OF_ANOTHER = {"PromotionsCalendar": "Promotions"}
"""Collections whose rows are others in another form, and have their keys."""


class PublicRequests:
    """Prepares the requests of one run, and checks their responses."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._numbers = itertools.count(ROWS + 100)
        self._created: dict[str, list[str]] = {}

    # ---- before ----

    def prepare(self, case: Any) -> None:
        """Insert keys and bodies that may be valid."""
        path, method = case.operation.path, case.operation.method.upper()
        set_name = path.strip("/").partition("(")[0].partition("/")[0]
        given = case.path_parameters or {}
        if "ID" in given and self._random.random() < 0.9:
            case.path_parameters = dict(given) | {"ID": self._key(set_name, method)}
        elif "code" in given and set_name in _CODES and self._random.random() < 0.9:
            case.path_parameters = dict(given) | {"code": self._random.choice(_CODES[set_name])}
        if isinstance(case.body, dict) and self._random.random() < 0.9:
            case.body = self._body(set_name, path, method, case.body)

    def _key(self, set_name: str, method: str) -> str:
        """Return a key of `MINE`, rarely of `THEIRS`; deletes get the last row or one that was just created."""
        set_name = _OF_ANOTHER.get(set_name, set_name)
        if self._random.random() < 0.1:
            return identity(THEIRS, set_name, self._random.randint(1, ROWS))
        created = self._created.get(set_name)
        if method == "DELETE":
            return created.pop() if created else identity(MINE, set_name, ROWS)
        if created and self._random.random() < 0.5:
            return self._random.choice(created)
        return identity(MINE, set_name, self._random.randint(1, ROWS))

    def _body(self, set_name: str, path: str, method: str, made: dict[str, Any]) -> dict[str, Any]:
        for name, target in _PARAMETERS.items():
            if name in made:
                some = [self._key(target, "GET") for _ in range(self._random.randint(1, 3))]
                return made | {name: some if isinstance(made[name], list) else some[0]}
        entity, owner = self._target(set_name, path)
        if entity is None:
            return made
        kept = self._random.sample(sorted(made), min(len(made), self._random.randint(0, 2)))
        body = {name: made[name] for name in kept}
        if method in {"POST", "PUT"}:
            body = self._sound(entity) | body
        for link in entity.links:
            if link.property_wire in owner:
                body.pop(link.property_wire, None)  # the URL provides it
            elif isinstance(body.get(link.property_wire), str):
                body[link.property_wire] = self._key(link.target, "GET")
        return body

    def _target(self, set_name: str, path: str) -> tuple[EntityType | None, set[str]]:
        """Return the entity type of a body at this path, if any, and the properties that join it to its parent."""
        entity_set = EDM.entity_sets.get(set_name)
        if entity_set is None or path.count("/") > 2:
            return None, set()
        if path.count("/") == 1:
            return ENTITIES.get(entity_set.entity_type), set()
        navigation = EDM.entity_types[entity_set.entity_type].navigation_by_name.get(path.rpartition("/")[2])
        if navigation is None:
            return None, set()
        return ENTITIES.get(navigation.target), {other for _, other in navigation.on}

    def _sound(self, entity: EntityType) -> dict[str, Any]:
        """Return a body with all that a create requires; different each time."""
        number = next(self._numbers)
        body: dict[str, Any] = {}
        for one in entity.fields:
            is_settable = not (one.read_only or one.virtual or one.name in {"id", "tenant_id"})
            if is_settable and (one.required or one.wire in entity_natural_key(entity)):
                body[one.wire] = value(entity, one, number)
        for link in entity.links:
            if link.required and not link.read_only:
                body[link.property_wire] = identity(MINE, link.target, number % ROWS + 1)
        return {name: given for name, given in body.items() if given is not None}

    # ---- after ----

    def judge(self, case: Any, response: Any) -> str | None:
        """Return a fault if the response shows a row of the other tenant, or the request named one and succeeded."""
        if not 200 <= response.status_code < 300:
            return None
        sent = f"{response.request.url} {response.request.body!r}".lower()
        if any(found in FOREIGN for found in _UUID.findall(sent)) and "filter=" not in sent:
            return "a request that names a row of another tenant succeeded"
        text = response.content.decode(errors="replace")
        if any(found.lower() in FOREIGN for found in _UUID.findall(text)) or f'"{THEIRS}"' in text:
            return "the answer tells of a row of another tenant"
        if response.status_code == 201 and "location" in response.headers:
            set_name, _, key = response.headers["location"][0].rpartition("/")[2].rstrip(")").partition("(")
            self._created.setdefault(set_name, []).append(key)
        return None


class PosRequests:
    """Prepares one run's requests to the POS service. ``send``: operation and body -> the response's body."""

    def __init__(self, seed: int, send: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        self._random = random.Random(seed)
        self._send = send
        self._numbers = itertools.count(1)
        self._sold: list[dict[str, Any]] = []

    def prepare(self, case: Any) -> None:
        """Insert baskets of an existing shop, confirms of evaluated baskets, and confirmed sales."""
        if self._random.random() < 0.1:
            return
        if case.path_parameters and "transactionId" in case.path_parameters:
            case.path_parameters = dict(case.path_parameters) | self._sale()
        elif "coupon" in case.operation.path.lower():
            if isinstance(case.body, dict):
                case.body = self._coupon(case.operation.path.lower(), case.body)
        elif case.operation.path.endswith("cancel"):
            if isinstance(case.body, dict):
                case.body = self._sale() | self._some(case.body)
        elif isinstance(case.body, dict):
            made = case.body.get("request")
            made = made if isinstance(made, dict) else {}
            confirms = case.operation.path.endswith("confirm")
            number = f"sale-{next(self._numbers)}"  # the rivals have sales of the first of these numbers
            case.body = {"request": self._confirmation(made, number) if confirms else self._basket(made)}

    def judge(self, case: Any, response: Any) -> str | None:
        """Return a fault if the response shows a row of another tenant, or the request named one and succeeded."""
        text = response.content.decode(errors="replace")
        if RIVALS in text or any(found.lower() in FOREIGN for found in _UUID.findall(text)):
            return "the answer tells of a row of another tenant"
        return None

    def _some(self, made: Any) -> dict[str, Any]:
        """Return at most two of the generated members."""
        if not isinstance(made, dict):
            return {}
        return {
            name: made[name] for name in self._random.sample(sorted(made), min(len(made), self._random.randint(0, 2)))
        }

    def _basket(self, made: dict[str, Any]) -> dict[str, Any]:
        lines = made.get("items")
        line = lines[0] if isinstance(lines, list) and lines else None
        sound = {"posGroupCode": "BERLIN"} if self._random.random() < 0.5 else {"posGroupId": SHOP_ID}
        return {"items": [item(), item(**self._some(line))], **sound, **self._some(made)}

    def _coupon(self, path: str, made: dict[str, Any]) -> dict[str, Any]:
        """Return a body with an existing coupon type, or with a code that other requests use too, or none does."""
        if "issue" in path:
            return {"couponTypeName": "Save", "customerId": "C1", **self._some(made)}
        codes = self._random.choice((_SHARED_CODES, COUPON_CODES))
        sound = {"code": self._random.choice(codes), "transactionId": "T1", "customerId": "C1"}
        return made | sound | self._some(made)

    def _sale(self) -> dict[str, Any]:
        """Return what names a sale: one of before, which may have been refused, or a new one."""
        if not self._sold or self._random.random() < 0.5:
            new = self._confirmation({}, f"sale-{self._random.getrandbits(64)}")
            self._send("confirm", {"request": new})
            return self._sold[-1]
        return self._random.choice(self._sold)

    def _confirmation(self, made: dict[str, Any], transaction_id: str) -> dict[str, Any]:
        header = self._send("evaluate", basket(header={"transactionId": transaction_id}))["meta"]["header"]
        self._sold.append({"transactionId": transaction_id, "transactionCounter": header["transactionCounter"]})
        applied = [{"promotionId": PROMOTION_ID, "totalDiscount": "1.00"}]
        return {"header": header, "transactionId": transaction_id, "appliedPromotions": applied, **self._some(made)}
