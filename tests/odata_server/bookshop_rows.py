"""The rows of the bookshop; see `tests.odata_server.bookshop`. Enough for joins, ties, nulls and empty sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from sqlalchemy import Table

from tests.odata_server import bookshop_tables as tables

__all__ = ["ROWS", "author", "book", "chapter", "order", "review", "section"]


def _id(kind: int, number: int) -> str:
    return f"{kind:08x}-0000-4000-8000-{number:012d}"


def author(number: int) -> str:
    """Return the ID of an author: 1 Austen, 2 Brontë, 3 Le Guin, 4 Ende, 5 O'Brien (without books)."""
    return _id(0xA, number)


def book(number: int) -> str:
    """Return the ID of a book: 1 and 2 by Austen, 3 Brontë, 4 to 6 Le Guin, 7 Ende, 8 without author and genre."""
    return _id(0xB, number)


def chapter(number: int) -> str:
    """Return the ID of a chapter: 1, 2 and 3 of book 1, 4 of book 3."""
    return _id(0xC, number)


def section(number: int) -> str:
    """Return the ID of a section: 1 and 2 of chapter 1."""
    return _id(0xD, number)


def order(number: int) -> str:
    """Return the ID of an order: 1 with two items, 2 with one, 3 with none."""
    return _id(0xE, number)


def review(number: int) -> str:
    """Return the ID of a review: 1 and 2 of book 1, 3 of book 4, 4 of no book."""
    return _id(0xF, number)


