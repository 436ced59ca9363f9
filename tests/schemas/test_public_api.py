"""The public API, tested with requests from its OpenAPI document: no failure, no undocumented response, no leak."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from promenade.web.services.public_openapi import render_public_openapi
from tests.kit.databases import DIALECTS
from tests.schemas.conftest import Served
from tests.schemas.nearly_sound import EDM, PublicRequests
from tests.schemas.running import Findings, run_schemathesis

# `/Campaigns`, `/Campaigns({ID})`, `/Campaigns/$count`, `/createPromotionFromTemplate`, `/$batch`, ...
_GENERIC = re.compile(r"^/[^/]*(/\$count)?$")
_SHARES = 60  # one path in so many, drawn by the seed; the soak sends requests to all


def _is_turn(served: Served, name: str, shares: int) -> bool:
    """Return whether a path is tested on this database in this session; others are tested on the other database."""
    turn = zlib.crc32(name.encode()) + served.session_seed + DIALECTS.index(served.dialect) * shares // 2
    return turn % shares == 0


def _run(served: Served, seed: int, choose: Callable[[str, str], bool], **more: Any) -> Findings:
    requests = PublicRequests(seed)
    return run_schemathesis(
        json.loads(render_public_openapi(whole=True)),
        f"{served.service.url}/api/v1",
        served.token,
        seed=seed,
        choose=choose,
        prepare=requests.prepare,
        judge=requests.judge,
        **more,
    )


@pytest.mark.timeout(900)
def test_every_collection_answers_as_its_document_says(served: Served, seed: int) -> None:
    """Every collection in every session, on one of the databases; in another session on the other."""

    def choose(_method: str, path: str) -> bool:
        return bool(_GENERIC.match(path)) and _is_turn(served, _set_name(path), 2)

    found = _run(served, seed, choose, examples=3)

    found.assert_none(served.service.output())
    lists = {f"GET /{name}" for name in EDM.entity_sets if _is_turn(served, name, 2)}
    assert {label for label in lists if not found.succeeded(label)} == set(), "these were never read"


@pytest.mark.timeout(900)
def test_boundaries_and_what_lies_below_entities_answer_as_the_document_says(served: Served, seed: int) -> None:
    """A share of all paths, varying with the seed: every boundary of every parameter and property."""

    def choose(_method: str, path: str) -> bool:
        return _is_turn(served, path, _SHARES)

    found = _run(served, seed, choose, examples=1, coverage=True)

    found.assert_none(served.service.output())


def _set_name(path: str) -> str:
    return path.strip("/").partition("/")[0].partition("(")[0]


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_many_random_requests_are_answered_as_documented(served: Served, seed: int) -> None:
    found = _run(served, seed, lambda _method, _path: True, examples=20, coverage=True)

    found.assert_none(served.service.output())
