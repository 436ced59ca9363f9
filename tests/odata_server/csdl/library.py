"""A model with one of everything in CSDL that this library uses; it has no data."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from odata_server.edm import (
    Action,
    ActionImport,
    Annotation,
    AnnotationPath,
    ComplexType,
    Container,
    Edm,
    EntitySet,
    EntityType,
    EnumMember,
    EnumMemberValue,
    EnumType,
    Expression,
    Function,
    FunctionImport,
    NavigationProperty,
    Parameter,
    Primitive,
    Property,
    Record,
    Reference,
    ReturnType,
    Schema,
    Singleton,
)

__all__ = ["library"]

AWKWARD = "Tags <b> & \"quotes\" 'n' ümläuts, tab\there,\nnew line, ]]>"

_FORMAT = EnumType(
    name="Format",
    members=(
        EnumMember(name="Paper", value=0, annotations=(Annotation("Core.Description", AWKWARD),)),
        EnumMember(name="Audio", value=1),
    ),
    annotations=(Annotation("Core.Description", "How it is published"),),
)
_GENRES = EnumType(
    name="Genres",
    is_flags=True,
    members=(EnumMember(name="Crime", value=1), EnumMember(name="Poetry", value=2**40)),
)
_MONEY = ComplexType(
    name="Money",
    properties=(
        Property(name="value", type=Primitive.DECIMAL, precision=15, scale=2, nullable=False),
        Property(name="currency", type=Primitive.STRING, max_length=3),
        Property(name="rate", type=Primitive.DECIMAL),
    ),
    navigations=(NavigationProperty(name="currencyText", target="Currency", on=(("currency", "code"),)),),
)
_CURRENCY = EntityType(
    name="Currency",
    key=("code",),
    properties=(Property(name="code", type=Primitive.STRING, max_length=3, nullable=False),),
)
_FIELD = Record(
    {
        "Value": AnnotationPath("title"),
        "Label": "Title",
        "@UI.Importance": EnumMemberValue(("UI.ImportanceType/High",)),
    },
    type="UI.DataField",
)
_BOOK = EntityType(
    name="Book",
    key=("ID",),
    etag=True,
    properties=(
        Property(name="ID", type=Primitive.GUID, nullable=False, computed=True),
        Property(
            name="title",
            type=Primitive.STRING,
            nullable=False,
            max_length=100,
            searchable=True,
            annotations=(
                Annotation("Core.Description", AWKWARD),
                Annotation(
                    "Common.Text",
                    AnnotationPath("subtitle"),
                    annotations=(
                        Annotation("UI.TextArrangement", EnumMemberValue(("UI.TextArrangementType/TextOnly",))),
                    ),
                ),
            ),
        ),
        Property(name="subtitle", type=Primitive.STRING, default="", annotations=(Annotation("Common.Label", "Sub"),)),
        Property(name="author_ID", type=Primitive.GUID),
        Property(name="isbn", type=Primitive.STRING, immutable=True, max_length=13),
        Property(name="secret", type=Primitive.STRING, write_only=True),
        Property(name="format", type=_FORMAT, default="Paper"),
        Property(name="genres", type=_GENRES),
        Property(name="price", type=_MONEY),
        Property(name="discount", type=Primitive.DECIMAL, precision=5, scale=2, default=Decimal("1.10")),
        Property(name="tags", type=Primitive.STRING, collection=True, nullable=False, max_length=20),
        Property(name="inPrint", type=Primitive.BOOLEAN, nullable=False, default=True),
        Property(name="pages", type=Primitive.INT32, default=0),
        Property(name="sold", type=Primitive.INT64),
        Property(name="rank", type=Primitive.BYTE),
        Property(name="offset", type=Primitive.SBYTE),
        Property(name="weight", type=Primitive.DOUBLE),
        Property(name="height", type=Primitive.SINGLE),
        Property(name="shelf", type=Primitive.INT16),
        Property(name="cover", type=Primitive.BINARY, max_length=1000, default=b"\xfb\xff"),
        Property(name="published", type=Primitive.DATE, default=dt.date(2020, 2, 29)),
        Property(name="opens", type=Primitive.TIME_OF_DAY, precision=3, default=dt.time(9, 30)),
        Property(name="length", type=Primitive.DURATION, default=dt.timedelta(days=1, seconds=5, milliseconds=250)),
        Property(
            name="createdAt",
            type=Primitive.DATE_TIME_OFFSET,
            precision=6,
            computed=True,
            default=dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        ),
    ),
    navigations=(
        NavigationProperty(name="author", target="Author", on=(("author_ID", "ID"),), partner="books"),
        NavigationProperty(
            name="chapters",
            target="Chapter",
            collection=True,
            on=(("ID", "book_ID"),),
            partner="book",
            composition=True,
        ),
        NavigationProperty(name="notes", target="Note", collection=True, composition=True, writable=False),
    ),
    annotations=(
        Annotation("UI.LineItem", (_FIELD, Record({"Value": AnnotationPath("author/name")}, type="UI.DataField"))),
        Annotation("UI.LineItem", (), qualifier="Short"),
        Annotation("UI.HeaderInfo", Record({"TypeName": "Book", "TypeNamePlural": "Books", "Title": _FIELD})),
        Annotation("Validation.Constraint", Record({"Condition": None, "FailureMessage": "never"})),
        Annotation("Common.SemanticKey", (AnnotationPath("isbn", "PropertyPath"),)),
        Annotation(
            "Toy.Everything", (True, 7, Decimal("1.50"), "text", None, (1, 2), EnumMemberValue(("Toy.Size/Big",)))
        ),
        Annotation(
            "Toy.Rule",
            Expression(
                "Or",
                (
                    Expression("Not", (AnnotationPath("secret"),)),
                    Expression("Eq", (AnnotationPath("title"), "Emma")),
                ),
            ),
        ),
        Annotation("Toy.Anchor", AnnotationPath("@UI.LineItem", "AnnotationPath")),
        Annotation("Toy.Way", AnnotationPath("author", "NavigationPropertyPath")),
        Annotation("Toy.Flags", EnumMemberValue(("Toy.Sizes/Big", "Toy.Sizes/Round"))),
        Annotation("Toy.Exact", Decimal("0.1234567890123456789012345")),
    ),
)
_AUTHOR = EntityType(
    name="Author",
    key=("ID",),
    properties=(
        Property(name="ID", type=Primitive.GUID, nullable=False),
        Property(name="name", type=Primitive.STRING, nullable=False, max_length=50),
    ),
    navigations=(
        NavigationProperty(name="books", target="Book", collection=True, on=(("ID", "author_ID"),), partner="author"),
    ),
)
_CHAPTER = EntityType(
    name="Chapter",
    key=("book_ID", "number"),
    properties=(
        Property(name="book_ID", type=Primitive.GUID, nullable=False),
        Property(name="number", type=Primitive.INT32, nullable=False),
        Property(name="sequel_book_ID", type=Primitive.GUID),
        Property(name="sequel_number", type=Primitive.INT32, nullable=False),
    ),
    navigations=(
        NavigationProperty(name="book", target="Book", on=(("book_ID", "ID"),), partner="chapters", nullable=True),
        NavigationProperty(
            name="sequel", target="Chapter", on=(("sequel_book_ID", "book_ID"), ("sequel_number", "number"))
        ),
    ),
)
_NOTE = EntityType(
    name="Note",
    key=("ID",),
    properties=(Property(name="ID", type=Primitive.STRING, nullable=False, max_length=10),),
    navigations=(NavigationProperty(name="writer", target="Author"),),
)
_OPERATIONS = (
    Action(
        name="reprint",
        binding="Book",
        parameters=(
            Parameter(
                name="copies",
                type=Primitive.INT32,
                nullable=False,
                annotations=(Annotation("Core.Description", "How many"),),
            ),
            Parameter(name="price", type=_MONEY),
            Parameter(name="notes", type=Primitive.STRING, collection=True, nullable=False, max_length=50),
        ),
        returns=ReturnType(entity_type="Book", nullable=False),
        annotations=(Annotation("Core.Description", "Print again"),),
    ),
    Action(name="reprint", binding="Book", binding_collection=True, returns=ReturnType(type=Primitive.INT32)),
    Action(name="merge", binding="Author", parameters=(Parameter(name="other", entity_type="Author", nullable=False),)),
    Function(
        name="bestsellers",
        parameters=(Parameter(name="top", type=Primitive.INT32, nullable=False),),
        returns=ReturnType(entity_type="Book", collection=True, nullable=False),
        composable=True,
    ),
    Function(
        name="quote",
        binding="Book",
        returns=ReturnType(type=Primitive.STRING, nullable=False, max_length=500, media_type="text/plain"),
    ),
    Action(name="restock", returns=ReturnType(type=_MONEY, collection=True, nullable=False)),
)


def library() -> Edm:
    """Build the model anew."""
    books = EntitySet(
        name="Books",
        entity_type="Book",
        bindings={"author": "LivingAuthors"},
        annotations=(Annotation("Capabilities.SearchRestrictions", Record({"Searchable": False})),),
    )
    container = Container(
        name="Container",
        entity_sets=(
            books,
            EntitySet(name="Authors", entity_type="Author"),
            EntitySet(name="LivingAuthors", entity_type="Author", insertable=False, updatable=False, deletable=False),
            EntitySet(name="Chapters", entity_type="Chapter", in_service_document=False),
            EntitySet(name="Currencies", entity_type="Currency", insertable=False, updatable=False, deletable=False),
        ),
        singletons=(Singleton(name="BookOfTheDay", entity_type="Book"),),
        action_imports=(ActionImport(name="restock", action="restock"),),
        function_imports=(FunctionImport(name="bestsellers", function="bestsellers", entity_set="Books"),),
        annotations=(Annotation("Core.Description", "A library"),),
    )
    return Edm(
        Schema(
            namespace="Library.v1",
            entity_types=(_BOOK, _AUTHOR, _CHAPTER, _NOTE, _CURRENCY),
            complex_types=(_MONEY,),
            enum_types=(_FORMAT, _GENRES),
            operations=_OPERATIONS,
            container=container,
            references=(Reference(uri="https://example.com/Toy.xml", namespace="com.example.toy", alias="Toy"),),
            annotations=(Annotation("Core.Description", "The schema"),),
        )
    )
