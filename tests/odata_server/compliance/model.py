"""The reference model of NLstn's compliance suite, as far as the library offers it, on SQLite in memory.

Not offered, and so left out: streams (``MediaItems`` are plain entities, ``Photo`` is missing), the derived type
``SpecialProduct`` (its properties belong to ``Product``), the many-to-many navigation ``RelatedProducts``, geographic
values, asynchronous requests, delta links. https://github.com/NLstn/odata-compliance-suite describes it in CONTRACT.md.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Date,
    Double,
    Engine,
    Executable,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    Time,
    create_engine,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.pool import StaticPool
from sqlalchemy.types import TypeDecorator

from odata_server import (
    Action,
    ActionImport,
    Annotation,
    ComplexType,
    Container,
    Edm,
    EngineDatabase,
    EntityMap,
    EntitySet,
    EntityType,
    EnumMember,
    EnumType,
    Function,
    FunctionImport,
    Hooks,
    NavigationProperty,
    OperationCall,
    Parameter,
    Primitive,
    Property,
    Result,
    ReturnType,
    Schema,
    Service,
    Singleton,
    SqlModel,
    SqlSource,
    SqlUnit,
    parse_options,
)
from odata_server.source import Query, Target
from odata_server.sql.terms.sqlite_functions import install
from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, Storage
from tests.odata_server.bookshop_tables import Amount, Json, Moment

__all__ = ["service"]

NAMESPACE = "ComplianceService"
STATUS = EnumType(
    name="ProductStatus",
    members=tuple(
        EnumMember(name=name, value=value)
        for name, value in (("None", 0), ("InStock", 1), ("OnSale", 2), ("Discontinued", 4), ("Featured", 8))
    ),
    is_flags=True,
    numbers=True,
)


class Span(TypeDecorator[timedelta]):
    """A duration in microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Any) -> int | None:
        return None if value is None else value // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Any) -> timedelta | None:
        return None if value is None else timedelta(microseconds=value)

    def odata_storage(self, dialect: str) -> Storage:
        return EPOCH_MICROSECONDS


def _of(name: str, type_: Any, *, nullable: bool = True, **more: Any) -> Property:
    return Property(name=name, type=type_, nullable=nullable, **more)


def _text(name: str, length: int | None = None, *, nullable: bool = True, **more: Any) -> Property:
    return _of(name, Primitive.STRING, nullable=nullable, max_length=length, **more)


def _key(name: str = "ID") -> Property:
    return _of(name, Primitive.GUID, nullable=False)


