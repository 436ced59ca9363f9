"""``$batch``: many requests in one, some of them atomic (Protocol 4.01, 11.7).

Requests are executed in order. Those of a change set share one unit: the first failure rolls back the set, and the set
is answered with that failure. In the multipart format the batch stops at the first failure unless the client prefers
``continue-on-error``; in the JSON format it continues unless the client prefers otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Protocol
from urllib.parse import parse_qsl

from odata_server.batch.condition import holds
from odata_server.batch.items import Answer, ChangeSet, Item, Outcome, Part, SetAnswer
from odata_server.batch.json import parse_json_batch, render_json_batch
from odata_server.batch.multipart import media_type, parse_multipart, render_multipart
from odata_server.batch.references import Earlier, as_request, failed_dependency
from odata_server.errors import ODataError
from odata_server.hooks import Hooks
from odata_server.http import Request, Response
from odata_server.negotiation import accepts, preferences, version_of
from odata_server.source import Source, Unit

__all__ = ["run_batch"]

_MULTIPART, _JSON = "multipart/mixed", "application/json"


class BatchService(Protocol):
    """The part of `odata_server.service.Service` that a batch uses."""

    @property
    def hooks(self) -> Hooks: ...

    @property
    def source(self) -> Source: ...

    @property
    def root(self) -> str: ...

    async def handle(self, request: Request, caller: Any) -> Response:
        """Execute a request in its own transaction."""
        ...

    async def handle_in(self, unit: Unit, request: Request, caller: Any) -> Response:
        """Execute a request inside an existing unit; if it fails, the caller must roll back the unit."""
        ...

    def failure(self, request: Request, error: Exception) -> Response:
        """Return the response to a request that raised an error, expected or not."""
        ...


async def run_batch(service: BatchService, request: Request, caller: Any) -> Response:
    """Execute a batch. A malformed batch gets a single error response and nothing is executed."""
    try:
        version = version_of(request, service.hooks.default_version)
        json_format = _answers_json(request)
        parts = _parse(request, service.hooks.batch_parts_max)
    except ODataError as error:
        return service.failure(request, error)
    wish = preferences(request).continue_on_error
    goes_on = _is_json(request) if wish is None else wish
    outcomes = await _Run(service, request, caller).carry_out(parts, goes_on)
    content_type, body = render_json_batch(outcomes) if json_format else render_multipart(outcomes)
    headers = {"Content-Type": content_type, "OData-Version": version}
    if wish is not None:
        headers["Preference-Applied"] = f"{_prefix(version)}continue-on-error={str(wish).lower()}"
    return Response(200, headers, body)


def _prefix(version: str) -> str:
    return "odata." if version == "4.0" else ""


def _is_json(request: Request) -> bool:
    return media_type(request.headers.get("content-type", ""))[0] == _JSON


def _parse(request: Request, parts_max: int) -> Sequence[Part]:
    content_type = request.headers.get("content-type", "")
    kind, parameters = media_type(content_type)
    if request.headers.get("isolation", request.headers.get("odata-isolation")) is not None:
        raise ODataError(412, "PRECONDITION_FAILED", "Isolation of a batch is not supported.", "Isolation")
    if kind == _JSON:
        if parameters.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
            raise ODataError(415, "UNSUPPORTED_MEDIA_TYPE", "JSON must be in UTF-8.", "Content-Type")
        return parse_json_batch(request.body, parts_max)
    if kind == _MULTIPART:
        return parse_multipart(request.body, content_type, parts_max)
    raise ODataError(
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        f"The body of a batch must be {_MULTIPART} or {_JSON}.",
        "Content-Type",
        headers={"Accept": _MULTIPART},
    )


def _answers_json(request: Request) -> bool:
    """Return whether the response is JSON.

    ``$format`` and Accept decide; if both formats are acceptable, the response has the format of the request.

    For a multipart batch, Accept asks for a JSON response only from version 4.01 on: in 4.0 a multipart batch was
    always answered in multipart, so clients send ``Accept: application/json`` and mean the parts.
    """
    own = _is_json(request)
    options = {name.lower().removeprefix("$"): value for name, value in parse_qsl(request.query)}
    if "format" in options:
        kind = media_type(options["format"])[0]
        if kind in {"json", _JSON, _MULTIPART}:
            return kind != _MULTIPART
    elif accepts(request, _JSON if own else _MULTIPART) or (not own and _means_its_parts(request)):
        return own
    elif accepts(request, _MULTIPART if own else _JSON):
        return not own
    raise ODataError(406, "NOT_ACCEPTABLE", f"The answer to a batch is {_MULTIPART} or {_JSON}: accept one of them.")


def _means_its_parts(request: Request) -> bool:
    versions = (request.headers.get("odata-maxversion", ""), request.headers.get("odata-version", ""))
    return accepts(request, _JSON) and not any(version.strip() > "4.0" for version in versions)


class _Failed(Exception):
    """A request of a change set failed; raised out of the unit to roll it back."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.response.status)
        self.answer = answer