def _at(year: int, month: int = 1, day: int = 1, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


_AUTHOR = ("id", "name", "born", "died", "email", "country_code", "created_at", "private_note")
_MADE = _at(2024, 5, 1, 8, 30)
_AUTHORS = [
    (author(1), "Jane Austen", date(1775, 12, 16), date(1817, 7, 18), "jane@example.org", "GB", _MADE, "shy"),
    (author(2), "Charlotte Brontë", date(1816, 4, 21), date(1855, 3, 31), None, "GB", _MADE, None),
    (author(3), "Ursula K. Le Guin", date(1929, 10, 21), date(2018, 1, 22), "ursula@example.org", "US", _MADE, None),
    (author(4), "Michael Ende", date(1929, 11, 12), date(1995, 8, 28), None, "DE", _MADE, None),
    (author(5), "Flann O'Brien", None, None, "100%_sure@example.org", None, None, None),
]
_GENRE = ("id", "name", "parent_id")
_GENRES = [
    (1, "Fiction", None),
    (2, "Novel", 1),
    (3, "Fantasy", 1),
    (4, "High Fantasy", 3),
    (5, "Science Fiction", 1),
    (6, "Poetry", None),
]
_BOOK = (
    *("id", "isbn", "title", "price", "stock", "rating", "published", "language", "format", "tags", "author_id"),
    "genre_id",
)
_BOOKS: list[tuple[Any, ...]] = [
    (
        *(book(1), "9780141439518", "Pride and Prejudice", Decimal("9.99"), 12, 4.5, _at(1813, 1, 28), "en"),
        *("Paperback", ["classic", "love"], author(1), 2),
    ),
    (
        *(book(2), "9780141439587", "Emma", Decimal("8.50"), 0, 4.0, _at(1815, 12, 23), "en", "Hardcover"),
        *(["classic"], author(1), 2),
    ),
    (
        *(book(3), "9780141441146", "Jane Eyre", Decimal("11.00"), 12, 4.25, _at(1847, 10, 19, 12, 30, 15), "en"),
        *("Paperback", ["classic", "gothic"], author(2), 2),
    ),
    (
        *(book(4), "9780547773742", "A Wizard of Earthsea", Decimal("9.99"), 333, 4.75, _at(1968, 11, 1), "en"),
        *("Paperback", ["magic"], author(3), 4),
    ),
    (
        *(book(5), "9780441478125", "The Left Hand of Darkness", Decimal("12.34"), 5, None, _at(1969, 3, 1), "en"),
        *("EBook", [], author(3), 5),
    ),
    (
        *(book(6), "9780060512750", "The Dispossessed", Decimal("7.05"), 100, 4.25, _at(1974, 5, 1), "en", "EBook"),
        *(["utopia", "prize"], author(3), 5),
    ),
    (
        *(book(7), "9783522202602", "Die unendliche Geschichte", Decimal("25.00"), 42, 4.5, _at(1979, 9, 1), "de"),
        *("Hardcover", ["magic", "children"], author(4), 3),
    ),
    (
        *(book(8), "9780000000008", "Beowulf", Decimal("0.00"), -1, None, None, "en", "Paperback", ["classic"]),
        *(None, None),
    ),
]


def _books() -> list[dict[str, Any]]:
    more = {
        "description": None,
        "purchase_price": None,
        "sold": 0,
        "available": True,
        "thumbnail": None,
        "created_at": _MADE,
        "modified_at": None,
        "version": 1,
    }
    books = [{**dict(zip(_BOOK, row, strict=True)), **more} for row in _BOOKS]
    books[0] |= {"description": "It is a truth universally acknowledged.", "sold": 20_000_000_000, "version": 7}
    books[1] |= {"available": False, "description": "A comedy about youthful hubris."}
    books[3] |= {
        "thumbnail": b"\x89PNG",
        "purchase_price": Decimal("4.20"),
        "modified_at": _at(2025, 2, 28, 23, 59, 59),
    }
    return books


def _rows(names: Sequence[str], values: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in values]


ROWS: Mapping[Table, Sequence[Mapping[str, Any]]] = {
    tables.COUNTRIES: _rows(
        ("code", "name"), [("DE", "Germany"), ("GB", "United Kingdom"), ("IE", "Ireland"), ("US", "United States")]
    ),
    tables.AUTHORS: _rows(_AUTHOR, _AUTHORS),
    tables.GENRES: _rows(_GENRE, _GENRES),
    tables.BOOKS: _books(),
    tables.CHAPTERS: _rows(
        ("id", "book_id", "number", "title", "pages"),
        [
            (chapter(1), book(1), 1, "Netherfield", 10),
            (chapter(2), book(1), 2, "The ball", 20),
            (chapter(3), book(1), 3, "A letter", 5),
            (chapter(4), book(3), 1, "Gateshead", 8),
        ],
    ),
    tables.SECTIONS: _rows(
        ("id", "chapter_id", "heading"), [(section(1), chapter(1), "News"), (section(2), chapter(1), "A visit")]
    ),
    tables.TRANSLATIONS: _rows(
        ("book_id", "language", "title"),
        [
            (book(1), "de", "Stolz und Vorurteil"),
            (book(1), "fr", "Orgueil et Préjugés"),
            (book(7), "en", "Neverending"),
        ],
    ),
    tables.BLURBS: [{"id": _id(0x10, 1), "book_id": book(1), "text": "Read it again."}],
    tables.REVIEWS: _rows(
        ("id", "book_id", "stars", "text", "reviewer", "posted_at"),
        [
            (review(1), book(1), 5, "Still sparkling", "Ann", _at(2024, 3, 1, 10)),
            (review(2), book(1), 3, None, "Bob", _at(2024, 3, 2, 11, 15)),
            (review(3), book(4), 4, "Dragons!", "Ann", _at(2023, 12, 31, 23, 59, 59)),
            (review(4), None, 1, "Lost", "Cid", None),
        ],
    ),
    tables.SHOPS: _rows(
        ("id", "name", "opening_time", "closing_time", "country_code", "street", "city", "open"),
        [
            (1, "Old Town", time(9, 30), time(18, 0), "DE", "Gasse 1", "Ulm", "Monday,Tuesday"),
            (2, "Station", time(6, 0), time(22, 15, 30), "GB", None, "York", "Tuesday,Weekend"),
        ],
    ),
    tables.PROFILES: [{"id": 1, "motto": "More books than days", "currency": "EUR"}],
    tables.ORDERS: _rows(
        ("id", "number", "customer", "placed_at", "status", "note", "ship_to", "version"),
        [
            (order(1), 1001, "Dora", _at(2024, 6, 1, 9), "Paid", "gift", {"street": "Allee 7", "city": "Köln"}, 3),
            (order(2), 1002, "Emil", _at(2024, 6, 2, 17, 45), "Open", None, None, 1),
            (order(3), 9_000_000_000, "Dora", None, "Open", None, None, 1),
        ],
    ),
    tables.ORDER_ITEMS: _rows(
        ("order_id", "position", "book_id", "quantity", "price"),
        [
            (order(1), 1, book(1), 2, Decimal("9.99")),
            (order(1), 2, book(4), 1, Decimal("9.49")),
            (order(2), 1, book(1), 1, None),
        ],
    ),
}
