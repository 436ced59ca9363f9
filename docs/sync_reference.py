"""docs/reference/sync.md: the exchange between stores and the cloud, as ``promenade.web.sync`` declares it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import NODEFAULT, Meta, Raw, Struct, UnsetType

from docs import error_codes
from docs.markdown import field_remarks, table, text_of
from promenade.model.sync_sets import CANDIDATES, ROOTS, SHARES, Share, columns_of
from promenade.web.pricing.responses import Response
from promenade.web.sync.bodies import SYNC
from promenade.web.sync.messages import SyncOperation
from promenade.workflows.clockwork.deployments import HISTORY_DAYS
from promenade.workflows.replica.uploads import UploadedCancellation, UploadedCoupon, UploadedSale
from promenade.workflows.sync.deployments import HEARTBEAT_SECONDS, OFFLINE_AFTER
from promenade.workflows.sync.feed import BYTES_MAX, ROWS_MAX

__all__ = ["operations", "sync_page"]

_SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number", UUID: "UUID", datetime: "ISO-8601 time",
            Decimal: "decimal", bytes: "base64"}  # fmt: skip
# Sent as separate JSON, so that an invalid one does not affect the others.
_WITHIN: dict[str, tuple[type[Struct], ...]] = {
    "/sync/transactions": (UploadedSale, UploadedCoupon, UploadedCancellation)
}
_INTRO = inspect.cleandoc(
    f"""
    How a [store that prices on its own](../how-to/first-store.md) keeps up with the cloud. The store calls and the
    cloud answers; a store that cannot reach it goes on selling. Every address takes a bearer token of the scope
    `{SYNC}`, which opens nothing else; the token names the tenant. Bodies are JSON in UTF-8, in no envelope; unknown
    members are passed over, so that store and cloud may be of neighbouring versions. Answers to `GET
    /sync/promotions` are compressed for those who send `Accept-Encoding: gzip`.

    A store registers with its code and is given a `deploymentId`, which names it everywhere, in
    [LocalDeployments](public-api.md#localdeployments) too. To an unknown one, and to that of another tenant, every
    address answers 404 `DEPLOYMENT_NOT_FOUND`: the store registers anew. It lets itself be heard of every
    {HEARTBEAT_SECONDS} seconds; after {OFFLINE_AFTER} times that in silence it counts as `OFFLINE`. What was
    exchanged is written down in [SyncHistory](public-api.md#synchistory) for {HISTORY_DAYS} days, one row for each
    exchange that moved something.
    """
)
_CHANGES = inspect.cleandoc(
    f"""
    `GET /sync/promotions?deploymentId=<ID>` answers everything, `&cursor=<cursor>` what has changed since. A page has
    at most {ROWS_MAX} rows of roots and about {BYTES_MAX // 2**20} MiB. As long as `hasMore` is true the store asks
    on with the cursor of the page that it got, and prices by none of them: only all pages together are a state that
    the cloud had. Later pages count where they speak of the same row. Asking for a page again, after an answer that
    was lost, does no harm. A cursor that is unknown, another tenant's, or so old that the changes since are not known
    any more gives everything: the first page of that says `full`, the store forgets the pages that it had kept, and
    what no page names is gone at its end.

    Rows stand in `upserts` by set, those of parts beside those that they belong to. An upserted row of a root comes
    with all rows of its parts on the same page; they replace what the store had. `deletes` names rows of roots that
    are gone, or that nobody can be offered any more, even if the store never had them. Deletes of a page are meant
    before its upserts: a code that one row gives up may be another's at once.

    A row is an object of the stored fields under the names of the [public API](public-api.md#collections), with
    `version`. Decimals are strings, times ISO 8601 in UTC. Left out are the tenant, and links to what no store holds.
    What a field is missing is its default. Of budgets, `EXHAUSTED` is sent as `ACTIVE`: what is left for a store is
    what it was granted. Coupon codes do not come this way, but one by one, as they are leased.
    """
)
_ERASED = inspect.cleandoc(
    """
    `GET /sync/erasures?deploymentId=<ID>` answers who was erased in the cloud, `&cursor=<cursor>` who was since. For
    each ID that the store has, and each that comes later, it computes the digest with `key`; those whose digest was
    told are erased in the store, too. Digests may be told again. A cursor that is unknown, another tenant's, or of
    another key gives everything: the first page of that says `full`, and what no page from there on names is
    forgotten. So it is if the store knows another number of digests than `total` after the last page: it asks again
    without a cursor. A cloud of an older version answers 404 `NOT_FOUND`.
    """
)
_SETS = (
    "Some columns are the store's own, for in them stands what it may spend: a download leaves them alone in rows that "
    "the store has. *Own*: a new row begins with 0. *Limit*: null while the cloud's is null, else 0 until the cloud "
    "has given the store a part of it."
)
_RUNNING = " or ".join(f"`{status}`" for status in CANDIDATES)
_NOTES = {
    "Tenants": "One row without an ID: the settings that prices depend on.",
    "Promotions": f"Only those that are {_RUNNING}; in another status they are deleted for the store.",
}


def sync_page() -> str:
    """Return the page."""
    parts = ["# Sync", _INTRO, "## Addresses", _addresses()]
    seen: set[type[Struct]] = set()
    for operation in operations():
        parts += _shapes(operation, seen)
    parts += ["## What stores hold", _CHANGES, _SETS, _sets()]
    parts += ["## Erased customers", _ERASED]
    parts += ["## Errors", "In the form of [POS](pos.md#errors).", _errors()]
    return "\n\n".join(parts)


def operations() -> list[SyncOperation]:
    """Return the ``OPERATIONS`` that the modules of ``promenade.web.sync`` declare, by path."""
    found: dict[str, SyncOperation] = {}
    package = importlib.import_module("promenade.web.sync")
    for module in pkgutil.iter_modules(package.__path__):
        declared = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "OPERATIONS", ())
        found |= {f"{one.route} {one.method}": one for one in declared}
    return [one for _, one in sorted(found.items())]


def _addresses() -> str:
    rows = []
    for one in operations():
        takes = "" if one.request is None else _link(one.request)
        gives = one.answer if isinstance(one.answer, str) else _link(one.answer)
        rows.append((f"`{one.method} {one.route}`", takes, gives, one.doc))
    return table(("Address", "Request", "Answer", "What it does"), rows)


def _errors() -> str:
    return table(error_codes.COLUMNS, error_codes.error_rows(error_codes.SYNC))


def _sets() -> str:
    rows = []
    for root in ROOTS:
        wires = {column.name: column.wire for column in columns_of(root.set_name)}
        own = SHARES.get(root.set_name, {})
        words = {Share.OWN: "own", Share.LIMIT: "limit"}
        kept = ", ".join(f"`{wires[name]}` ({words[share]})" for name, share in own.items())
        parts = ", ".join(part.set_name for part in root.parts)
        rows.append((f"`{root.set_name}`", parts, kept, _NOTES.get(root.set_name, "All rows.")))
    return table(("Root", "Parts", "The store's own", "Which rows"), rows)


# ---- shapes ---------------------------------------------------------------------------------------------------------


def _shapes(operation: SyncOperation, seen: set[type[Struct]]) -> Iterator[str]:
    """Yield a heading, then every struct of an operation that has not been described yet."""
    given = (operation.request, operation.answer, *_WITHIN.get(operation.route, ()))
    fresh = [one for one in _reachable(one for one in given if isinstance(one, type)) if one not in seen]
    seen |= set(fresh)
    yield f"## {operation.route.removeprefix('/sync/').replace('-', ' ').capitalize()}"
    yield from (_shape(one) for one in fresh)


def _reachable(roots: Iterable[type[Struct]]) -> list[type[Struct]]:
    found: list[type[Struct]] = []
    waiting = list(roots)
    while waiting:
        struct = waiting.pop(0)
        if struct not in found:
            found.append(struct)
            waiting.extend(one for field in msgspec.structs.fields(struct) for one in _structs_in(field.type))
    return found


def _structs_in(annotation: Any) -> Iterator[type[Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for argument in get_args(annotation):
        if not isinstance(argument, Meta):
            yield from _structs_in(argument)


def _shape(struct: type[Struct]) -> str:
    remarks = field_remarks(struct)
    rows = []
    for field in msgspec.structs.fields(struct):
        is_required = field.default is NODEFAULT and field.default_factory is NODEFAULT
        if issubclass(struct, Response):
            nullable = "may be null" if type(None) in get_args(field.type) else ""
            note = "may be missing" if UnsetType in get_args(field.type) else nullable
        else:
            note = "required" if is_required else ""
        rows.append((f"`{field.encode_name}`", _words(field.type), note, remarks.get(field.name, "")))
    return f"### {struct.__name__}\n\n{text_of(struct)}\n\n{table(('Field', 'Type', '', 'Meaning'), rows)}"


def _words(annotation: Any) -> str:
    """Return a field's type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        kind, *metas = arguments
        return _bounded(kind, [meta for meta in metas if isinstance(meta, Meta)])
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in arguments)
    if origin in (list, tuple, frozenset):
        return f"array of {_words(arguments[0])}"
    if origin is dict or annotation is dict:
        return f"object of {_words(arguments[1])}" if arguments and arguments[1] is not Any else "object"
    if arguments:
        kinds = [one for one in arguments if one not in (type(None), UnsetType)]
        return " or ".join(dict.fromkeys(_words(one) for one in kinds))
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _link(annotation)
    return _SCALARS.get(annotation, "object" if annotation is Raw else "anything")


def _bounded(kind: Any, metas: list[Meta]) -> str:
    words = _words(kind)
    for meta in metas:
        if kind is Raw and meta.title:
            words = meta.title
        elif meta.max_length is not None and kind is str:
            words += f" of {meta.min_length} to {meta.max_length}" if meta.min_length else f"({meta.max_length})"
        elif meta.max_length is not None:
            words += f", {meta.min_length or 0} to {meta.max_length}"
        if meta.ge is not None and meta.le is not None:
            words += f" {meta.ge} to {meta.le}"
    return words


def _link(struct: type[Struct]) -> str:
    return f"[{struct.__name__}](#{struct.__name__.lower()})"