_DESCRIBED = (Annotation("Core.Description", "Of the product"),)
ADDRESS = ComplexType(
    name="Address",
    properties=(
        _text("Street", 100),
        _text("City", 50),
        _text("State", 2),
        _text("PostalCode", 10),
        _text("Country", 50),
    ),
)
DIMENSIONS = ComplexType(
    name="Dimensions",
    properties=(*(_of(name, Primitive.DOUBLE) for name in ("Length", "Width", "Height")), _text("Unit", 10)),
)
PRODUCT = EntityType(
    name="Product",
    key=("ID",),
    etag=True,
    properties=(
        _key(),
        _text("Name", 100, nullable=False, searchable=True, annotations=_DESCRIBED),
        _text("Description", 500, searchable=True, annotations=_DESCRIBED),
        _of("Price", Primitive.DOUBLE, nullable=False),
        _of("Rating", Primitive.BYTE, nullable=False, default=0),
        _of("Temperature", Primitive.SBYTE, nullable=False, default=0),
        _of("Quantity", Primitive.INT16, nullable=False, default=0),
        _of("Weight", Primitive.SINGLE, nullable=False, default=0.0),
        _of("Data", Primitive.BINARY),
        _of("ReleaseDate", Primitive.DATE),
        _of("OpenTime", Primitive.TIME_OF_DAY),
        *(_of(name, Primitive.DURATION) for name in ("ShippingTime", "ProcessingTime", "Offset")),
        _of("CategoryID", Primitive.GUID),
        _of("Status", STATUS, nullable=False, default="None"),
        _of("Version", Primitive.INT32, nullable=False, computed=True),
        _of("CreatedAt", Primitive.DATE_TIME_OFFSET, nullable=False, precision=6, computed=True),
        _text("SerialNumber", 50, immutable=True, annotations=_DESCRIBED),
        _text("ProductType", 50, nullable=False, default="Product"),
        _text("SpecialProperty", 200),
        _text("SpecialFeature", 100),
        _of("ShippingAddress", ADDRESS),
        _of("Dimensions", DIMENSIONS),
    ),
    navigations=(
        NavigationProperty(name="Category", target="Category", on=(("CategoryID", "ID"),), partner="Products"),
        NavigationProperty(
            name="Descriptions",
            target="ProductDescription",
            collection=True,
            on=(("ID", "ProductID"),),
            partner="Product",
            composition=True,
        ),
    ),
)
CATEGORY = EntityType(
    name="Category",
    key=("ID",),
    properties=(_key(), _text("Name", 100, nullable=False, searchable=True), _text("Description", 500)),
    navigations=(
        NavigationProperty(
            name="Products", target="Product", collection=True, on=(("ID", "CategoryID"),), partner="Category"
        ),
    ),
)
DESCRIPTION = EntityType(
    name="ProductDescription",
    key=("ProductID", "LanguageKey"),
    properties=(
        _key("ProductID"),
        _text("LanguageKey", 2, nullable=False),
        _text("Description", 500, nullable=False, searchable=True),
        _text("LongText", 2000, searchable=True),
        _text("CustomName"),
    ),
    navigations=(
        NavigationProperty(
            name="Product", target="Product", on=(("ProductID", "ID"),), partner="Descriptions", nullable=False
        ),
    ),
)
MEDIA_ITEM = EntityType(
    name="MediaItem",
    key=("ID",),
    properties=(_key(), _text("Name"), _text("ContentType"), _of("Size", Primitive.INT64)),
)
READ_ONLY_ITEM = EntityType(name="ReadOnlyItem", key=("ID",), properties=(_key(), _text("Name", 100, nullable=False)))
DECIMAL_SAMPLE = EntityType(
    name="DecimalSample",
    key=("ID",),
    properties=(
        _key(),
        _text("Name", 100, nullable=False),
        _of("Amount", Primitive.DECIMAL, nullable=False, precision=15, scale=9),
    ),
)
COMPANY = EntityType(
    name="CompanyInfo",
    key=("ID",),
    etag=True,
    properties=(
        _of("ID", Primitive.GUID, nullable=False, computed=True),
        _text("Name", 200, nullable=False),
        _text("CEO", 100, nullable=False),
        _of("Founded", Primitive.INT32, nullable=False),
        _text("HeadQuarter", 200, nullable=False),
        _text("Website", 100, nullable=False),
        _of("Logo", Primitive.BINARY),
        _of("Version", Primitive.INT32, nullable=False, computed=True),
        _of("UpdatedAt", Primitive.DATE_TIME_OFFSET, nullable=False, precision=6, computed=True),
    ),
)
STATISTICS = ComplexType(
    name="ProductStatistics",
    properties=(
        _of("totalProducts", Primitive.INT64),
        *(_of(name, Primitive.DOUBLE) for name in ("averagePrice", "maxPrice", "minPrice")),
    ),
)


def _parameters(**types: Primitive) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, type=type_, nullable=False) for name, type_ in types.items())


_INT, _DOUBLE, _STRING = Primitive.INT64, Primitive.DOUBLE, Primitive.STRING
_PRODUCTS = ReturnType(entity_type="Product", collection=True)


def _returns(type_: Primitive) -> ReturnType:
    return ReturnType(type=type_, nullable=False)


