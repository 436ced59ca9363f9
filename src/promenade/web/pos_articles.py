"""`/pos/articles/...`: articles that a till sends, also as the OData actions `/pos/importArticles` and
`/pos/importArticlesBatch`.

What is wrong with one article is told of it in the answer; only a request that holds no articles is an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope

from promenade.web.auth import Authenticator, Caller
from promenade.web.body import header, read_body, require_json
from promenade.web.endpoint import Answer, Endpoint, Handler
from promenade.web.pos import SCOPES
from promenade.web.pos_article_bodies import ReceivedArticles, article_texts, cut_articles
from promenade.web.pos_article_messages import (
    ARTICLES_MAX,
    BATCH_ARTICLES_MAX,
    ArticleFault,
    ArticleResult,
    ImportArticlesBatchResponse,
    ImportArticlesResponse,
    article_addresses,
)
from promenade.workflows.article_import import (
    ImportedArticles,
    ImportTurns,
    accept_article_batch,
    import_articles,
    require_room,
)
from promenade.workflows.context import Context

__all__ = ["PosArticles"]

BODY_BYTES_MAX = 10 * 1024 * 1024
BATCH_BYTES_MAX = 24 * 1024 * 1024
_QUICK_BYTES = 64 * 1024  # what is cut sooner than a thread begins to


class PosArticles:
    """The handlers of the article endpoints."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator
        self._turns = ImportTurns()

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
        received = await _cut(await read_body(scope, receive, BODY_BYTES_MAX), ARTICLES_MAX)
        texts = article_texts(received.articles)
        done = await import_articles(self._context, caller.tenant_id, caller.user, texts, self._turns)
        return _answer(scope, _told(done))

    async def _import_batch(self, scope: Scope, receive: Receive) -> Answer:
        """Accept articles for a job that stores them, each on its own. Progress is in `ArticleImportJobs`."""
        caller = await self._caller(scope)
        await require_room(self._context, caller.tenant_id)
        body = await read_body(scope, receive, BATCH_BYTES_MAX)
        received = await _cut(body, BATCH_ARTICLES_MAX, has_name=True)
        count = len(received.articles)
        texts = article_texts(received.articles)
        accepted = await accept_article_batch(
            self._context, caller.tenant_id, caller.user, received.name, texts, count=count
        )
        are = "1 article was" if count == 1 else f"{count} articles were"
        message = f"{are} accepted. ArticleImportJobs({accepted.job_id}) tells what becomes of them."
        return _answer(scope, ImportArticlesBatchResponse(accepted.job_id, "QUEUED", message), 202)


async def _cut(body: bytes, articles_max: int, *, has_name: bool = False) -> ReceivedArticles:
    if len(body) <= _QUICK_BYTES:
        return cut_articles(body, articles_max, has_name=has_name)
    return await asyncio.to_thread(cut_articles, body, articles_max, has_name=has_name)


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
