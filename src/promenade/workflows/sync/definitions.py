"""Promotions and article group trees that stores have priced with, stored so that their sales can be replayed.

A store compiles the definitions that the cloud sent it, so the cloud usually knows them already. An unknown definition
is accepted only if it matches its hash and can be compiled.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Mapping

import msgspec

from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.engine.fingerprint import definition_hash
from promenade.engine.view import GroupTree
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import decode_definition, decode_tree, keep_definitions, known_definitions
from promenade.store.pricing.surroundings import tree_hash
from promenade.workflows.context import Context

BESIDE_FROM = 64 * 1024  # characters; longer ones are parsed in a thread
YIELD_EVERY = 16
LENGTH_MAX = 4 * 1024 * 1024  # characters; limit of one definition, and of those written together
_HASH = re.compile(r"[0-9a-f]{64}")
_PRECISIONS = frozenset({None, 0, 1, 2, 3})


async def store_definitions(context: Context, tenant_id: str, given: Mapping[str, str]) -> None:
    """Store definitions (base64 text by hash). Invalid ones are skipped and later reported as missing."""
    given = {key: text for key, text in given.items() if _HASH.fullmatch(key)}
    if not given:
        return
    known = await context.database.read(lambda session: known_definitions(session, given), tenant=tenant_id)
    bodies: dict[str, PromotionDefinition | GroupTree] = {}
    length = 0
    for place, (key, text) in enumerate(given.items()):
        if key in known or len(text) > LENGTH_MAX:
            continue
        if length + len(text) > LENGTH_MAX:
            await _keep(context, tenant_id, bodies)
            bodies, length = {}, 0
        if place % YIELD_EVERY == YIELD_EVERY - 1:
            await asyncio.sleep(0)
        body = await asyncio.to_thread(_read, key, text) if len(text) >= BESIDE_FROM else _read(key, text)
        if body is not None:
            bodies[key] = body
            length += len(text)
    await _keep(context, tenant_id, bodies)


async def _keep(context: Context, tenant_id: str, bodies: Mapping[str, PromotionDefinition | GroupTree]) -> None:
    at = context.clock()

    async def work(session: Session) -> None:
        await keep_definitions(session, bodies, at)

    if bodies:
        await context.database.write(work, tenant=tenant_id, durable=False)


def _read(key: str, text: str) -> PromotionDefinition | GroupTree | None:
    """Decode the definition or tree with this hash; return None if the text is neither."""
    try:
        body = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    try:
        definition = decode_definition(body)
        if definition_hash(definition) == key and definition.precision in _PRECISIONS:
            compile_promotion(definition)
            return definition
    except (msgspec.MsgspecError, DefinitionError, RecursionError, UnicodeError, ValueError, OverflowError):
        pass
    try:
        tree = decode_tree(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return tree if tree_hash(tree) == key else None