UNBOUND_FUNCTIONS = (
    Function(name="GetTopProducts", returns=_PRODUCTS),
    Function(name="GetTopProducts", parameters=_parameters(count=_INT), returns=_PRODUCTS),
    Function(name="GetTopProducts", parameters=_parameters(count=_INT, category=_STRING), returns=_PRODUCTS),
    Function(name="GetProductStats", returns=ReturnType(type=STATISTICS)),
    Function(name="FindProducts", parameters=_parameters(name=_STRING, maxPrice=_DOUBLE), returns=_PRODUCTS),
    Function(name="Calculate", parameters=_parameters(value=_INT), returns=_returns(_INT)),
    Function(name="Calculate", parameters=_parameters(a=_INT, b=_INT), returns=_returns(_INT)),
    Function(name="Convert", parameters=_parameters(input=_STRING), returns=_returns(_STRING)),
    Function(name="Convert", parameters=_parameters(number=_INT), returns=_returns(_STRING)),
)
BOUND_FUNCTIONS = (
    Function(
        name="GetTotalPrice", binding="Product", parameters=_parameters(taxRate=_DOUBLE), returns=_returns(_DOUBLE)
    ),
    Function(name="GetRelatedProducts", binding="Product", returns=_PRODUCTS),
    Function(name="GetAveragePrice", binding="Product", binding_collection=True, returns=_returns(_DOUBLE)),
    Function(
        name="CalculatePrice", binding="Product", parameters=_parameters(discount=_DOUBLE), returns=_returns(_DOUBLE)
    ),
    Function(
        name="CalculatePrice",
        binding="Product",
        parameters=_parameters(discount=_DOUBLE, tax=_DOUBLE),
        returns=_returns(_DOUBLE),
    ),
    Function(name="GetInfo", binding="Product", parameters=_parameters(format=_STRING), returns=_returns(_STRING)),
)
UNBOUND_ACTIONS = (
    *(Action(name=name) for name in ("ResetAllPrices", "ResetProducts", "Reseed")),
    # the suite's model has an overload of an action, which OData forbids for unbound ones
    Action(
        name="Process",
        parameters=(*_parameters(percentage=_DOUBLE), Parameter(name="minPrice", type=_DOUBLE)),
    ),
)
BOUND_ACTIONS = (
    Action(
        name="ApplyDiscount",
        binding="Product",
        parameters=_parameters(percentage=_DOUBLE),
        returns=ReturnType(entity_type="Product"),
    ),
    Action(name="IncreasePrice", binding="Product", parameters=_parameters(amount=_DOUBLE)),
    Action(name="Activate", binding="Product"),
    Action(
        name="CalculateDiscount",
        binding="Product",
        parameters=_parameters(percentage=_DOUBLE),
        returns=_returns(_DOUBLE),
    ),
    Action(name="MarkAllAsReviewed", binding="Product", binding_collection=True),
)
_SETS = {
    "Products": "Product",
    "Categories": "Category",
    "ProductDescriptions": "ProductDescription",
    "MediaItems": "MediaItem",
    "DecimalSamples": "DecimalSample",
}
EDM = Edm(
    Schema(
        namespace=NAMESPACE,
        entity_types=(PRODUCT, CATEGORY, DESCRIPTION, MEDIA_ITEM, READ_ONLY_ITEM, DECIMAL_SAMPLE, COMPANY),
        complex_types=(ADDRESS, DIMENSIONS, STATISTICS),
        enum_types=(STATUS,),
        operations=(*UNBOUND_FUNCTIONS, *BOUND_FUNCTIONS, *UNBOUND_ACTIONS, *BOUND_ACTIONS),
        container=Container(
            name="Container",
            entity_sets=(
                *(EntitySet(name=name, entity_type=type_) for name, type_ in _SETS.items()),
                EntitySet(
                    name="ReadOnlyItems",
                    entity_type="ReadOnlyItem",
                    insertable=False,
                    updatable=False,
                    deletable=False,
                ),
            ),
            singletons=(Singleton(name="Company", entity_type="CompanyInfo"),),
            function_imports=tuple(
                FunctionImport(name=name, function=name)
                for name in dict.fromkeys(one.name for one in UNBOUND_FUNCTIONS)
            ),
            action_imports=tuple(ActionImport(name=one.name, action=one.name) for one in UNBOUND_ACTIONS),
        ),
    )
)

# ---- tables and rows ------------------------------------------------------------------------------------------------

