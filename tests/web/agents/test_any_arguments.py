"""Whatever arguments an agent makes up, a tool answers: never with a failure of the service, never with what it hides.

Arguments are drawn from each tool's own schema, and from anything that JSON can say.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC
from typing import Any

import httpx2
import jsonschema
import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from promenade.web.agents.server import make_server
from promenade.web.agents.service import Service
from promenade.web.agents.stdio import ClientSecret
from promenade.web.agents.tool import RESULT_BYTES_MAX, schema_of
from promenade.web.agents.tools import TOOLS
from tests.kit.api_client import SECRET
from tests.kit.examples import examples
from tests.web.agents.conftest import Agents, Threaded, shown
from tests.web.documents.test_operations import ten
from tests.web.services.admin_actions.test_moves import ten_off

THEIRS = "Secret of the other tenant"
INTERNAL = ("Traceback", "sqlalchemy", "sqlite3", "asyncpg", "site-packages", 'File "', THEIRS, SECRET)
FAILURES = {"INTERNAL_ERROR", "SERVICE_FAILED", "SERVICE_UNREACHABLE"}
"""Codes of what is no fault of the arguments."""

_CHARACTERS = st.characters(codec="utf-8")
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(_CHARACTERS),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(_CHARACTERS, max_size=8), inside, max_size=4),
    max_leaves=8,
)
_NAMES = st.sampled_from(["promotion", "document", "before", "text", "filter", "orderBy", "lines", "report", "limit"])
_WORDS = st.sampled_from(
    ["' or true or '", "1 eq 1", "..", "../admin", "%00", "\0", "\ud7ff", "a" * 300, "code: X\n", "$batch", "{", "-1",
     "day ge 2026-01-01", "promotionName eq 'x' and (", "(((((", "not not not true", "\n"]
)  # fmt: skip


def from_schema(schema: dict[str, Any], parts: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Return what a schema of a tool allows, by the keywords that these schemas have."""
    parts = schema.get("$defs", {}) if parts is None else parts
    if "$ref" in schema:
        return from_schema(parts[schema["$ref"].rpartition("/")[2]], parts)
    if "anyOf" in schema:
        return st.one_of([from_schema(one, parts) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        required = {name: from_schema(schema["properties"][name], parts) for name in schema.get("required", ())}
        optional = {name: from_schema(one, parts) for name, one in schema["properties"].items() if name not in required}
        return st.fixed_dictionaries(required, optional=optional)
    if kind == "array":
        least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
        return st.lists(from_schema(schema["items"], parts), min_size=least, max_size=most)
    return _scalars(kind, schema)


def _scalars(kind: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    if kind != "string":
        return {"boolean": st.booleans(), "null": st.none()}[kind]
    if "pattern" in schema:
        return st.from_regex(schema["pattern"])
    if "format" in schema:
        moments = {"date": st.dates(), "date-time": st.datetimes(timezones=st.just(UTC))}
        return moments[schema["format"]].map(lambda one: one.isoformat())
    least, most = schema.get("minLength", 0), min(schema.get("maxLength", 60), 60)
    return st.text(_CHARACTERS, min_size=least, max_size=most) | _WORDS.filter(lambda one: least <= len(one) <= most)


class _Asking:
    """A client of the SDK that stays connected, on a loop of its own."""

    def __init__(self, agents: Agents, stack: ExitStack) -> None:
        self._runner = stack.enter_context(asyncio.Runner())
        self._agents = agents

    def ask(self, tool: str, arguments: Any, client: str) -> types.CallToolResult:
        return self._runner.run(self._ask(tool, arguments, client))

    async def _ask(self, tool: str, arguments: Any, client: str) -> types.CallToolResult:
        transport = Threaded(self._agents.service.transport())  # type: ignore[attr-defined]
        async with httpx2.AsyncClient(base_url=self._agents.service.url, transport=transport) as http:
            server = make_server(Service(http, ClientSecret(client, SECRET), "fuzz"))
            async with Client(server) as caller:
                return await caller.call_tool(tool, arguments)


@pytest.fixture(scope="module")
def asking(agents: Agents) -> Iterator[_Asking]:
    agents.promotion(client="stranger", name=THEIRS, code="THEIRS")
    ten_off(agents, "A-FUZZ", client="promoter", name="Ours", code="OURS")
    agents.make("PosGroups", client="admin", code="FUZZ", name="Berlin", currency="EUR", IsActiveEntity=True)
    with ExitStack() as stack:
        yield _Asking(agents, stack)


def check(answer: types.CallToolResult, tool: str) -> None:
    """Assert that an answer is one, and holds nothing that its reader must not know."""
    text = shown(answer)
    if not any(word in tool for word in ("write", "price")):
        assert len(text.encode()) <= RESULT_BYTES_MAX + 8192
    for word in INTERNAL:
        assert word not in text, text
    said = json.loads(text)
    if answer.is_error:
        assert said["code"] not in FAILURES, text
        return
    jsonschema.validate(answer.structured_content, schema_of(TOOLS[tool].result))


@pytest.mark.parametrize("tool", TOOLS)
@given(data=st.data())
@settings(max_examples=examples(40))
def test_arguments_of_the_schema_are_answered(asking: _Asking, tool: str, data: st.DataObject) -> None:
    arguments = data.draw(from_schema(schema_of(TOOLS[tool].arguments)))
    for name in ("promotion", "posGroup", "report"):  # what exists is asked for often enough
        if name in arguments and name != "report" and data.draw(st.booleans()):
            arguments[name] = {"promotion": "OURS", "posGroup": "FUZZ"}[name]
    if "document" in arguments and data.draw(st.booleans()):
        arguments["document"] = ten("OURS", data.draw(st.sampled_from(["5", "0", "-1", "1e9", "[]", "~"])))
    check(asking.ask(tool, arguments, data.draw(st.sampled_from(["promoter", "admin"]))), tool)


@pytest.mark.parametrize("tool", TOOLS)
@given(arguments=st.dictionaries(_NAMES | st.text(_CHARACTERS, max_size=8), _JUNK | _WORDS, max_size=4))
@settings(max_examples=examples(15))
def test_junk_is_refused(asking: _Asking, tool: str, arguments: dict[str, Any]) -> None:
    check(asking.ask(tool, arguments, "admin"), tool)


@given(filter_=_WORDS | st.text(_CHARACTERS, min_size=1, max_size=200), order=_WORDS | st.text(max_size=50))
@settings(max_examples=examples(40))
def test_no_filter_of_a_report_fails(asking: _Asking, filter_: str, order: str) -> None:
    arguments = {"report": "PromotionPerformance", "filter": filter_, "orderBy": order}
    check(asking.ask("read_report", arguments, "admin"), "read_report")
