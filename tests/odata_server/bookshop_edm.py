"""The model of the bookshop; see `tests.odata_server.bookshop`."""

from __future__ import annotations

from typing import Any

from odata_server.edm import (
    Action,
    ActionImport,
    Annotation,
    ComplexType,
    Container,
    Edm,
    EntitySet,
    EntityType,
    EnumMember,
    EnumType,
    Function,
    FunctionImport,
    NavigationProperty,
    Operation,
    Parameter,
    Primitive,
    Property,
    Reference,
    ReturnType,
    Schema,
    Singleton,
)

__all__ = ["ADDRESS", "EDM", "FORMAT", "STATUS", "STOCK_LINE"]

FORMAT = EnumType(
    name="Format",
    members=(
        EnumMember(name="Paperback", value=0),
        EnumMember(name="Hardcover", value=1),
        EnumMember(name="EBook", value=2),
    ),
)
STATUS = EnumType(
    name="OrderStatus",
    members=(EnumMember(name="Open", value=0), EnumMember(name="Paid", value=1), EnumMember(name="Shipped", value=2)),
)
DAYS = EnumType(
    name="Days",
    members=(
        EnumMember(name="None", value=0),
        EnumMember(name="Monday", value=1),
        EnumMember(name="Tuesday", value=2),
        EnumMember(name="Saturday", value=4),
        EnumMember(name="Sunday", value=8),
        EnumMember(name="Weekend", value=12),
    ),
    is_flags=True,
    numbers=True,
)
STOCK_LINE = ComplexType(
    name="StockLine",
    properties=(
        Property(name="title", type=Primitive.STRING, nullable=False),
        Property(name="stock", type=Primitive.INT32, nullable=False),
        Property(name="value", type=Primitive.DECIMAL, precision=12, scale=2),
    ),
)

ADDRESS = ComplexType(
    name="Address",
    properties=(
        Property(name="street", type=Primitive.STRING, max_length=100),
        Property(name="city", type=Primitive.STRING, nullable=False, max_length=60),
    ),
)


def _guid(name: str = "ID", *, nullable: bool = False, **more: Any) -> Property:
    return Property(name=name, type=Primitive.GUID, nullable=nullable, **more)


def _text(name: str, length: int, *, nullable: bool = True, **more: Any) -> Property:
    return Property(name=name, type=Primitive.STRING, nullable=nullable, max_length=length, **more)


def _number(name: str, *, nullable: bool = False, **more: Any) -> Property:
    return Property(name=name, type=Primitive.INT32, nullable=nullable, **more)


def _moment(name: str, *, nullable: bool = True, **more: Any) -> Property:
    return Property(name=name, type=Primitive.DATE_TIME_OFFSET, nullable=nullable, precision=6, **more)


def _money(name: str, *, nullable: bool = False, **more: Any) -> Property:
    return Property(name=name, type=Primitive.DECIMAL, nullable=nullable, precision=9, scale=2, **more)


def _to_one(name: str, target: str, own: str, other: str = "ID", **more: Any) -> NavigationProperty:
    return NavigationProperty(name=name, target=target, on=((own, other),), **more)


def _to_many(name: str, target: str, other: str, own: str = "ID", **more: Any) -> NavigationProperty:
    return NavigationProperty(name=name, target=target, collection=True, on=((own, other),), **more)


COUNTRY = EntityType(name="Country", key=("code",), properties=(_text("code", 2, nullable=False), _text("name", 60)))

AUTHOR = EntityType(
    name="Author",
    key=("ID",),
    properties=(
        _guid(),
        _text("name", 100, nullable=False, searchable=True),
        Property(name="born", type=Primitive.DATE),
        Property(name="died", type=Primitive.DATE),
        _text("email", 200),
        _text("country_code", 2),
        _moment("createdAt", computed=True),
        _text("privateNote", 500, write_only=True),
    ),
    navigations=(
        _to_one("country", "Country", "country_code", "code"),
        _to_many("books", "Book", "author_ID", partner="author"),
    ),
)

GENRE = EntityType(
    name="Genre",
    key=("ID",),
    properties=(_number("ID"), _text("name", 60, nullable=False, searchable=True), _number("parent_ID", nullable=True)),
    navigations=(
        _to_one("parent", "Genre", "parent_ID", partner="children"),
        _to_many("children", "Genre", "parent_ID", partner="parent"),
        _to_many("books", "Book", "genre_ID", partner="genre"),
    ),
)

