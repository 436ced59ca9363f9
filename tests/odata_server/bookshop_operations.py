"""The operations of the bookshop; see `tests.odata_server.bookshop`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sqlalchemy import func, select, update

from odata_server.errors import bad_request
from odata_server.source import Nested, OperationCall, Payload, Result
from odata_server.sql_source import Handler, SqlUnit
from tests.odata_server.bookshop_edm import EDM
from tests.odata_server.bookshop_tables import BOOKS, ORDERS

__all__ = ["HANDLERS"]

_CENT = Decimal("0.01")


def _book(call: OperationCall) -> str:
    assert call.binding is not None
    return str(call.binding["ID"])


async def _order(unit: SqlUnit, call: OperationCall) -> Result:
    """Order some copies, which reduces the stock."""
    quantity = call.parameters["quantity"]
    found = await unit.connection.execute(select(BOOKS.c.stock, BOOKS.c.price).where(BOOKS.c.id == _book(call)))
    stock, price = found[0].stock, found[0].price
    if not 0 < quantity <= stock:
        raise bad_request("OUT_OF_STOCK", f"quantity: there are {stock} in stock.", "quantity")
    await unit.connection.execute(update(BOOKS).where(BOOKS.c.id == _book(call)).values(stock=stock - quantity))
    number = (await unit.connection.execute(select(func.max(ORDERS.c.number))))[0][0]
    item = Payload({"position": 1, "book_ID": _book(call), "quantity": quantity, "price": price})
    orders = EDM.entity_sets["Orders"]
    key = await unit.create(
        orders, Payload({"number": number + 1, "customer": str(unit.caller)}, {"items": Nested((item,))})
    )
    return Result(key=key, entity_set=orders)


async def _restock(unit: SqlUnit, call: OperationCall) -> Result:
    more = BOOKS.c.stock + call.parameters["quantity"]
    changes = {"stock": more, "version": BOOKS.c.version + 1}
    await unit.connection.execute(update(BOOKS).where(BOOKS.c.id == _book(call)).values(changes))
    return Result()


async def _reprice(unit: SqlUnit, call: OperationCall) -> Result:
    rows = await unit.connection.execute(select(BOOKS.c.id, BOOKS.c.price))
    factor = 1 + call.parameters["percent"] / 100
    for row in rows:
        price = (row.price * factor).quantize(_CENT)
        await unit.connection.execute(update(BOOKS).where(BOOKS.c.id == row.id).values(price=price))
    return Result(value=len(rows))


async def _close_shop(unit: SqlUnit, call: OperationCall) -> Result:
    return Result(value=f"closed: {call.parameters.get('reason')}")


async def _crash(unit: SqlUnit, call: OperationCall) -> Result:
    await unit.connection.execute(update(BOOKS).values(stock=0))
    raise RuntimeError("the till is on fire")


async def _price_in(unit: SqlUnit, call: OperationCall) -> Result:
    price = (await unit.connection.execute(select(BOOKS.c.price).where(BOOKS.c.id == _book(call))))[0][0]
    factor = 1 - call.parameters["discount"] if "discount" in call.parameters else call.parameters["rate"]
    return Result(value=(price * factor).quantize(_CENT))


async def _cheapest(unit: SqlUnit, call: OperationCall) -> Result:
    rows = await unit.connection.execute(select(BOOKS.c.id).order_by(BOOKS.c.price, BOOKS.c.id).limit(1))
    return Result(key={"ID": rows[0][0]}) if rows else Result()


async def _greet(unit: SqlUnit, call: OperationCall) -> Result:
    title = f"{call.parameters['title']} " if "title" in call.parameters else ""
    return Result(value=f"{call.parameters.get('word', 'Good morning')}, {title}{call.parameters['name']}!")


async def _stock_report(unit: SqlUnit, call: OperationCall) -> Result:
    rows = await unit.connection.execute(
        select(BOOKS.c.title, BOOKS.c.stock, BOOKS.c.price).where(BOOKS.c.stock > 40).order_by(BOOKS.c.title)
    )
    return Result(value=[{"title": one.title, "stock": one.stock, "value": one.stock * one.price} for one in rows])


HANDLERS: Mapping[str, Handler] = {
    "Bookshop.order": _order,
    "Bookshop.restock": _restock,
    "Bookshop.reprice": _reprice,
    "Bookshop.closeShop": _close_shop,
    "Bookshop.crash": _crash,
    "Bookshop.priceIn": _price_in,
    "Bookshop.cheapest": _cheapest,
    "Bookshop.greet": _greet,
    "Bookshop.stockReport": _stock_report,
}
