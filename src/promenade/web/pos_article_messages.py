"""What tills send and get about articles, field by field; as in `web.pos_coupon_messages`, in no envelope.

An article is read by its members as they were written: what is wrong with one is told of that article alone, by whoever
stores it. So `Article` says what an article is, to people and programs; it decodes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from promenade.web.numbers import Price
from promenade.web.pos_coupon_messages import Operation
from promenade.web.pos_messages import (
    Message,
    OptionalText18,
    OptionalText20,
    OptionalText100,
    OptionalText255,
    Text50,
)
from promenade.web.pos_responses import Response

__all__ = [
    "ARTICLES_MAX",
    "ARTICLE_OPERATIONS",
    "BATCH_ARTICLES_MAX",
    "Article",
    "ArticleFault",
    "ArticleResult",
    "ImportArticlesBatchRequest",
    "ImportArticlesBatchResponse",
    "ImportArticlesRequest",
    "ImportArticlesResponse",
    "article_addresses",
]

ARTICLES_MAX = 1_000
BATCH_ARTICLES_MAX = 10_000
Text10 = Annotated[str, Meta(min_length=1, max_length=10)]
Text30 = Annotated[str, Meta(min_length=1, max_length=30)]
OptionalText3 = Annotated[str, Meta(max_length=3)] | None
OptionalText1000 = Annotated[str, Meta(max_length=1000)] | None


# ---- requests -------------------------------------------------------------------------------------------------------


class Article(Message):
    """An article to add, or to change where its number is known. What is left out stays as it is."""

    article_number: Text50  #: Which article.
    name: OptionalText255 = None  #: What it is called.
    description: OptionalText1000 = None  #: What it is.
    ean: OptionalText18 = None  #: Its EAN or GTIN; articles of one product may share it.
    manufacturer: OptionalText255 = None  #: Who makes it, by name.
    manufacturer_id: OptionalText255 = None  #: Who makes it, as baskets name it.
    category: OptionalText100 = None  #: Its category in the retailer's own words.
    article_group_id: OptionalText20 = None  #: The number of its article group.
    base_price: Price | None = None  #: What it usually costs: what a free item of it is worth.
    currency: OptionalText3 = None  #: The currency of the base price, as in ISO 4217.
    unit: Text10 = "PCE"  #: Unit of its quantities; a measure such as KGM makes it a weighed article.
    source: Text30 = "IMPORTED"  #: Where it came from: a value of ArticleSources.
    is_active: bool = True  #: Whether it is sold.
    article_group: UUID | None = msgspec.field(default=None, name="articleGroup_ID")  #: The same group by its ID.
    id: UUID | None = msgspec.field(default=None, name="ID")  #: The ID that a new article gets. Default: one is made.


class ImportArticlesRequest(Message):
    """Articles to store while the till waits, each on its own."""

    articles: Annotated[list[Article], Meta(min_length=1, max_length=ARTICLES_MAX)]  #: Taken in this order.


class ImportArticlesBatchRequest(Message):
    """Articles to store soon, each on its own."""

    articles: Annotated[list[Article], Meta(min_length=1, max_length=BATCH_ARTICLES_MAX)]  #: Taken in this order.
    name: OptionalText255 = None  #: What the batch is called, for people.


# ---- responses ------------------------------------------------------------------------------------------------------


class ArticleResult(Response, frozen=True):
    """What became of one article."""

    article_number: str | None  #: As sent; null where it is none.
    status: str  #: `created`, `updated` or `failed`.
    id: str | None  #: The article's ID; null where it failed.
    error: str | None  #: Why it failed, in an English sentence; null where it did not.


class ArticleFault(Response, frozen=True):
    """What is wrong with an article."""

    article_number: str | None  #: As sent; null where it is none.
    row: int  #: Its place in the request, from 1.
    code: str  #: A stable code.
    message: str  #: The same in an English sentence.
    property: str | None  #: The member at fault.


class ImportArticlesResponse(Response, frozen=True):
    """What became of the articles."""

    imported: int  #: How many are new.
    updated: int  #: How many were there and are now as sent.
    failed: int  #: How many were refused.
    results: list[ArticleResult]  #: One for each article, in the order of the request.
    errors: list[ArticleFault]  #: All that is wrong with those that failed, in the same order.


class ImportArticlesBatchResponse(Response, frozen=True):
    """The job that stores the articles."""

    job_id: str  #: Its ID: of ArticleImportJobs, and of ImportJobs.
    status: str  #: `QUEUED`.
    message: str  #: An English sentence.


# ---- operations -----------------------------------------------------------------------------------------------------

ARTICLE_OPERATIONS: Mapping[str, Operation] = {
    "import": Operation(
        "importArticles",
        ImportArticlesRequest,
        ImportArticlesResponse,
        "Adds and changes articles, each on its own: one that fails keeps no other from being stored.",
    ),
    "import-batch": Operation(
        "importArticlesBatch",
        ImportArticlesBatchRequest,
        ImportArticlesBatchResponse,
        "Accepts articles for a job that stores them, each on its own.",
    ),
}
"""By the last part of their addresses."""


def article_addresses(name: str) -> tuple[str, ...]:
    """Where an operation is, below `/pos/`: two addresses of its own and two of its action."""
    action = ARTICLE_OPERATIONS[name].action
    return f"articles/{name}", f"v2/articles/{name}", action, f"PosService.{action}"
