"""`/pos/articles/...`: articles that a till sends, also as the OData actions `/pos/importArticles` and
`/pos/importArticlesBatch`.

What is wrong with one article is told of it in the answer; only a request that holds no articles is an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope

from promenade.errors import TooMany
from promenade.web.auth import Authentication, Caller
from promenade.web.body import header, read_body, require_json
from promenade.web.endpoint import Answer, Endpoint, Handler
from promenade.web.pos import SCOPES
from promenade.web.pos_article_bodies import ArticleBody
from promenade.web.pos_article_messages import (
    ARTICLES_MAX,
    BATCH_ARTICLES_MAX,
    ArticleFault,
    ArticleResult,
    ImportArticlesBatchResponse,
    ImportArticlesResponse,
    article_addresses,
)
from promenade.web.spool import MEMORY_BYTES_MAX, SpooledBody
from promenade.workflows.article_import import (
    ImportedArticles,
    ImportTurns,
    accept_article_batch,
    import_articles,
    require_room,
)
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import RETRY_AFTER_SECONDS

__all__ = ["PosArticles"]

LARGE_BODIES_MAX = 16  # being received by this process, of all tenants: each may take 64 MiB of disk


class PosArticles:
    """The handlers of the article endpoints."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        self._context = context
        self._authenticator = authenticator
        self._turns = ImportTurns()
        self._large_bodies = 0
        # Cutting and packing keep a processor busy: one large body at a time, the others wait in their files.
        self._working = asyncio.Semaphore(1)

    def endpoints(self) -> list[Endpoint]:
        """The routes."""
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
        """Add and change articles, each on its own, and tell what became of each. Sent again, it changes nothing."""
        caller = await self._caller(scope)
        articles = ArticleBody(memoryview(await read_body(scope, receive)), ARTICLES_MAX)
        for _ in articles.cut():
            await asyncio.sleep(0)
        texts = articles.texts()
        done = await import_articles(self._context, caller.tenant_id, caller.user, texts, self._turns)
        return _answer(scope, _told(done))

    async def _import_batch(self, scope: Scope, receive: Receive) -> Answer:
        """Accept articles for a job that stores them, each on its own. Progress is in `ArticleImportJobs`."""
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
        message = f"{are} accepted. ArticleImportJobs({accepted.job_id}) tells what becomes of them."
        return ImportArticlesBatchResponse(accepted.job_id, "QUEUED", message)

    @contextmanager
    def _large_body(self) -> Iterator[None]:
        """A place for a body that goes through a file. Raises TooMany (TOO_MANY_JOBS)."""
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


def _told(done: ImportedArticles) -> ImportArticlesResponse:
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
