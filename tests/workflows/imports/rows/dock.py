"""A dock to write the same row by an import or by a separate request, on a real database."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from promenade.store.driver.cache import LocalCache
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.web.access.auth import Caller
from promenade.web.odata.public import PublicApi
from promenade.workflows.context import Context
from promenade.workflows.imports.importing import NumberedRow, Portion
from promenade.workflows.imports.rows import importer_for
from tests.workflows.authoring.desk import TENANT, Desk

__all__ = ["Dock", "Fault", "faults_of", "text_of"]

Fault = tuple[str, str, str | None]
"""Code, message, target."""


def text_of(row: Any) -> bytes:
    """Return a row as JSON with exact decimals."""
    return row if isinstance(row, bytes) else msgspec.json.Encoder(decimal_format="number").encode(row)


class _Doorman:
    """Accepts every caller as the user of one tenant."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant

    async def authenticate(self, _scope: Any) -> Caller:
        return Caller(self._tenant, "ann", "ann", frozenset({"PublicApi.Read", "PublicApi.Write"}), float("inf"))


class Dock:
    """One tenant's dock; `desk` authors in the same database."""

    def __init__(self, database: Database, tenant: str = TENANT) -> None:
        self.desk = Desk(database, tenant)
        self.tenant = tenant
        self.context = Context(
            database=database,
            catalogues=Catalogues(database),
            cache=LocalCache(monotonic=lambda: 0.0),
            clock=lambda: self.desk.now,
            new_id=lambda: str(uuid.uuid4()),
            source="btp",
            instance_id="test",
        )
        self._api = PublicApi(self.context, _Doorman(tenant))  # type: ignore[arg-type]  # nobody is turned away

    async def bring(
        self, set_name: str, rows: Sequence[Any], *, keep_good: bool = True, source: str = "BULK_IMPORT"
    ) -> Portion:
        """Import rows, numbered from 1, in one portion; without ``keep_good`` an error rolls everything back."""
        importer = importer_for(set_name, self.context, tenant_id=self.tenant, user="ann", source=source)
        numbered = [NumberedRow(number, text_of(row)) for number, row in enumerate(rows, 1)]

        class RolledBack(Exception):
            pass

        found: list[Portion] = []

        async def work(session: Session) -> None:
            found[:] = [await importer.store(session, numbered, at=self.desk.now, keep_good=keep_good)]
            if found[0].faults and not keep_good:
                raise RolledBack

        with suppress(RolledBack):
            await self.context.database.write(work, tenant=self.tenant)
        return found[0]

    async def send(self, method: str, path: str, row: Any) -> tuple[str | None, list[Fault]]:
        """Send a separate request; return the ID of the new row, or the errors."""
        body = text_of(row)
        sent: list[Mapping[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http", "method": method, "path": f"/api/v1/{path}", "raw_path": f"/api/v1/{path}".encode(),
            "query_string": b"", "root_path": "", "headers": [(b"content-type", b"application/json")],
            "promenade.correlation_id": b"test",
        }  # fmt: skip
        await self._api(scope, receive, send)
        content = b"".join(one.get("body", b"") for one in sent)
        if sent[0]["status"] < 300:
            return (msgspec.json.decode(content)["ID"] if content else None), []
        told = msgspec.json.decode(content)
        assert 400 <= told["status"] < 500, told
        whole = {"code": told["code"], "message": told["detail"], "target": told.get("target")}
        return None, [(one["code"], one["message"], one.get("target")) for one in told.get("details") or [whole]]

    async def post(self, set_name: str, row: Any) -> tuple[str | None, list[Fault]]:
        """Create a row by a separate request."""
        return await self.send("POST", set_name, row)


def faults_of(portion: Portion, number: int) -> list[Fault]:
    """Return the errors of one row as a separate request would report them."""
    return [(one.code, one.message, one.property) for one in portion.faults if one.number == number]