_TYPES: dict[Any, Any] = {
    Primitive.GUID: String(36),
    Primitive.STRING: Text(),
    Primitive.DOUBLE: Double(),
    Primitive.SINGLE: Double(),
    Primitive.BYTE: SmallInteger(),
    Primitive.SBYTE: SmallInteger(),
    Primitive.INT16: SmallInteger(),
    Primitive.INT32: Integer(),
    Primitive.INT64: BigInteger(),
    Primitive.BINARY: LargeBinary(),
    Primitive.DATE: Date(),
    Primitive.TIME_OF_DAY: Time(),
    Primitive.DURATION: Span(),
    Primitive.DATE_TIME_OFFSET: Moment(),
    Primitive.DECIMAL: Amount(15, 9),
}
METADATA = MetaData()
_CREATED = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def _column(of: EntityType, prop: Property) -> Column[Any]:
    type_ = Text() if isinstance(prop.type, EnumType) else Json() if isinstance(prop.type, ComplexType) else None
    default = {"Version": 1, "CreatedAt": _CREATED, "UpdatedAt": _CREATED}.get(prop.name)
    return Column(
        prop.name,
        type_ if type_ is not None else _TYPES[prop.type],
        primary_key=prop.name in of.key,
        unique=(of.name, prop.name) == ("Category", "Name") or None,
        default=default,
    )


TABLES = {
    one.name: Table(one.name, METADATA, *(_column(one, it) for it in one.properties))
    for one in EDM.entity_types.values()
}
PRODUCTS = TABLES["Product"]
MODEL = SqlModel(
    EDM,
    {
        name: EntityMap(
            table,
            {one.name: one.name for one in table.columns},
            etag="Version" if EDM.entity_types[name].etag else None,
        )
        for name, table in TABLES.items()
    },
)


def _id(kind: int, number: int) -> str:
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


_FIRST: dict[str, Any] = {
    "Rating": 200,
    "Temperature": -10,
    "Quantity": 1200,
    "Weight": 3.14,
    "Data": b"test",
    "ReleaseDate": date(2024, 1, 15),
    "OpenTime": time(9, 30),
    "ShippingTime": timedelta(days=1),
    "ProcessingTime": timedelta(seconds=45),
    "Offset": timedelta(),
}
_SECOND: dict[str, Any] = {
    "Rating": 110,
    "Temperature": 5,
    "Quantity": 300,
    "Weight": 0.5,
    "Data": b"\x01\x02\x03",
    "ReleaseDate": date(2024, 1, 20),
    "OpenTime": time(8, 15),
    "ShippingTime": timedelta(hours=2),
    "ProcessingTime": timedelta(seconds=1.5),
    "Offset": -timedelta(days=1),
}
_THIRD: dict[str, Any] = {
    "Temperature": -5,
    "Quantity": -200,
    "Data": b"",
    "ReleaseDate": date(2024, 1, 1),
    "OpenTime": time(0),
    "ShippingTime": timedelta(days=2),
    "ProcessingTime": timedelta(minutes=30),
    "Offset": timedelta(),
}
_FOURTH: dict[str, Any] = {
    "Rating": 255,
    "Temperature": 127,
    "Quantity": 32767,
    "Weight": 150.0,
    "ReleaseDate": date(2024, 12, 31),
    "OpenTime": time(23, 59, 59),
    "ShippingTime": timedelta(days=1, hours=2, minutes=30),
    "ProcessingTime": timedelta(seconds=45),
    "Offset": timedelta(),
    "ShippingAddress": None,
    "Dimensions": None,
}
_SPECIAL: dict[str, Any] = {
    "ProductType": "SpecialProduct",
    "SpecialProperty": "With a warranty",
    "SpecialFeature": "With support",
}
# Name, price, number of the category, status, month in which it was made, and what else it has.
_PRODUCT_ROWS: tuple[tuple[str, float, int, str, int, dict[str, Any]], ...] = (
    ("Laptop", 999.99, 0, "InStock,Featured", 1, _FIRST | _SPECIAL),
    ("Wireless Mouse", 29.99, 0, "InStock,OnSale", 3, _SECOND),
    ("Coffee Mug", 15.5, 1, "InStock", 11, _THIRD),
    ("Office Chair", 249.99, 2, "Discontinued", 8, _FOURTH),
    ("Smartphone", 799.99, 0, "InStock,OnSale,Featured", 6, {}),
    ("Premium Laptop Pro", 1999.99, 0, "InStock,Featured", 7, _SPECIAL),
    ("Gaming Mouse Ultra", 149.99, 0, "InStock,OnSale", 9, _SPECIAL),
)
_CITIES = ("Seattle", "San Francisco", "Portland", "Ulm", "Austin", "New York", "Los Angeles")
# Number of the product, language, name.
_DESCRIPTIONS = (
    (0, "EN", "Promo"),
    (0, "DE", None),
    (1, "EN", None),
    (1, "FR", None),
    (2, "EN", None),
    (4, "EN", None),
    (4, "ES", None),
)
_CATEGORIES = ("Electronics", "Kitchen", "Furniture")