BOOK = EntityType(
    name="Book",
    key=("ID",),
    etag=True,
    properties=(
        _guid(),
        _text("isbn", 13, nullable=False, immutable=True),
        _text("title", 200, nullable=False, searchable=True, annotations=(Annotation("Common.Label", "Title"),)),
        _text("description", 2000, searchable=True),
        _money("price"),
        _money("purchasePrice", nullable=True, write_only=True),
        _number("stock", default=0, aggregate="sum"),
        Property(name="sold", type=Primitive.INT64, nullable=False, default=0),
        Property(name="rating", type=Primitive.DOUBLE, aggregate="average"),
        _moment("published", aggregate="max"),
        _text("language", 2, nullable=False, default="en", aggregate="same"),
        Property(name="format", type=FORMAT, nullable=False, default="Paperback"),
        Property(name="available", type=Primitive.BOOLEAN, nullable=False, default=True),
        Property(name="tags", type=Primitive.STRING, collection=True, nullable=False, max_length=30, default=[]),
        Property(name="thumbnail", type=Primitive.BINARY, max_length=1000),
        _guid("author_ID", nullable=True),
        _number("genre_ID", nullable=True),
        _moment("createdAt", computed=True),
        _moment("modifiedAt", computed=True),
    ),
    navigations=(
        _to_one("author", "Author", "author_ID", partner="books"),
        _to_one("genre", "Genre", "genre_ID", partner="books"),
        _to_many("chapters", "Chapter", "book_ID", partner="book", composition=True),
        _to_many("translations", "Translation", "book_ID", partner="book", composition=True),
        NavigationProperty(name="blurb", target="Blurb", on=(("ID", "book_ID"),), partner="book", composition=True),
        _to_many("reviews", "Review", "book_ID", partner="book"),
    ),
)

CHAPTER = EntityType(
    name="Chapter",
    key=("ID",),
    properties=(
        _guid(),
        _guid("book_ID"),
        _number("number"),
        _text("title", 100, nullable=False),
        _number("pages", default=0),
    ),
    navigations=(
        _to_one("book", "Book", "book_ID", partner="chapters", nullable=False),
        _to_many("sections", "Section", "chapter_ID", partner="chapter", composition=True),
    ),
)

SECTION = EntityType(
    name="Section",
    key=("ID",),
    properties=(_guid(), _guid("chapter_ID"), _text("heading", 100, nullable=False)),
    navigations=(_to_one("chapter", "Chapter", "chapter_ID", partner="sections", nullable=False),),
)

TRANSLATION = EntityType(
    name="Translation",
    key=("book_ID", "language"),
    properties=(_guid("book_ID"), _text("language", 2, nullable=False), _text("title", 200, nullable=False)),
    navigations=(_to_one("book", "Book", "book_ID", partner="translations", nullable=False),),
)

BLURB = EntityType(
    name="Blurb",
    key=("ID",),
    properties=(_guid(), _guid("book_ID"), _text("text", 500, nullable=False)),
    navigations=(_to_one("book", "Book", "book_ID", partner="blurb", nullable=False),),
)

REVIEW = EntityType(
    name="Review",
    key=("ID",),
    properties=(
        _guid(),
        _guid("book_ID", nullable=True),
        Property(name="stars", type=Primitive.BYTE, nullable=False),
        _text("text", 1000, searchable=True),
        _text("reviewer", 60, nullable=False),
        Property(name="postedAt", type=Primitive.DATE_TIME_OFFSET, precision=6),
    ),
    navigations=(_to_one("book", "Book", "book_ID", partner="reviews"),),
)

SHOP = EntityType(
    name="Shop",
    key=("ID",),
    properties=(
        _number("ID"),
        _text("name", 60, nullable=False),
        Property(name="openingTime", type=Primitive.TIME_OF_DAY, precision=6),
        Property(name="closingTime", type=Primitive.TIME_OF_DAY, precision=6),
        _text("country_code", 2),
        Property(name="address", type=ADDRESS, nullable=False),
        Property(name="open", type=DAYS),
    ),
    navigations=(_to_one("country", "Country", "country_code", "code"),),
)

PROFILE = EntityType(
    name="Profile",
    key=("ID",),
    properties=(_number("ID", computed=True), _text("motto", 100, nullable=False), _text("currency", 3, default="EUR")),
)

ORDER = EntityType(
    name="Order",
    key=("ID",),
    etag=True,
    properties=(
        _guid(),
        Property(name="number", type=Primitive.INT64, nullable=False),
        _text("customer", 100, nullable=False, searchable=True),
        _moment("placedAt"),
        Property(name="status", type=STATUS, nullable=False, default="Open"),
        _text("note", 500),
        Property(name="shipTo", type=ADDRESS),
    ),
    navigations=(_to_many("items", "OrderItem", "order_ID", partner="order", composition=True),),
)

