"""`/pos/articles/...`: articles that a till sends, also as the OData actions `/pos/importArticles` and
`/pos/importArticlesBatch`.

What is wrong with one article is told of it in the answer; only a request that holds no articles is an error.

A body that holds articles is cut into one JSON text for each, of which nothing but the texts is made.

What is wrong with the body is an error of the request. What is wrong with an article stays in its text, for whoever
stores it to say. Members that an article does not have are dropped, as those of every message of a till are; of a
member that is there twice the last counts, as in the public API.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from starlette.types import Receive, Scope

from promenade.errors import Detail, Invalid, TooMany
from promenade.web.access.auth import Authentication, Caller
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.web.http.row_cutter import RowCutter
from promenade.web.http.spool import MEMORY_BYTES_MAX, SpooledBody
from promenade.web.imports.till_article_messages import (
    ARTICLES_MAX,
    BATCH_ARTICLES_MAX,
    Article,
    ArticleFault,
    ArticleResult,
    ImportArticlesBatchResponse,
    ImportArticlesResponse,
    article_addresses,
)
from promenade.web.pricing.pos import SCOPES
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import RETRY_AFTER_SECONDS
from promenade.workflows.imports.till_articles import (
    ImportedArticles,
    ImportTurns,
    accept_article_batch,
    import_articles,
    require_room,
)

LARGE_BODIES_MAX = 16  # being received by this process, for all tenants: each may take 64 MiB of disk


class PosArticles:
    """The handlers of the article endpoints."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        self._context = context
        self._authenticator = authenticator
        self._turns = ImportTurns()
        self._large_bodies = 0
        # Splitting and packing are CPU-bound: one large body at a time, the others wait in their files.
        self._working = asyncio.Semaphore(1)

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        handlers: Mapping[str, Handler] = {"import": self._import, "import-batch": self._import_batch}
        return [
            Endpoint(f"/pos/{address}", {"POST": handler})
            for name, handler in handlers.items()
            for address in article_addresses(name)
        ]

    async def _caller(self, scope: Scope) -> Caller:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(*SCOPES)
        require_json(scope)
        return caller

    async def _import(self, scope: Scope, receive: Receive) -> Answer:
        """Add and change articles, each on its own, and return the result of each. Repeating it changes nothing."""
        caller = await self._caller(scope)
        articles = ArticleBody(memoryview(await read_body(scope, receive)), ARTICLES_MAX)
        for _ in articles.cut():
            await asyncio.sleep(0)
        texts = articles.texts()
        done = await import_articles(self._context, caller.tenant_id, caller.user, texts, self._turns)
        return _answer(scope, _response_of(done))

    async def _import_batch(self, scope: Scope, receive: Receive) -> Answer:
        """Accept articles for a job that stores them, each on its own. Its progress is in `ArticleImportJobs`."""
        caller = await self._caller(scope)
        with ExitStack() as given_back:

            async def make_room() -> None:
                given_back.enter_context(self._large_body())
                await require_room(self._context, caller.tenant_id)

            async with SpooledBody() as body:
                await body.read(scope, receive, make_room)
                is_large = len(body.text) > MEMORY_BYTES_MAX
                async with self._working if is_large else nullcontext():
                    return _answer(scope, await self._accepted(caller, body), 202)

    async def _accepted(self, caller: Caller, body: SpooledBody) -> ImportArticlesBatchResponse:
        articles = ArticleBody(body.text, BATCH_ARTICLES_MAX, has_name=True, forget=body.forget)
        for _ in articles.cut():
            await asyncio.sleep(0)
        count, texts = len(articles), articles.texts()
        accepted = await accept_article_batch(
            self._context, caller.tenant_id, caller.user, articles.name, texts, count=count
        )
        are = "1 article was" if count == 1 else f"{count} articles were"
        message = f"{are} accepted. ArticleImportJobs({accepted.job_id}) shows the result."
        return ImportArticlesBatchResponse(accepted.job_id, "QUEUED", message)

    @contextmanager
    def _large_body(self) -> Iterator[None]:
        """Reserve a slot for a body that is spooled to a file. Raises TooMany (TOO_MANY_JOBS)."""
        if self._large_bodies >= LARGE_BODIES_MAX:
            message = "Too many large batches are being received at the moment; try again."
            raise TooMany("TOO_MANY_JOBS", message, RETRY_AFTER_SECONDS)
        self._large_bodies += 1
        try:
            yield
        finally:
            self._large_bodies -= 1


def _answer(scope: Scope, message: Struct, status: int = 200) -> Answer:
    version = b"4.01" if header(scope, b"odata-maxversion") == b"4.01" else b"4.0"
    return Answer(msgspec.json.encode(message), status, headers=[(b"odata-version", version)])


def _response_of(done: ImportedArticles) -> ImportArticlesResponse:
    results: dict[int, ArticleResult] = {}
    for one in done.stored:
        results[one.number] = ArticleResult(one.name, "created" if one.is_new else "updated", one.id, None)
    for fault in done.faults:
        results.setdefault(fault.number, ArticleResult(fault.name or None, "failed", None, fault.message))
    told = [results[number] for number in sorted(results)]
    created = sum(one.is_new for one in done.stored)
    return ImportArticlesResponse(
        imported=created,
        updated=len(done.stored) - created,
        failed=len(told) - len(done.stored),
        results=told,
        errors=[ArticleFault(one.name or None, one.number, one.code, one.message, one.property) for one in done.faults],
    )


