"""Generates the messages of the package in clients/typescript from the published description of the POS interface.

`requests.ts` and `answers.ts` hold the types, `shapes.ts` what the program knows of them while it runs.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from promenade.web.services.pos_openapi import render_pos_openapi

__all__ = ["message_files"]

FOLDER = Path(__file__).parent.parent / "clients/typescript/src"
NOTICE = "// Generated from the code by `make docs`. Change the code, not this file."
WIDTH = 120
LINES_MAX = 399  # the limit in eslint.config.mjs, without the line that disables it
NOT_OFFERED = {"ErrorResponse", "ImportArticlesBatchRequest", "ImportArticlesBatchResponse"}
LEFT_OUT = {  # what a till must not send, and what the service ignores
    ("EvaluateHeader", "transactionCounter"),
    ("BasketItem", "articleGroup"),
    ("ConfirmBasketItem", "articleGroup"),
    ("ConfirmHeader", "headerReference"),
}
EMPTIED = {"Article"}  # whose members have a meaning when they are null
TYPES = {"text": "string", "decimal": "Decimal", "integer": "number", "boolean": "boolean"}
DECIMAL = """/** A number of the interface as text, such as "8.69": exact, and never a binary fraction. */
export type Decimal = string;
"""
SHAPES = """
/**
 * The members of each message. `?`: may be left out; `[]`: a list; `|null`: may be null. A decimal is text here and a
 * number or text on the wire.
 */
export const SHAPES = """


def message_files() -> dict[Path, str]:
    """Return the files of messages with their contents."""
    published = json.loads(render_pos_openapi())
    kinds = published["components"]["schemas"]
    values = {f"#/components/schemas/{name}": kind for name, kind in kinds.items() if "properties" not in kind}
    schemas = {name: _with_values(kind, values) for name, kind in kinds.items() if "properties" in kind}
    messages = {
        name.removesuffix("V2"): {
            field: one for field, one in schema["properties"].items() if (name, field) not in LEFT_OUT
        }
        for name, schema in schemas.items()
        if name not in NOT_OFFERED
    }
    about = {name.removesuffix("V2"): schema for name, schema in schemas.items()}
    answered = _outcomes(published)
    outcomes = [name for name in messages if name in answered]
    answers = _reached(messages, [*outcomes])
    requests = _reached(messages, [name for name in messages if name.endswith("Request")])
    of_requests = {name: one for name, one in messages.items() if name in requests}
    of_answers = {name: one for name, one in messages.items() if name in answers and name not in requests}
    both = sorted(set(answers) & set(requests))
    shapes = {name: dict(_shape(one, about[name])) for name, one in (of_requests | of_answers).items()}
    used = f'import type {{{", ".join(["Decimal", *both])}}} from "./requests.js";'
    return {
        FOLDER / "requests.ts": _file(DECIMAL, *_interfaces(of_requests, about, True)),
        FOLDER / "answers.ts": _file(f"{used}\n", *_interfaces(of_answers, about, False), _table(outcomes)),
        FOLDER / "shapes.ts": _file(f"{SHAPES.strip()} {_literal(shapes)} as const;\n"),
    }


def _with_values(schema: Any, values: dict[str, Any]) -> Any:
    """Return a schema in which named values, such as codes, stand where they are used."""
    if isinstance(schema, list):
        return [_with_values(one, values) for one in schema]
    if not isinstance(schema, dict):
        return schema
    named = values.get(schema.get("$ref", ""), {})
    return named | {key: _with_values(one, values) for key, one in schema.items() if not (named and key == "$ref")}


def _file(*parts: str) -> str:
    text = "\n".join([f"{NOTICE}\n", *parts])
    return text if text.count("\n") <= LINES_MAX else f"/* eslint-disable max-lines */\n{text}"


def _outcomes(published: dict[str, Any]) -> set[str]:
    """Return the messages that operations are answered with when they succeed."""
    operations = [operation for path in published["paths"].values() for operation in path.values()]
    successes = [one for operation in operations for status, one in operation["responses"].items() if status < "3"]
    schemas = [success["content"]["application/json"]["schema"] for success in successes if "content" in success]
    return {_kind(schema) for schema in schemas}


def _reached(messages: dict[str, dict[str, Any]], names: list[str]) -> list[str]:
    """Return messages and those that they contain."""
    found: list[str] = []
    while names:
        name = names.pop()
        if name not in found:
            found.append(name)
            kinds = (_kind(one) for one in messages[name].values())
            names += [kind.removesuffix("[]") for kind in kinds if kind.removesuffix("[]") in messages]
    return found


def _kind(schema: dict[str, Any]) -> str:
    """Return text, time, decimal, integer, boolean, object, or the name of a message; with `[]` a list of them."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2].removesuffix("V2"))
    options = [one for one in _options(schema) if one.get("type") != "null"]
    if any(one.get("type") == "number" for one in options):
        return "decimal"
    if options != [schema]:
        return _kind({"format": schema.get("format"), **options[0]})
    if schema["type"] == "array":
        return f"{_kind(schema['items'])}[]"
    if schema.get("format") == "date-time":
        return "time"
    return {"string": "text"}.get(schema["type"], str(schema["type"]))


def _options(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of which a value fits one."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    return [schema] if choices is None else [one for choice in choices for one in _options(choice)]


def _may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in _options(schema)


def _shape(fields: dict[str, Any], about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field, schema in fields.items():
        optional = "" if field in about["required"] else "?"
        yield field, f"{_kind(schema)}{optional}{'|null' if _may_be_null(schema) else ''}"


def _interfaces(messages: dict[str, dict[str, Any]], about: dict[str, Any], is_request: bool) -> Iterator[str]:
    for name, fields in messages.items():
        yield _comment(about[name].get("description", ""), "")
        yield f"export interface {name} {{"
        for field, schema in fields.items():
            if "description" in schema:
                yield _comment(schema["description"], "  ")
            yield f"  {field}{_typed(name, schema, field in about[name]['required'], is_request)};"
        yield "}\n"


def _typed(name: str, schema: dict[str, Any], is_required: bool, is_request: bool) -> str:
    kind = _kind(schema)
    of_one = kind.removesuffix("[]")
    one = {"time": "Date | string" if is_request else "string", "object": "Readonly<Record<string, unknown>>"}.get(
        of_one, TYPES.get(of_one, of_one)
    )
    many = f"readonly {one}[]" if is_request else f"{one}[]"
    null = " | null" if _may_be_null(schema) and (not is_request or name in EMPTIED) else ""
    left_out = "" if is_required or not is_request else " | undefined"
    return f"{'' if is_required else '?'}: {many if kind != of_one else one}{null}{left_out}"


def _comment(text: str, indent: str) -> str:
    if len(f"{indent}/** {text} */") <= WIDTH:
        return f"{indent}/** {text} */"
    lines = textwrap.wrap(text, WIDTH - len(indent) - 3, break_on_hyphens=False)
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"])


def _table(outcomes: list[str]) -> str:
    rows = "\n".join(f"  {name}: {name};" for name in outcomes)
    return f"/** What the operations are answered with, by name. */\nexport interface Answers {{\n{rows}\n}}\n"


def _literal(shapes: dict[str, dict[str, str]]) -> str:
    return "{\n" + ",\n".join(f"  {name}: {_object(fields)}" for name, fields in shapes.items()) + "\n}"


def _object(fields: dict[str, str]) -> str:
    return "{\n" + ",\n".join(f"    {field}: {json.dumps(kind)}" for field, kind in fields.items()) + "\n  }"
