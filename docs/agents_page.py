"""The reference page of the tools for agents."""

from __future__ import annotations

import inspect
from typing import Any

from docs.markdown import table
from promenade.web.agents.server import UNTRUSTED
from promenade.web.agents.tool import RESULT_BYTES_MAX, ROWS_MAX, Tool, schema_of
from promenade.web.agents.tools import TOOLS

__all__ = ["agents_page"]

_INTRO = inspect.cleandoc(
    f"""
    What agents can do by the Model Context Protocol: `promenade mcp`. To begin with it:
    [Let an agent help](../how-to/agents.md). Every tool has a JSON Schema of its arguments and its result, from which
    these tables are made.

    - A result is the structured content, and twice as texts: first “{UNTRUSTED}”, then the same as JSON.
    - A refusal is a result that is an error: `code`, `message`, `target` and `details`, as the interfaces give them.
    - A result has at most {ROWS_MAX} rows and {RESULT_BYTES_MAX // 1024} KiB; `more` says that there are others.
    - Numbers with a fraction are texts of digits. Arguments that are not in the table are refused.
    """
)


def agents_page() -> str:
    """Return the page of every tool with its arguments and its result."""
    rows = [
        (f"[`{tool.name}`](#{tool.name})", tool.description, "reads" if tool.reads else "writes", tool.needs)
        for tool in TOOLS.values()
    ]
    parts = ["# Tools for agents", _INTRO, table(("Tool", "What it does", "", "Scope"), rows)]
    for tool in TOOLS.values():
        parts += _section(tool)
    return "\n\n".join(parts)


def _section(tool: Tool) -> list[str]:
    arguments, result = schema_of(tool.arguments), schema_of(tool.result)
    return [
        f"## {tool.name}",
        tool.description,
        table(("Argument", "Type", "", "Meaning"), _rows(arguments)) if arguments["properties"] else "No arguments.",
        table(("Result", "Type", "Meaning"), [row[:2] + row[3:] for row in _rows(result)]),
    ]


def _rows(schema: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    parts, required = schema.get("$defs", {}), schema.get("required", [])
    return [
        (f"`{name}`", _type(one, parts), _need(name, one, required), one.get("description", _about(one)))
        for name, one in schema["properties"].items()
    ]


def _need(name: str, one: dict[str, Any], required: list[str]) -> str:
    default = one.get("default")
    if name in required:
        return "required"
    return "" if default in (None, []) else f"default `{str(default).lower()}`"


def _about(one: dict[str, Any]) -> str:
    return next((str(each["description"]) for each in one.get("anyOf", ()) if "description" in each), "")


def _type(one: dict[str, Any], parts: dict[str, Any]) -> str:
    """Return a type in words: that of a part with its members."""
    if "anyOf" in one:
        return " or ".join(_type(each, parts) for each in one["anyOf"] if each.get("type") != "null")
    if "$ref" in one:
        members = parts[one["$ref"].rpartition("/")[2]]["properties"]
        return f"object: {', '.join(f'`{name}`' for name in members)}"
    if "enum" in one:
        return "one of " + ", ".join(f"`{value}`" for value in one["enum"])
    if one.get("type") == "array":
        return f"list of {_type(one['items'], parts)}"
    bounds = [
        f"{words} {one[key]}"
        for key, words in (("minimum", "from"), ("maximum", "to"), ("maxLength", "at most"), ("maxItems", "at most"))
        if key in one
    ]
    return " ".join([str(one.get("type", "value")), *bounds])