_ARTICLES, _NAME = "articles", "name"
_NAME_MAX = 255
_NESTED_MAX = 1_000  # bytes of a list or an object where neither is allowed: enough to show what was meant
_CHUNK = 2**18
_STRING = msgspec.json.Decoder(str)
_NUMBER = re.compile(rb'\s*"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)"\s*')
_UNPRINTABLE = re.compile("[\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]")
# Maps the cutter's errors to messages for tills.
_LIST_FAULTS = {
    "REQUIRED": ("REQUIRED", "is required"),
    "NOT_NULLABLE": ("REQUIRED", "is required"),
    "TYPE_MISMATCH": ("WRONG_TYPE", "must be an array"),
    "EMPTY": ("EMPTY", "must not be empty"),
}
_BODY_FAULTS = (("must be a JSON object", "VALIDATION_FAILED"), ("is nested too deeply", "TOO_DEEP"))


class _AnyName(Collection[str]):
    """Accepts all names: a till may send unknown members."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ArticleBody:
    """The articles of a body, at most ``articles_max``; with ``has_name`` the body may have a `name`.

    ``name`` and `texts` are available after `cut`. ``forget`` is called with the offset up to which the text is not
    needed soon.
    """

    def __init__(
        self,
        text: memoryview,
        articles_max: int,
        *,
        has_name: bool = False,
        forget: Callable[[int], None] = lambda until: None,
    ) -> None:
        self.name: str | None = None
        self._text = text
        self._has_name = has_name
        self._rows = RowCutter(text, _ARTICLES, _AnyName(), rows_max=articles_max, forget=forget)

    def __len__(self) -> int:
        """Return the number of articles."""
        return len(self._rows)

    def cut(self) -> Iterator[None]:
        """Split the body, yielding about every millisecond.

        Raises Invalid (VALIDATION_FAILED and details, or a code about the JSON) and TooLarge (TOO_MANY_ROWS).
        """
        yield from _checked(self._text)
        try:
            yield from self._rows.cut()
        except Invalid as error:
            raise self._refusal(error) from None
        self.name, fault = self._name()
        if fault is not None:
            raise Invalid("VALIDATION_FAILED", fault.message, fault.target, [fault])

    def texts(self) -> Iterator[bytes]:
        """Yield each article as the JSON text of a row of Articles."""
        decoder, names = _kept()
        encode = msgspec.json.Encoder().encode
        for article in self._rows:
            try:
                kept = decoder.decode(article)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                yield _shortened(article)  # not an object: reported when it is stored
                continue
            for name in names:
                value = getattr(kept, name)
                if value is not UNSET:
                    _repair(kept, name, bytes(value))
            yield encode(kept)

    def _refusal(self, error: Invalid) -> Invalid:
        if error.target != _ARTICLES or error.code not in _LIST_FAULTS:
            code = next((code for words, code in _BODY_FAULTS if words in error.message), "MALFORMED_JSON")
            return Invalid(code, error.message, error.target)
        code, words = _LIST_FAULTS[error.code]
        faults = [Detail(code, f"`{_ARTICLES}` {words}.", _ARTICLES)]
        _, fault = self._name()
        if fault is not None:
            faults.append(fault)
        return Invalid("VALIDATION_FAILED", faults[0].message, _ARTICLES, faults)

    def _name(self) -> tuple[str | None, Detail | None]:
        written = self._rows.members.get(_NAME, b"null").strip()
        if not self._has_name or written == b"null":
            return None, None
        try:
            name = _STRING.decode(written)
        except msgspec.MsgspecError:
            return None, Detail("WRONG_TYPE", "`name` must be a string.", _NAME)
        if len(name) > _NAME_MAX:
            return None, Detail("TOO_LONG", f"`name` may have at most {_NAME_MAX} characters.", _NAME)
        if _UNPRINTABLE.search(name):
            return None, Detail("WRONG_FORM", "`name` must not hold line ends or control characters.", _NAME)
        return name or None, None


def _checked(text: memoryview) -> Iterator[None]:
    """Check the encoding in pieces: the whole body as text would take several times its size."""
    if bytes(text[:3]) == codecs.BOM_UTF8:
        raise Invalid("MALFORMED_JSON", "The body starts with a byte order mark, which JSON must not have.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(text), _CHUNK):
            decoder.decode(text[start : start + _CHUNK])
            yield
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Invalid("NOT_UTF8", "The body is not UTF-8.") from None


def _repair(kept: Any, name: str, value: bytes) -> None:
    """Convert a price sent as a string to a number, and empty large lists and objects, which no member may be."""
    if name == "base_price":
        number = _NUMBER.fullmatch(value)
        if number is not None:
            setattr(kept, name, Raw(number[1]))
    if len(value) > _NESTED_MAX:
        setattr(kept, name, Raw(_shortened(value)))


def _shortened(value: bytes) -> bytes:
    if len(value) <= _NESTED_MAX:
        return value
    return {b"{": b"{}", b"[": b"[]"}.get(value[:1], value)


@cache
def _kept() -> tuple[msgspec.json.Decoder[Any], tuple[str, ...]]:
    """Return the decoder that keeps an article's members as raw text, and their names in Python."""
    fields = msgspec.structs.fields(Article)
    kept = msgspec.defstruct(
        "Kept",
        [(field.name, Raw | UnsetType, UNSET) for field in fields],
        rename={field.name: field.encode_name for field in fields},
        omit_defaults=True,
    )
    return msgspec.json.Decoder(kept), tuple(field.name for field in fields)