def _rows() -> dict[str, list[dict[str, Any]]]:
    nothing = {one.name: one.default for one in PRODUCT.properties}
    products = []
    for at, (name, price, category, status, month, more) in enumerate(_PRODUCT_ROWS):
        row = {"ID": _id(1, at), "Name": name, "Price": price, "CategoryID": _id(2, category), "Status": status}
        row |= {"Version": 1, "CreatedAt": _CREATED.replace(month=month)}
        row["ShippingAddress"] = {
            "Street": f"Street {at}",
            "City": _CITIES[at],
            "State": "WA" if at == 0 else "CA",
            "PostalCode": f"{98101 + at}",
            "Country": "USA",
        }
        row["Dimensions"] = {"Length": 35.5 - 4 * at, "Width": 25.0 - 3 * at, "Height": 2.5 + at, "Unit": "cm"}
        products.append({**nothing, **row, **more})
    return {
        "Category": [
            {"ID": _id(2, at), "Name": name, "Description": f"All of {name}"} for at, name in enumerate(_CATEGORIES)
        ],
        "Product": products,
        "ProductDescription": [
            {
                "ProductID": _id(1, of),
                "LanguageKey": language,
                "Description": f"The {_PRODUCT_ROWS[of][0].lower()} in {language}",
                "LongText": f"All about it in {language}",
                "CustomName": name,
            }
            for of, language, name in _DESCRIPTIONS
        ],
        "MediaItem": [
            {"ID": _id(3, 0), "Name": "Sample Image", "ContentType": "image/png", "Size": 1024},
            {"ID": _id(3, 1), "Name": "Sample Document", "ContentType": "application/pdf", "Size": 2048},
        ],
        "ReadOnlyItem": [{"ID": _id(4, at), "Name": f"Read-only item {one}"} for at, one in enumerate("AB")],
        "DecimalSample": [{"ID": _id(5, 0), "Name": "Sample", "Amount": Decimal("123.45")}],
        "CompanyInfo": [
            {
                "ID": _id(6, 0),
                "Name": "TechStore Inc.",
                "CEO": "Sarah Johnson",
                "Founded": 2010,
                "HeadQuarter": "Seattle",
                "Website": "https://techstore.example.com",
                "Logo": b"<svg/>",
                "Version": 1,
                "UpdatedAt": _CREATED,
            }
        ],
    }


def _seed() -> Sequence[tuple[Executable, list[dict[str, Any]]]]:
    return [(insert(TABLES[name]), rows) for name, rows in _rows().items()]


# ---- operations -----------------------------------------------------------------------------------------------------


async def _found(unit: SqlUnit, options: str) -> list[Any]:
    entity_set = EDM.entity_sets["Products"]
    target = Target(root=entity_set, entity_type=PRODUCT, entity_set=entity_set, steps=(), single=False)
    return (await unit.read(Query(target=target, options=parse_options(options), now=datetime.now(UTC)))).items


def _this(call: OperationCall) -> ColumnElement[bool]:
    assert call.binding is not None
    found: ColumnElement[bool] = PRODUCTS.c.ID.in_([call.binding["ID"]])
    return found


async def _price(unit: SqlUnit, call: OperationCall) -> float:
    return float((await unit.connection.execute(select(PRODUCTS.c.Price).where(_this(call))))[0][0])


async def _top(unit: SqlUnit, call: OperationCall) -> Result:
    count, category = call.parameters.get("count", 10), call.parameters.get("category")
    where = "" if category is None else f"&$filter=Category/Name eq '{category}'"
    return Result(value=await _found(unit, f"$orderby=Price desc&$top={count}{where}".replace(" ", "%20")))


