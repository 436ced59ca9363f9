"""The ``if`` of a JSON batch: a Boolean expression over the results of earlier requests (JSON Format 4.01, 19.1).

``$1/$succeeded`` is whether request 1 succeeded, ``$1`` the body of its response and ``$1/price`` a part of that.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from odata_server.batch.references import Earlier, failed_dependency
from odata_server.errors import ODataError, bad_request
from odata_server.expressions import Binary, Expression, In, ListExpression, Literal, Unary
from odata_server.parse import parse_filter

__all__ = ["holds"]

_LENGTH_MAX = 4096
_TOKEN = re.compile(r"'(?:[^']|'')*'|\$([A-Za-z0-9._~-]+)((?:/[$@A-Za-z_][\w.@]*|/\d+)*)", re.ASCII)
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_JSON = msgspec.json.Decoder(float_hook=Decimal)


def holds(condition: str, known: Mapping[str, Earlier]) -> bool:
    """Return whether a condition is true. Raises `ODataError` if it is malformed or uses more than comparisons."""
    if len(condition) > _LENGTH_MAX:
        raise bad_request("EXPRESSION_TOO_LARGE", f"A condition has at most {_LENGTH_MAX} characters.", "if")
    text = _TOKEN.sub(lambda found: _value(found, known), condition)
    value = _evaluate(parse_filter(text))
    if not isinstance(value, bool) and value is not None:
        raise bad_request("QUERY_SYNTAX", f"The condition {condition[:200]!r} is neither true nor false.", "if")
    return value is True


def _value(found: re.Match[str], known: Mapping[str, Earlier]) -> str:
    name, path = found[1], found[2] or ""
    if name is None:  # a quoted string
        return found[0]
    earlier = known.get(name)
    if earlier is None:
        raise bad_request("UNKNOWN_REFERENCE", f"There is no request {name[:50]!r} before this one.", "if")
    if path == "/$succeeded":
        return "true" if earlier.succeeded else "false"
    value = _body(earlier)
    for part in path.split("/")[1:]:
        value = value.get(part) if isinstance(value, dict) else None
    return _literal(value)


def _body(earlier: Earlier) -> Any:
    if earlier.response is None:
        return None
    try:
        return _JSON.decode(earlier.response.body)
    except (msgspec.DecodeError, ValueError, ArithmeticError, RecursionError):
        return earlier.response.body.decode(errors="replace")


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Decimal):
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise _beyond()


def _beyond() -> ODataError:
    return failed_dependency("Conditions compare values by eq, ne, gt, ge, lt, le and in, joined by and, or and not.")


def _evaluate(expression: Expression) -> Any:
    match expression:
        case Literal():
            return expression.value
        case Unary(operator="not"):
            value = _evaluate(expression.operand)
            return None if value is None else _boolean(value) is False
        case Binary(operator="and" | "or"):
            return _joined(expression)
        case Binary(operator=name) if name in _COMPARE:
            return _compared(name, _evaluate(expression.left), _evaluate(expression.right))
        case In(left=left, right=ListExpression(items=items)):
            value = _evaluate(left)
            return any(_compared("eq", value, _evaluate(one)) for one in items)
    raise _beyond()


def _joined(expression: Binary) -> bool | None:
    """Evaluate ``and`` and ``or`` with three values: true, false, null."""
    decisive = expression.operator == "or"
    values = [_evaluate(side) for side in (expression.left, expression.right)]
    known = [_boolean(value) for value in values if value is not None]
    if decisive in known:
        return decisive
    return None if len(known) < 2 else not decisive


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _beyond()
    return value


def _compared(name: str, left: Any, right: Any) -> bool:
    if left is None or right is None:
        return {"eq": left is right, "ne": left is not right}.get(name, False)
    try:
        return _COMPARE[name](left, right)
    except TypeError:
        raise _beyond() from None
