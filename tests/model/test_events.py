"""Events have the names and payloads of the specification and the data model page."""

from __future__ import annotations

import ast
import inspect
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from promenade.events import BudgetExhausted, Envelope, Event, event, events
from promenade.interface import MINOR_VERSION
from promenade.model.texts.rules import LANGUAGES

KINDS = """
PROMOTION_SUBMITTED PROMOTION_APPROVED PROMOTION_REJECTED PROMOTION_ACTIVATED PROMOTION_DEACTIVATED PROMOTION_UPDATED
PROMOTION_EXPIRED PROMOTION_ARCHIVED CAMPAIGN_CREATED CAMPAIGN_STARTED CAMPAIGN_ENDED CAMPAIGN_LOCKED CAMPAIGN_UNLOCKED
BUDGET_THRESHOLD_REACHED BUDGET_EXHAUSTED COUPON_ISSUED COUPON_REDEEMED COUPON_EXPIRED COUPON_BATCH_COMPLETED
COUPON_BATCH_FAILED ArticleImportJobs.Completed ArticleImportJobs.Failed ImportJobs.Completed ImportJobs.Failed
TRANSACTION_CONFIRMED TRANSACTION_RETURNED LOYALTY_POINTS_AWARDED WEBHOOK_DELIVERY_DEAD_LETTER
"""
SINCE = {  # the specification's history of minor versions
    9: "PROMOTION_EXPIRED COUPON_EXPIRED ArticleImportJobs.Completed ArticleImportJobs.Failed",
    10: "PROMOTION_SUBMITTED PROMOTION_ARCHIVED CAMPAIGN_CREATED CAMPAIGN_STARTED CAMPAIGN_ENDED CAMPAIGN_LOCKED "
    "CAMPAIGN_UNLOCKED BUDGET_EXHAUSTED COUPON_BATCH_COMPLETED COUPON_BATCH_FAILED",
    11: "LOYALTY_POINTS_AWARDED TRANSACTION_RETURNED PROMOTION_UPDATED WEBHOOK_DELIVERY_DEAD_LETTER",
}


def test_every_kind_of_the_specification_is_defined() -> None:
    assert set(events()) >= set(KINDS.split())


@pytest.mark.parametrize("since", SINCE)
def test_each_event_kind_states_the_version_that_introduced_it(since: int) -> None:
    assert {kind for kind, cls in events().items() if cls.since == since} == set(SINCE[since].split())


def test_defining_an_event_kind_twice_raises() -> None:
    with pytest.raises(ValueError, match="BUDGET_EXHAUSTED is defined twice"):
        event("BUDGET_EXHAUSTED", since=13, de="")(Event)


def test_a_delivery_has_the_specified_body() -> None:
    exhausted = BudgetExhausted(
        budget_id="6f1c9a52-0b6f-4d2c-9a57-0f6d3a1f2b11",
        budget_name="Spring",
        total_amount=Decimal("1000.00"),
        consumed_amount=Decimal("1000.00"),
        currency="EUR",
    )
    body = Envelope(exhausted.kind, datetime(2026, 3, 1, 12, tzinfo=UTC), MINOR_VERSION, "t1", exhausted)
    assert msgspec.json.Encoder(decimal_format="number").encode(body) == (
        b'{"type":"BUDGET_EXHAUSTED","timestamp":"2026-03-01T12:00:00Z","minorVersion":13,"tenantId":"t1","data":'
        b'{"budgetId":"6f1c9a52-0b6f-4d2c-9a57-0f6d3a1f2b11","budgetName":"Spring","totalAmount":1000.00,'
        b'"consumedAmount":1000.00,"currency":"EUR"}}'
    )


@pytest.mark.parametrize("kind", events())
def test_events_are_documented_frozen_and_contain_no_secrets(kind: str) -> None:
    cls = events()[kind]
    assert inspect.getdoc(cls)
    assert not {"code", "secret", "payload"} & set(cls.__struct_fields__)
    assert cls.__struct_config__.frozen


# --- what is promised of every kind -----------------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src/promenade"
LISTS = {ROOT / "tests/model/test_events.py", ROOT / "tests/docs/test_contributing.py"}


def named_in(tree: ast.AST) -> set[str]:
    """Return names used to make or choose a value, without imports, annotations, types and isinstance checks."""
    types: set[int] = set()
    for node in ast.walk(tree):
        asides: list[ast.AST | None] = []
        if isinstance(node, (ast.Subscript, ast.Attribute)):
            asides = [node]
        elif isinstance(node, ast.AnnAssign):
            asides = [node.annotation]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            asides = [node.returns, *(one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg))]
        types |= {id(one) for aside in asides if aside is not None for one in ast.walk(aside)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in types}


def test_every_kind_is_emitted_somewhere() -> None:
    """An event that no code writes to the outbox would break a promise to subscribers."""
    sources = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "events.py"]
    used = set().union(*(named_in(ast.parse(path.read_text("utf-8"))) for path in sources))
    assert sorted(kind for kind, cls in events().items() if cls.__name__ not in used) == []


def test_every_kind_of_event_appears_in_a_test() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py") if path not in LISTS]
    assert [kind for kind in events() if not any(f'"{kind}"' in text for text in texts)] == []


@pytest.mark.parametrize("kind", events())
def test_an_event_kind_is_never_newer_than_the_interface(kind: str) -> None:
    assert 1 <= events()[kind].since <= MINOR_VERSION


@pytest.mark.parametrize("kind", events())
def test_every_kind_has_a_sentence_in_every_language(kind: str) -> None:
    sentences = events()[kind].sentences
    assert set(sentences) == set(LANGUAGES)
    assert all(one.endswith(".") and "\n" not in one for one in sentences.values())


def test_each_minor_version_is_assigned_in_one_place() -> None:
    found = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Assign) and "MINOR_VERSION" in ast.unparse(node.targets[0])
    ]
    assert found == ["interface.py", "interface.py"]  # the public API's, and the tills'
