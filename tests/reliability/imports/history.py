"""Tenants that import in every way, write and sell while their service is killed again and again."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.kit.service import Service
from tests.reliability.imports.serving import Tenant, bulk_body
from tests.web.imports.master_data.messages import envelope, item, message, product

__all__ = ["KINDS", "Import", "Shopkeeper"]

KINDS = ("kept", "whole", "broken", "deep", "deep broken", "batch", "soap", "rest")
REST = "/api/v1/master-data/ProductMerchandiseViewReplicationBulkRequest"
ANSWER_SECONDS_MAX = 400.0
ROWS_MIN, ROWS_MAX = 20, 120


@dataclass(frozen=True)
class Import:
    """An acknowledged import: the names of all its rows begin with ``name``; ``bad`` are numbers of rows."""

    kind: str
    name: str
    rows: int
    bad: frozenset[int]
    key: str

    @property
    def is_whole(self) -> bool:
        """Return whether one bad row prevents all rows from being stored."""
        return self.kind in ("whole", "broken", "deep", "deep broken")

    @property
    def stored(self) -> set[str]:
        """Return the names of the rows that it stores."""
        if self.is_whole and self.bad:
            return set()
        return {f"{self.name}-{number}" for number in range(1, self.rows + 1) if number not in self.bad}


@dataclass
class Shopkeeper:
    """One tenant's client. Unanswered requests are repeated if a key or a name makes the repetition idempotent."""

    tenant: Tenant
    service: Service
    rng: random.Random
    stop: threading.Event
    imports: list[Import] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    sold: int = 0

    @contextmanager
    def _asking(self) -> Iterator[httpx2.Client]:
        with self.tenant.asking(self.service) as http:
            http.headers["x-common-name"] = f"erp@{self.tenant.name}"
            yield http

    def _answered(self, path: str, body: bytes, **headers: str) -> httpx2.Response:
        """Return the answer, repeating the request as often as needed."""
        pause = threading.Event()
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                with self._asking() as http:
                    answer = http.post(path, content=body, headers=headers)
                if answer.status_code not in (429, 503):
                    return answer
            except httpx2.TransportError:
                pass  # killed
            pause.wait(0.1)
        raise AssertionError(f"no answer to {path}")

    def import_one(self, number: int, kind: str) -> None:
        """Run one kind of import and record it once it is accepted."""
        name, rows = f"{kind.replace(' ', '')}{number}", self.rng.randint(ROWS_MIN, ROWS_MAX)
        bad = (
            frozenset(self.rng.sample(range(1, rows + 1), 3)) if kind in ("kept", "batch", "soap") else frozenset[int]()
        )
        if kind.endswith("broken"):
            bad = frozenset({rows})  # the last row, so that all others have been stored before it
        one = Import(kind, name, rows, bad, f"key-{name}")
        answer = self._sent(one)
        assert answer.status_code in (200, 202), answer.text
        self.imports.append(one)

    def _sent(self, one: Import) -> httpx2.Response:
        numbers = range(1, one.rows + 1)
        names = [f"{one.name}-{number}" for number in numbers]
        if one.kind == "soap":
            items = "".join(
                item(name, Description="n" * 300 if number in one.bad else "fine")
                for number, name in zip(numbers, names, strict=True)
            )
            body = envelope(items, message_id=one.key).encode()
            return self._answered("/api/v1/master-data/soap", body, **{"content-type": "text/xml"})
        if one.kind == "rest":
            return self._answered(REST, message([product(name, Description="fine") for name in names], one.key))
        if one.kind.startswith("deep"):
            rows = [self._promotion(name, is_bad=number in one.bad) for number, name in enumerate(names, 1)]
            path = "/api/v1/Promotions:bulk-import"
        else:
            rows = [_article(name, is_bad=number in one.bad) for number, name in enumerate(names, 1)]
            path = "/api/v1/Articles:bulk-import"
        if one.kind == "batch":
            body = json.dumps({"name": one.key, "articles": rows}).encode()
            return self._answered("/pos/articles/import-batch", body)
        return self._answered(path, bulk_body(rows, keep_good=not one.is_whole), **{"Idempotency-Key": one.key})

    def _promotion(self, name: str, *, is_bad: bool) -> dict[str, Any]:
        places = [{"posGroup_ID": place} for place in self.tenant.places]
        config = {"mode": "NONSENSE" if is_bad else "ADDITIVE"}
        return {"code": name, "name": name, "posGroups": places, "calculationConfig": config}

    def write(self) -> None:
        """Create articles one by one until stopped."""
        number = 0
        while not self.stop.is_set():
            number += 1
            name = f"single-{number}"
            answer = self._answered("/api/v1/Articles", json.dumps({"articleNumber": name}).encode())
            # The repeated request may find that it exists already.
            assert answer.status_code == 201 or "ALREADY_EXISTS" in answer.text, answer.text
            self.written.append(name)
            self.stop.wait(0.05)

    def sell(self) -> None:
        """Evaluate baskets until stopped."""
        items = [{"articleNumber": "single-1", "quantity": 1, "unitPrice": "1.00"}]
        basket = json.dumps({"request": {"posGroupCode": "S0", "items": items}}).encode()
        while not self.stop.is_set():
            answer = self._answered("/pos/v2/evaluate", basket)
            assert answer.status_code == 200, answer.text
            self.sold += 1
            self.stop.wait(0.02)


def _article(name: str, *, is_bad: bool) -> dict[str, Any]:
    return {"articleNumber": name, "name": "n" * 300 if is_bad else "fine"}
