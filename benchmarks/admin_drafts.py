"""The cost of open drafts for other users, and the speed of editing itself: `/admin` and evaluate over HTTP."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.databases import places
from benchmarks.load import get, post
from benchmarks.measure import milliseconds, show
from benchmarks.over_http import Target, load, rate, running, token
from benchmarks.rows.retail import identity
from benchmarks.scale import Scale
from benchmarks.shop import Shop, open_shop
from promenade.app import clock, opened_context
from promenade.settings import Settings
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import authenticate_client, create_client

__all__ = ["run"]

PROMOTIONS = 10_000
DRAFTS = 1_000
EDITORS = 50
BASKETS = 100
ROUNDS = 3
CHUNK = 2_000
SECRET = "of-this-benchmark-only"
MADE = datetime(2026, 1, 1, tzinfo=UTC)
_PAGE = "$orderby=name&$top=50&$count=true"
LISTS = {
    "list: active": f"$filter=status eq 'DRAFT' and validTo gt 2026-06-01T00:00:00Z&{_PAGE}",
    "list: merged with own drafts": f"$filter=IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null&{_PAGE}",
    "list: own drafts": f"$filter=IsActiveEntity eq false&{_PAGE}",
}


def run(scale: Scale) -> None:
    """Print every table of this part."""
    for place in places():
        _measure(place.database, place.url, place.home, scale)


def _measure(database: str, url: str, home: Path, scale: Scale) -> None:
    shop = open_shop(url)
    seconds, rounds = scale.of(5.0, 1.0, 0.05), scale.of(ROUNDS, ROUNDS, 1)
    drafts, editing = scale.of(DRAFTS, DRAFTS // 10, 10), scale.of(300, 30, 2)
    promotions, editor_count = scale.of(PROMOTIONS, PROMOTIONS, 200), scale.of(EDITORS, EDITORS, 5)
    asyncio.run(_fill(url, shop, promotions, editor_count))
    with running(url, home) as (port, process_id):
        target = Target(port, token(port, shop.client_id, shop.client_secret), process_id, shop)
        editors = [_bearer(token(port, f"editor-{number}", SECRET)) for number in range(editor_count)]
        asked = _asked(shop, target, editors[0], promotions)
        without = _best(target, asked, rounds, seconds)
        taken_up = _take_up(target, editors, drafts)
        beside = _best(target, asked, rounds, seconds)
        cycles = _cycles(target, editors[1], range(drafts, drafts + editing))
    rows = [
        (name, *_figures(without[name]), *_figures(beside[name]), *_ratios(without[name], beside[name]))
        for name in asked
    ]
    show(
        f"Without and with {drafts:,} open drafts of {editor_count} users on {database}: one client, one process",
        ("request", "p50 ms", "CPU us", "with: p50", "CPU us", "ratio p50", "of CPU"),
        rows,
        f"Best of {rounds} rounds. {promotions:,} promotions beside those of the retailer. The lists are filtered, "
        f"ordered and counted; their user has {drafts // editor_count} of the drafts, and none before.",
    )
    show(
        f"Editing on {database}: one client, each commit durable",
        ("step", "per second", "p50 ms", "p99 ms"),
        [
            ("draftEdit", f"{rate(taken_up):,.0f}", milliseconds(taken_up["p50"]), milliseconds(taken_up["p99"])),
            (
                "draftEdit, PATCH, draftActivate",
                f"{rate(cycles) / 3:,.0f}",
                milliseconds(3 * cycles["seconds"] * 1e9 / cycles["count"]),
                "",
            ),
        ],
        "Of the three steps together the time is the mean.",
    )


def _best(target: Target, asked: dict[str, list[str]], count: int, seconds: float) -> dict[str, dict[str, Any]]:
    """Return, for each, the round with the least processor time, after one unmeasured round: noise only adds."""
    for requests in asked.values():
        load(target, requests, clients=1, limit=max(10, len(requests)))
    rounds = [
        {name: load(target, requests, clients=1, seconds=seconds / count) for name, requests in asked.items()}
        for _ in range(count)
    ]
    return {name: min((one[name] for one in rounds), key=lambda result: result["cpu"]) for name in asked}


def _figures(result: dict[str, Any]) -> tuple[str, str]:
    return milliseconds(result["p50"]), f"{result['cpu'] * 1e6:,.0f}"


def _ratios(without: dict[str, Any], beside: dict[str, Any]) -> tuple[str, ...]:
    return tuple(f"{beside[name] / without[name]:.2f}" if without[name] else "-" for name in ("p50", "cpu"))


def _asked(shop: Shop, target: Target, editor: dict[str, str], promotions: int) -> dict[str, list[str]]:
    """Return the requests to measure, by name."""
    till = _bearer(target.token)
    found = {
        f"evaluate {lines} lines": [
            post("/pos/v2/evaluate", shop.evaluate_body(number, lines), till) for number in range(BASKETS)
        ]
        for lines in (5, 20)
    }
    for name, options in LISTS.items():
        found[name] = [get(f"/admin/Promotions?{quote(options, safe='$=&(),')}", editor)]
    found["one promotion"] = [
        get(f"/admin/Promotions({identity('Promotions', number)})", editor) for number in range(0, promotions, 37)
    ]
    return found


def _bearer(of: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {of}"}


# ---- editing ------------------------------------------------------------------------------------------------------


def _take_up(target: Target, editors: list[dict[str, str]], drafts: int) -> dict[str, Any]:
    """Return the draftEdit requests for the first promotions, by the editors in turn."""
    requests = [_edit(number, editors[number % len(editors)]) for number in range(drafts)]
    return load(target, requests, clients=1, limit=len(requests))


def _cycles(target: Target, editor: dict[str, str], numbers: range) -> dict[str, Any]:
    """Return the whole edit cycle of each promotion; three requests each."""
    requests = [request for number in numbers for request in _cycle(number, editor)]
    return load(target, requests, clients=1, limit=len(requests))


def _cycle(number: int, editor: dict[str, str]) -> tuple[str, str, str]:
    draft = f"/admin/Promotions(ID={identity('Promotions', number)},IsActiveEntity=false)"
    change = post(draft, json.dumps({"description": f"Changed {number}"}).encode(), editor)
    return (
        _edit(number, editor),
        f"PATCH{change.removeprefix('POST')}",
        post(f"{draft}/AdminService.draftActivate", b"{}", editor),
    )


def _edit(number: int, editor: dict[str, str]) -> str:
    active = f"/admin/Promotions(ID={identity('Promotions', number)},IsActiveEntity=true)"
    return post(f"{active}/AdminService.draftEdit", b'{"PreserveChanges":true}', editor)


# ---- rows ---------------------------------------------------------------------------------------------------------


async def _fill(url: str, shop: Shop, promotions: int, editors: int) -> None:
    """Create the promotions, none of which is active, and the editors, for the shop's tenant."""
    async with opened_context(Settings(database=url, data_dir=Path())) as context:
        till = await authenticate_client(context.database, shop.client_id, shop.client_secret, at=clock())
        assert till is not None
        for first in range(0, promotions, CHUNK):
            rows = [_promotion(number) for number in range(first, min(first + CHUNK, promotions))]

            async def work(session: Session, rows: list[dict[str, Any]] = rows) -> None:
                await insert_rows(session, "Promotions", rows, at=MADE, by="benchmark")

            await context.database.write(work, tenant=till.tenant_id, durable=False)
        for number in range(editors):
            await create_client(
                context.database,
                client_id=f"editor-{number}",
                secret=SECRET,
                tenant_id=till.tenant_id,
                scopes=("svc.PromotionManager",),
                at=clock(),
            )


def _promotion(number: int) -> dict[str, Any]:
    return {
        "ID": identity("Promotions", number),
        "code": f"B{number:06}",
        "name": f"Promotion {number * 7919 % PROMOTIONS:05}",
        "description": "Two of these for the price of one, while stocks last.",
        "status": ("DRAFT", "INACTIVE")[number % 2],
        "validFrom": MADE,
        "validTo": MADE + timedelta(days=number % 365),
        "priority": number % 100,
    }
