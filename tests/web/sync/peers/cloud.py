"""The recorded cloud, as today's store calls it: it answers what it answered then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import msgspec

from promenade.workflows.uplink import CloudRefused, CloudUnreachable
from tests.web.sync.peers.recording import Exchange, Recording, lost

__all__ = ["OlderCloud"]

ASKED_FOR = ("budgetId", "promotionId", "couponTypeId", "codes")
UPLOADS = {"transactions": "results", "coupons": "coupons", "cancellations": "cancellations"}
"""Members of an upload, with the member of the answer that holds their results."""


@dataclass
class OlderCloud:
    """A `CloudClient`. ``change`` is applied to each answer, ``asked`` are the addresses that were called.

    ``complaints`` says what an older cloud would not understand: requests without fields that it knows.
    """

    recording: Recording
    change: Callable[[Any], Any] = lambda answer: answer
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Answer with the page that follows the same cursor; an address that is newer than the cloud is not found."""
        if path not in {one.address for one in self.recording.exchanges}:
            raise CloudRefused(404, "NOT_FOUND", "The cloud refuses (404): There is nothing at this address.")
        wanted = f"{path}?{urlencode(query)}"
        return self._answer(path, next((one.answer for one in self.recording.exchanges if one.path == wanted), None))

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        """Answer a request as one about the same was answered; sales get the results that they got then."""
        address = path.partition("?")[0]
        sent = msgspec.json.decode(msgspec.json.encode(body))
        known = [one for one in self.recording.exchanges if one.address == address]
        if address == "/sync/transactions":
            return self._answer(address, self._results(known, sent))
        found = next((one for one in known if _subject(one.body or {}) == _subject(sent)), None)
        if found is None:
            return self._answer(f"{address} about {_subject(sent)}", None)
        self._require(found.body, sent, address)
        return self._answer(address, found.answer)

    def _answer(self, address: str, answer: dict[str, Any] | None) -> dict[str, Any]:
        if answer is None:
            self.complaints.append(f"{address} was never asked")
            raise CloudUnreachable("NOT_RECORDED", self.complaints[-1])
        self.asked.append(address)
        changed: dict[str, Any] = self.change(answer)
        return changed

    def _require(self, before: Any, sent: Any, where: str) -> None:
        self.complaints += [f"{where}: {one}" for one in lost(before, sent)]

    def _results(self, known: Sequence[Exchange], sent: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of each upload in ``sent``, each of which should have all that it had then."""
        self._require({**(known[0].body or {}), **dict.fromkeys(UPLOADS)}, sent, "/sync/transactions")
        answer: dict[str, Any] = {}
        for member, results in UPLOADS.items():
            before = {
                _upload(upload): (upload, result)
                for one in known
                for upload, result in zip((one.body or {})[member], one.answer[results], strict=True)
            }
            answer[results] = []
            for upload in sent[member]:
                then, result = before[_upload(upload)]
                self._require(then, upload, member)
                answer[results].append(result | {"logId": upload["logId"]} if "logId" in result else result)
        return answer


def _subject(body: Mapping[str, Any]) -> list[Any]:
    return [body.get(name) for name in ASKED_FOR]


def _upload(upload: Mapping[str, Any]) -> tuple[Any, Any]:
    return upload["transactionId"], upload.get("couponId")