async def _related(unit: SqlUnit, call: OperationCall) -> Result:
    assert call.binding is not None
    [mine] = await unit.connection.execute(select(PRODUCTS.c.CategoryID).where(_this(call)))
    where = f"CategoryID eq {mine[0]} and ID ne {call.binding['ID']}".replace(" ", "%20")
    return Result(value=await _found(unit, f"$filter={where}"))


async def _find(unit: SqlUnit, call: OperationCall) -> Result:
    name, price = call.parameters["name"], call.parameters["maxPrice"]
    where = f"contains(Name,'{name}') and Price le {price}".replace(" ", "%20")
    return Result(value=await _found(unit, f"$filter={where}"))


async def _statistics(unit: SqlUnit, call: OperationCall) -> Result:
    prices = [row[0] for row in await unit.connection.execute(select(PRODUCTS.c.Price))]
    mean = sum(prices) / len(prices)
    found = {"totalProducts": len(prices), "averagePrice": mean, "maxPrice": max(prices), "minPrice": min(prices)}
    return Result(value=found if call.operation.name == "GetProductStats" else mean)


async def _calculate(unit: SqlUnit, call: OperationCall) -> Result:
    given = call.parameters
    return Result(value=given["value"] * 2 if "value" in given else given["a"] + given["b"])


async def _convert(unit: SqlUnit, call: OperationCall) -> Result:
    given = call.parameters
    return Result(value=f"String: {given['input']}" if "input" in given else f"Number: {given['number']}")


async def _total(unit: SqlUnit, call: OperationCall) -> Result:
    return Result(value=await _price(unit, call) * (1 + call.parameters["taxRate"]))


async def _reduced(unit: SqlUnit, call: OperationCall) -> Result:
    given = call.parameters
    off = given["discount"] if "discount" in given else given["percentage"]
    return Result(value=await _price(unit, call) * (1 - off / 100) * (1 + given.get("tax", 0) / 100))


async def _info(unit: SqlUnit, call: OperationCall) -> Result:
    return Result(value=f"Product (Price: {await _price(unit, call):.2f}) in {call.parameters['format']} format")


async def _reprice(unit: SqlUnit, call: OperationCall) -> Result:
    given = call.parameters
    price = PRODUCTS.c.Price + given.get("amount", 0) - PRODUCTS.c.Price * given.get("percentage", 0) / 100
    changes = {"Price": price, "Version": PRODUCTS.c.Version + 1}
    await unit.connection.execute(update(PRODUCTS).where(_this(call)).values(changes))
    return Result(key=call.binding if call.operation.returns is not None else None)


async def _nothing(unit: SqlUnit, call: OperationCall) -> Result:
    return Result()


async def _reseed(unit: SqlUnit, call: OperationCall) -> Result:
    for table in TABLES.values():
        await unit.connection.execute(table.delete())
    for statement, rows in _seed():
        await unit.connection.execute_many(statement, rows)
    return Result(status=200)  # the suite wants it


_HANDLERS = {
    "GetTopProducts": _top,
    "GetProductStats": _statistics,
    "GetAveragePrice": _statistics,
    "FindProducts": _find,
    "Calculate": _calculate,
    "Convert": _convert,
    "GetTotalPrice": _total,
    "GetRelatedProducts": _related,
    "CalculatePrice": _reduced,
    "CalculateDiscount": _reduced,
    "GetInfo": _info,
    "ApplyDiscount": _reprice,
    "IncreasePrice": _reprice,
    "Activate": _nothing,
    "MarkAllAsReviewed": _nothing,
    "ResetAllPrices": _nothing,
    "ResetProducts": _nothing,
    "Process": _nothing,
    "Reseed": _reseed,
}


class _Hooks(Hooks):
    default_version = "4.0"  # as the suite reads responses


def service() -> tuple[Service, Engine]:
    """Return the service with its rows, and the engine to dispose of."""
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    event.listen(engine, "connect", lambda connection, _: install(connection))
    METADATA.create_all(engine)
    with engine.begin() as connection:
        for statement, rows in _seed():
            connection.execute(statement, rows)
    handlers = {f"{NAMESPACE}.{name}": handler for name, handler in _HANDLERS.items()}
    source = SqlSource(MODEL, EngineDatabase(engine), handlers, new_id=lambda: str(uuid.uuid4()))
    return Service(EDM, source, _Hooks(), root=""), engine