ORDER_ITEM = EntityType(
    name="OrderItem",
    key=("order_ID", "position"),
    properties=(
        _guid("order_ID"),
        _number("position"),
        _guid("book_ID"),
        _number("quantity", default=1),
        _money("price", nullable=True),
    ),
    navigations=(
        _to_one("order", "Order", "order_ID", partner="items", nullable=False),
        _to_one("book", "Book", "book_ID", nullable=False),
    ),
)

_QUANTITY = Parameter(name="quantity", type=Primitive.INT32, nullable=False)
_RATE = Parameter(name="rate", type=Primitive.DECIMAL, nullable=False, precision=9, scale=4)
_CURRENCY = Parameter(name="currency", type=Primitive.STRING, nullable=False, max_length=3)
OPERATIONS: tuple[Operation, ...] = (
    Action(name="order", binding="Book", parameters=(_QUANTITY,), returns=ReturnType(entity_type="Order")),
    Action(name="restock", binding="Book", parameters=(_QUANTITY,)),
    Action(
        name="reprice",
        binding="Book",
        binding_collection=True,
        parameters=(Parameter(name="percent", type=Primitive.DECIMAL, nullable=False, precision=5, scale=2),),
        returns=ReturnType(type=Primitive.INT32, nullable=False),
    ),
    Action(
        name="closeShop",
        parameters=(Parameter(name="reason", type=Primitive.STRING, max_length=100),),
        returns=ReturnType(type=Primitive.STRING),
    ),
    Action(name="crash"),
    Function(
        name="priceIn",
        binding="Book",
        parameters=(_CURRENCY, _RATE),
        returns=ReturnType(type=Primitive.DECIMAL, precision=12, scale=2),
    ),
    Function(
        name="priceIn",
        binding="Book",
        parameters=(Parameter(name="discount", type=Primitive.DECIMAL, nullable=False, precision=5, scale=4),),
        returns=ReturnType(type=Primitive.DECIMAL, precision=12, scale=2),
    ),
    Function(
        name="cheapest", binding="Book", binding_collection=True, returns=ReturnType(entity_type="Book", nullable=True)
    ),
    Function(
        name="greet",
        parameters=(Parameter(name="name", type=Primitive.STRING, nullable=False),),
        returns=ReturnType(type=Primitive.STRING, nullable=False, media_type="text/plain"),
    ),
    Function(
        name="greet",
        parameters=(
            Parameter(name="name", type=Primitive.STRING, nullable=False),
            Parameter(name="title", type=Primitive.STRING, nullable=False),
            Parameter(name="word", type=Primitive.STRING),
        ),
        returns=ReturnType(type=Primitive.STRING, nullable=False, media_type="text/plain"),
    ),
    Function(name="stockReport", returns=ReturnType(type=STOCK_LINE, collection=True, nullable=False)),
)

_SETS = {
    "Authors": "Author",
    "Books": "Book",
    "Chapters": "Chapter",
    "Sections": "Section",
    "Translations": "Translation",
    "Blurbs": "Blurb",
    "Reviews": "Review",
    "Genres": "Genre",
    "Shops": "Shop",
    "Orders": "Order",
    "OrderItems": "OrderItem",
}

EDM = Edm(
    Schema(
        namespace="Bookshop",
        entity_types=(
            *(COUNTRY, AUTHOR, GENRE, BOOK, CHAPTER, SECTION, TRANSLATION, BLURB, REVIEW, SHOP, PROFILE, ORDER),
            ORDER_ITEM,
        ),
        complex_types=(ADDRESS, STOCK_LINE),
        enum_types=(FORMAT, STATUS, DAYS),
        operations=OPERATIONS,
        container=Container(
            entity_sets=(
                *(EntitySet(name=name, entity_type=of) for name, of in _SETS.items()),
                EntitySet(name="Countries", entity_type="Country", insertable=False, updatable=False, deletable=False),
            ),
            singletons=(Singleton(name="Profile", entity_type="Profile"),),
            action_imports=(
                ActionImport(name="closeShop", action="closeShop"),
                ActionImport(name="crash", action="crash"),
            ),
            function_imports=(
                FunctionImport(name="greet", function="greet"),
                FunctionImport(name="stockReport", function="stockReport"),
            ),
        ),
        references=(
            Reference(
                uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml",
                namespace="Org.OData.Core.V1",
                alias="Core",
            ),
            Reference(
                uri="https://sap.github.io/odata-vocabularies/vocabularies/Common.xml",
                namespace="com.sap.vocabularies.Common.v1",
                alias="Common",
            ),
        ),
    )
)
