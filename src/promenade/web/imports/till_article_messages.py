"""What tills send and get about articles, field by field; as in `web.coupons.messages`, in no envelope.

An article is read by its members as they were written: what is wrong with one is told of that article alone, by whoever
stores it. So `Article` says what an article is, to people and programs; it decodes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from promenade.web.coupons.messages import Operation
from promenade.web.http.numbers import Price
from promenade.web.pricing.messages import (
    Message,
    OptionalText18,
    OptionalText20,
    OptionalText100,
    OptionalText255,
    Text50,
)
from promenade.web.pricing.responses import Response

ARTICLES_MAX = 1_000
BATCH_ARTICLES_MAX = 10_000
Text10 = Annotated[str, Meta(min_length=1, max_length=10)]
Text30 = Annotated[str, Meta(min_length=1, max_length=30)]
OptionalText30 = Annotated[str, Meta(max_length=30)] | None
OptionalText3 = Annotated[str, Meta(max_length=3)] | None
OptionalText1000 = Annotated[str, Meta(max_length=1000)] | None


# ---- requests -------------------------------------------------------------------------------------------------------


class Article(Message):
    """An article to add, or to change if its number is known. Members left out stay unchanged."""

    article_number: Text50  #: The article's number.
    name: OptionalText255 = None  #: The name.
    description: OptionalText1000 = None  #: The description.
    ean: OptionalText18 = None  #: Its EAN or GTIN; articles of one product may share it.
    manufacturer: OptionalText255 = None  #: The manufacturer's name.
    manufacturer_id: OptionalText255 = None  #: The manufacturer's ID, as in baskets.
    category: OptionalText100 = None  #: Its category in the retailer's own words.
    article_group_id: OptionalText20 = None  #: The number of its article group.
    base_price: Price | None = None  #: The usual price: the value of a free item.
    currency: OptionalText3 = None  #: The currency of the base price, as in ISO 4217.
    unit: Text10 = "PCE"  #: Unit of its quantities; a measure such as KGM makes it a weighed article.
    source: Text30 = "IMPORTED"  #: The origin: a value of ArticleSources.
    is_active: bool = True  #: Whether it is for sale.
    never_discounted: OptionalText30 = None  #: Why no promotion may discount it: a value of NeverDiscountedReasons.
    article_group: UUID | None = msgspec.field(default=None, name="articleGroup_ID")  #: The article group by its ID.
    id: UUID | None = msgspec.field(default=None, name="ID")  #: The ID of a new article. Default: generated.


class ImportArticlesRequest(Message):
    """Articles to store while the till waits, each on its own."""

    articles: Annotated[list[Article], Meta(min_length=1, max_length=ARTICLES_MAX)]  #: Stored in this order.


class ImportArticlesBatchRequest(Message):
    """Articles to store in a job, each on its own."""

    articles: Annotated[list[Article], Meta(min_length=1, max_length=BATCH_ARTICLES_MAX)]  #: Stored in this order.
    name: OptionalText255 = None  #: The name of the batch, for people.


# ---- responses ------------------------------------------------------------------------------------------------------


class ArticleResult(Response, frozen=True):
    """The result for an article."""

    article_number: str | None  #: As sent; null if it is missing.
    status: str  #: `created`, `updated` or `failed`.
    id: str | None  #: The article's ID; null if it failed.
    error: str | None  #: Why it failed, in an English sentence; null if it did not.


class ArticleFault(Response, frozen=True):
    """An error in an article."""

    article_number: str | None  #: As sent; null if it is missing.
    row: int  #: Its position in the request, from 1.
    code: str  #: A stable code.
    message: str  #: An English sentence.
    property: str | None  #: The invalid member.


class ImportArticlesResponse(Response, frozen=True):
    """The results for the articles."""

    imported: int  #: Number of new articles.
    updated: int  #: Number of existing articles that are now as sent.
    failed: int  #: Number of refused articles.
    results: list[ArticleResult]  #: One for each article, in the order of the request.
    errors: list[ArticleFault]  #: All errors of the failed articles, in the same order.


class ImportArticlesBatchResponse(Response, frozen=True):
    """The job that stores the articles."""

    job_id: str  #: The ID of the job in ArticleImportJobs and ImportJobs.
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
    """Return the addresses of an operation below `/pos/`: two of its own and two of its action."""
    action = ARTICLE_OPERATIONS[name].action
    return f"articles/{name}", f"v2/articles/{name}", action, f"PosService.{action}"
