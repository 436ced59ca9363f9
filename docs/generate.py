"""Generates docs/reference, the back office's scripts of rule types and the messages of clients/typescript from the
code: `make docs`.

With --check it only reports which of them are stale.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from prometheus_client.metrics import MetricWrapperBase

from docs import error_codes, pos_reference
from docs.admin_page import admin_page
from docs.agents_page import agents_page
from docs.app_files import app_files
from docs.markdown import table, text_of
from docs.public_page import public_api_page
from docs.reporting_reference import reporting_page
from docs.store_page import store_page
from docs.sync_reference import sync_page
from docs.typescript_messages import message_files
from promenade import cli, events, metrics
from promenade.engine.benefits import registry as benefits
from promenade.engine.conditions import condition_types
from promenade.model import EntityType, code_lists, entities, entity
from promenade.model.declare import Field, Kind, Link, Mode, Service
from promenade.workflows.documents.schema import FILE_NAME, schema_text

REFERENCE = Path(__file__).parent / "reference"
ERROR_BODY = inspect.cleandoc(
    """
    Every error has the body `{"error": {"code", "message", "target", "details"}}`: a stable code, words for people, the
    path of the field below `request` if it is about one, and all further faults of the request in the same form. A
    request with faults in its fields is `VALIDATION_FAILED` as a whole, with the first fault's message and target. 401
    carries `WWW-Authenticate`, 405 `Allow`, 429 `Retry-After`. A refused request leaves nothing behind, but for the
    `FAILED` calculation log of a confirm refused with 409. `…` stands for a value of the request.

    503 may be sent again at once, with growing waits; so may a confirm that got no answer, with the same body.
    """
)
NOT_PUBLIC = inspect.cleandoc(
    """
    What the database holds besides the [collections of the public API](public-api.md#collections). Every table of a
    tenant's rows has the tenant first in its key ([decision 8](../decisions/0008-keys-start-with-the-tenant.md)).
    """
)
KEPT_BACK = (
    "Of collections that are public, these fields are stored and never shown there. `tenantId` of parts as well."
)
EVENTS = inspect.cleandoc(
    """
    What happens, for those who subscribe with [WebhookSubscriptions](public-api.md#webhooksubscriptions): each event is
    kept with the change that it tells of, or not at all, and [sent](../how-to/webhooks.md) until the receiver has it.
    The body is an envelope:
    """
)
ENVELOPE = (
    ("`type`", "string", "The kind, one of those below."),
    ("`timestamp`", "date-time", "When it happened, in UTC."),
    ("`minorVersion`", "integer", "Minor version of the public API; fields are added, never changed."),
    ("`tenantId`", "string", "The tenant it happened to."),
    ("`data`", "object", "What the kind says below."),
)
NOTICE = "<!-- Generated from the code by `make docs`. Change the code, not this page. -->"


def main() -> int:
    """Write the pages, or with --check list the stale ones; return the exit code."""
    check = "--check" in sys.argv[1:]
    pages = {name: f"{NOTICE}\n\n{write().strip()}\n" for name, write in PAGES.items()} | {FILE_NAME: schema_text()}
    present = {path.name for path in REFERENCE.iterdir()}
    stale = [name for name, page in pages.items() if name not in present or (REFERENCE / name).read_text() != page]
    sources = app_files() | message_files()
    scripts = {path: text for path, text in sources.items() if path.read_text("utf-8") != text}
    left_over = sorted(present - set(pages))
    if check:
        for name in [*stale, *left_over]:
            sys.stderr.write(f"docs/reference/{name} is not what the code says; run: make docs\n")
        for path in scripts:
            sys.stderr.write(f"{path.name} is not what the code says; run: make docs\n")
        return 1 if stale or left_over or scripts else 0
    REFERENCE.mkdir(exist_ok=True)
    for name in stale:
        (REFERENCE / name).write_text(pages[name])
    for name in left_over:
        (REFERENCE / name).unlink()
    for path, text in scripts.items():
        path.write_text(text, "utf-8")
    return 0


def index_page() -> str:
    """Return the page that lists all others."""
    titles = [(write().partition("\n")[0].removeprefix("# "), name) for name, write in LINKED]
    links = "\n".join(f"- [{title}]({name})" for title, name in [*titles, ("Schema of promotions as files", FILE_NAME)])
    return f"# Reference\n\nGenerated from the code, so it is what the code does.\n\n{links}"


def conditions_page() -> str:
    """Return the page of every condition type with its class's docstring."""
    rows = [(f"`{code}`", text_of(one)) for code, one in condition_types().items()]
    intro = "When a promotion qualifies: the code of `Conditions.conditionType`, and when the condition holds."
    return f"# Conditions\n\n{intro}\n\n{table(('Code', 'Holds when'), rows)}"


def benefits_page() -> str:
    """Return the page of every action type and loyalty action type."""
    actions = [(f"`{code}`", text_of(one)) for code, one in benefits.benefit_types().items()]
    loyalty = [(f"`{code}`", text_of(one)) for code, one in benefits.loyalty_types().items()]
    return (
        "# Benefits\n\nWhat a promotion gives: the code of `DiscountActions.actionType`.\n\n"
        + table(("Code", "Effect"), actions)
        + "\n\n## Loyalty\n\nThe code of `LoyaltyActions.actionType`.\n\n"
        + table(("Code", "Effect"), loyalty)
    )


def pos_page() -> str:
    """Return the page of the POS service: endpoints, messages, errors."""
    parts = ["# POS", pos_reference.INTRO, "## Addresses", pos_reference.services(), pos_reference.shapes()]
    parts += ["## Errors", ERROR_BODY, table(error_codes.COLUMNS, error_codes.error_rows(error_codes.POS))]
    return "\n\n".join(parts)


# Those of the operating system on Linux, of several processes as if they were one.
_PROCESS_METRICS = (
    ("process_cpu_seconds_total", "counter", "Processor time of all processes of the server."),
    ("process_resident_memory_bytes", "gauge", "Memory of all of them; what they share is counted once for each."),
    ("process_virtual_memory_bytes", "gauge", "Their address spaces."),
    ("process_open_fds", "gauge", "Open files and connections of the one that has most."),
    ("process_max_fds", "gauge", "How many one process may open."),
    ("process_start_time_seconds", "gauge", "When the youngest of them started, in seconds since 1970."),
)


def metrics_page() -> str:
    """Return the page of every metric of GET /metrics."""
    own = [value for value in vars(metrics).values() if isinstance(value, MetricWrapperBase)]
    rows = []
    for metric in own:
        (family,) = metric.describe()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = ", ".join(f"`{label}`" for label in metric._labelnames)
        rows.append((f"`{name}`", family.type, labels, family.documentation))
    of_process = [(f"`{name}`", kind, "", text) for name, kind, text in _PROCESS_METRICS]
    return f"# Metrics\n\n{table(('Name', 'Type', 'Labels', 'Meaning'), [*rows, *of_process])}"


def entities_page() -> str:
    """Return the page of stored data that the public API does not show."""
    kept = [(entity, field) for entity in entities() if entity.public is not Mode.NONE for field in kept_back(entity)]
    rows = [
        (f"[{entity.set_name}](public-api.md#{entity.set_name.lower()})", f"`{field.wire}`", type_of(field), field.doc)
        for entity, field in kept
    ]
    parts = ["# Entities that are not public", NOT_PUBLIC, "## Fields kept back", KEPT_BACK]
    parts.append(table(("Collection", "Field", "Type", "Meaning"), rows))
    parts += [entity_section(entity) for entity in entities() if is_shown_nowhere(entity)]
    return "\n\n".join(parts)


def is_shown_nowhere(entity: EntityType) -> bool:
    """Return whether no service has the entity."""
    return entity.public is Mode.NONE and entity.admin is Mode.NONE and entity.reporting is Mode.NONE


def kept_back(entity: EntityType) -> list[Field]:
    """Return the stored fields that the public API does not show."""
    hidden = [field for field in entity.fields if Service.PUBLIC in field.hidden_from or field.write_only]
    return [field for field in hidden if not field.virtual and field.name != "tenant_id"]


def entity_section(entity: EntityType) -> str:
    """Return the section of an entity that the public API does not show."""
    rows = [field_row(field) for field in entity.fields] + [link_row(link) for link in entity.links]
    parts = [f"## {entity.set_name}", entity.doc]
    parts.append(table(("Field", "Type", "", "Meaning"), rows))
    return "\n\n".join(parts)


def field_row(field: Field) -> tuple[str, str, str, str]:
    """Return the row of one field of an entity."""
    notes = [
        note
        for holds, note in (
            (field.required and not field.read_only, "required"),
            (field.read_only and not field.virtual, "read-only"),
            (field.virtual, "computed"),
            (field.write_only, "write-only"),
            (
                field.default is not None,
                f"default `{str(field.default).lower() if field.kind is Kind.BOOLEAN else field.default}`",
            ),
            (field.deprecated, "deprecated"),
        )
        if holds
    ]
    meaning = field.doc
    if field.code_list:
        meaning += f" A value of [{field.code_list}](code-lists.md#{field.code_list.lower()})."
    elif field.choices:
        meaning += " One of " + ", ".join(f"`{choice}`" for choice in field.choices) + "."
    return f"`{field.wire}`", type_of(field), ", ".join(notes), meaning


def type_of(field: Field) -> str:
    """Return the type as the specification writes it."""
    if field.kind is Kind.TEXT:
        return f"String({field.length})" if field.length else "String"
    if field.kind is Kind.DECIMAL:
        return f"Decimal({field.precision},{field.scale})"
    return {Kind.UUID: "UUID", Kind.TEXTS: "Collection(String)", Kind.BLOB: "Binary"}.get(
        field.kind, str(field.kind).capitalize()
    )


def link_row(link: Link) -> tuple[str, str, str, str]:
    """Return the row of one association of an entity."""
    notes = "required" if link.required and not link.read_only else "read-only" if link.read_only else ""
    return f"`{link.property_wire}`", f"UUID of {place_of(link.target)}", notes, link.doc


def place_of(target: str) -> str:
    """Return a link to the description of an entity."""
    page = (
        ""
        if is_shown_nowhere(entity(target))
        else "public-api.md"
        if entity(target).public is not Mode.NONE
        else "admin.md"
        if entity(target).admin is not Mode.NONE
        else "reporting.md"
    )
    return f"[{target}]({page}#{target.lower()})"


def code_lists_page() -> str:
    """Return the page of every code list with its values."""
    parts = ["# Code lists", "Closed vocabularies, the same for every tenant."]
    for code_list in code_lists().values():
        rows = [(f"`{value.code}`", value.description or value.name) for value in code_list.values]
        parts += [f"## {code_list.set_name}", code_list.doc, table(("Code", "Meaning"), rows)]
    return "\n\n".join(parts)


def events_page() -> str:
    """Return the page of every event, its payload and since when it exists."""
    parts = ["# Events", EVENTS, table(("Field", "Type", "Meaning"), ENVELOPE)]
    parts.append("Kinds: " + ", ".join(f"[{kind}](#{anchor_of(kind)})" for kind in sorted(events.events())) + ".")
    for kind, event in events.events().items():
        (schema,) = msgspec.json.schema_components([event])[1].values()
        properties: dict[str, dict[str, Any]] = schema["properties"]
        rows = [(f"`{name}`", json_type(one), one.get("description", "")) for name, one in properties.items()]
        names = {field.name: field.encode_name for field in msgspec.structs.fields(event)}
        subject = " or ".join(f"`{names[name]}`" for name in event.about)
        parts += [f"## {kind}", f"{text_of(event)} Since minor version {event.since}. Its subject is {subject}."]
        parts.append(table(("Field", "Type", "Meaning"), rows))
    return "\n\n".join(parts)


def anchor_of(title: str) -> str:
    """Return the anchor of a heading."""
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def json_type(schema: dict[str, Any]) -> str:
    """Return a JSON schema's type in a word or two."""
    if "anyOf" in schema:
        return " or ".join(json_type(one) for one in schema["anyOf"])
    if "items" in schema:
        return f"array of {json_type(schema['items'])}"
    return str(schema.get("format", schema.get("type", "value")))


def command_line_page() -> str:
    """Return the page of every command with its options and their environment variables."""
    parts = ["# Command line"]
    for path, command in commands("promenade", cli.cli):
        if isinstance(command, click.Group):
            continue
        arguments = [
            one.make_metavar(click.Context(command)) for one in command.params if isinstance(one, click.Argument)
        ]
        parts += [f"## {' '.join([path, *arguments])}", inspect.cleandoc(command.help or "")]
        rows = [option_row(one) for one in command.params if isinstance(one, click.Option) and not one.hidden]
        if rows:
            parts.append(table(("Option", "Environment variable", "Meaning"), rows))
    return "\n\n".join(parts)


def commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield the command and all its subcommands."""
    yield path, command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from commands(f"{path} {name}", command.commands[name])


def option_row(option: click.Option) -> tuple[str, str, str]:
    """Return the row of one option."""
    variable = f"`{option.envvar}`" if isinstance(option.envvar, str) else ""
    default = option.default if option.show_default else None
    shown = ", ".join(default) if isinstance(default, tuple) else default
    meaning = option.help or ""
    if shown is not None:
        meaning += f" Default: `{shown}`."
    return ", ".join(f"`{name}`" for name in option.opts), variable, meaning


LINKED: tuple[tuple[str, Callable[[], str]], ...] = (
    ("public-api.md", public_api_page),
    ("admin.md", admin_page),
    ("reporting.md", reporting_page),
    ("pos.md", pos_page),
    ("local-store.md", store_page),
    ("sync.md", sync_page),
    ("agents.md", agents_page),
    ("conditions.md", conditions_page),
    ("benefits.md", benefits_page),
    ("entities.md", entities_page),
    ("code-lists.md", code_lists_page),
    ("events.md", events_page),
    ("error-codes.md", error_codes.error_codes_page),
    ("metrics.md", metrics_page),
    ("command-line.md", command_line_page),
)
PAGES: dict[str, Callable[[], str]] = {"README.md": index_page, **dict(LINKED)}

if __name__ == "__main__":
    sys.exit(main())