class _Run:
    """One execution of a batch; ``_done`` holds the outcomes of the requests and groups so far."""

    def __init__(self, service: BatchService, outer: Request, caller: Any) -> None:
        self._service = service
        self._outer = outer
        self._caller = caller
        self._done: dict[str, Earlier] = {}
        self._bytes_left = service.hooks.batch_answer_bytes_max
        self._ends = monotonic() + service.hooks.batch_seconds_max

    async def carry_out(self, parts: Sequence[Part], goes_on: bool) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for part in parts:
            if isinstance(part, ChangeSet):
                of_set = await self._set(part)
                failed = of_set.failed is not None
                outcomes.append(of_set)
            else:
                answer = await self._single(part)
                failed = answer.response.status >= 400
                outcomes.append(answer)
            if failed and not goes_on:
                break
        return outcomes

    async def _single(self, item: Item) -> Answer:
        try:
            request = self._prepared(item, self._done)
        except ODataError as error:
            return self._refused(item, error, self._done)
        response = await self._service.handle(request, self._caller)
        self._note(self._done, item, request, response)
        return Answer(item, response)

    async def _set(self, part: ChangeSet) -> SetAnswer:
        async def work(unit: Unit) -> tuple[list[Answer], dict[str, Earlier]]:
            known = dict(self._done)  # of this attempt: a unit may be retried
            return [await self._member(unit, item, known) for item in part.items], known

        try:
            answers, known = await self._service.source.transact(self._caller, work, writes=True)
        except _Failed as failure:
            return self._undone(part, failure.answer)
        except Exception as error:  # raised by the commit: a rule about all changes of the set
            last = part.items[-1] if part.items else Item(method="POST", url="", headers={})
            return self._undone(part, Answer(last, self._service.failure(self._plain(last), error)))
        self._done = known
        if part.name is not None:
            self._done[part.name] = Earlier(succeeded=True)
        return SetAnswer(part, tuple(answers))

    async def _member(self, unit: Unit, item: Item, known: dict[str, Earlier]) -> Answer:
        try:
            request = self._prepared(item, known)
        except ODataError as error:
            raise _Failed(self._refused(item, error, known)) from None
        response = await self._service.handle_in(unit, request, self._caller)
        answer = Answer(item, response)
        if response.status >= 400:
            raise _Failed(answer)
        self._note(known, item, request, response)
        return answer

    def _undone(self, part: ChangeSet, failed: Answer) -> SetAnswer:
        """Return the answers of a failed set: none of its requests is reported as executed."""
        answers = []
        for item in part.items:
            if item is failed.item:
                answers.append(failed)
                continue
            error = failed_dependency("Another request of the same change set failed; nothing in it was carried out.")
            answers.append(self._refused(item, error, self._done))
        for item in part.items:
            if item.id is not None:
                self._done[item.id] = Earlier(succeeded=False)
        if part.name is not None:
            self._done[part.name] = Earlier(succeeded=False)
        return SetAnswer(part, tuple(answers), failed)

    def _prepared(self, item: Item, known: Mapping[str, Earlier]) -> Request:
        """Return the request to execute. Raise `ODataError` if it must not be executed."""
        if self._bytes_left < 0:
            most = self._service.hooks.batch_answer_bytes_max
            raise ODataError(413, "BATCH_ANSWER_TOO_LARGE", f"The answers before this one exceed {most} bytes.")
        if monotonic() > self._ends:
            most_seconds = self._service.hooks.batch_seconds_max
            raise ODataError(503, "BATCH_TOO_SLOW", f"The requests before this one took over {most_seconds:g} s.")
        if item.condition is None:
            for name in item.depends_on:
                if name in known and not known[name].succeeded:
                    raise failed_dependency(f"It depends on {name}, which failed.")
        elif not holds(item.condition, known):
            raise failed_dependency(f"The condition {item.condition[:200]!r} does not hold.")
        return as_request(item, self._outer, known, self._service.root)

    def _plain(self, item: Item) -> Request:
        """Return a minimal request for reporting an error about a request that could not be interpreted."""
        headers = {**self._outer.headers, **item.headers}
        return Request(item.method, item.url, "", headers, item.body, in_batch=True, origin=self._outer.origin)

    def _refused(self, item: Item, error: ODataError, known: dict[str, Earlier]) -> Answer:
        response = self._service.failure(self._plain(item), error)
        if item.id is not None:
            known[item.id] = Earlier(succeeded=False, response=response)
        return Answer(item, response)

    def _note(self, known: dict[str, Earlier], item: Item, request: Request, response: Response) -> None:
        self._bytes_left -= len(response.body)
        if item.id is not None:
            known[item.id] = Earlier.of(request, response, self._service.root)
