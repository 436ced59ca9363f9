"""Ask for a budget of a promotion, and answer: by those who give budgets, or by who no longer needs it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from promenade.errors import Conflict, Forbidden, Invalid, NotFound
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.drafts.ownership import find_draft
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.drafts import Drafts

SET = "BudgetRequests"
_CODE_MAX = 40
_ID_SIGNS = 8


async def ask_for_budget(
    authoring: Authoring,
    session: Session,
    promotion_id: str,
    asked: Mapping[str, Any],
    *,
    drafts: Drafts | None,
) -> str:
    """Ask for a budget for a promotion; return the ID of the request.

    ``asked``: ``amount``, ``currency`` and ``reason``. ``drafts``: the promotion is named by its draft, which must be
    the user's own. Raises NotFound, Forbidden, Invalid (of the values) and Conflict (ALREADY_ASKED,
    TOO_MANY_REQUESTS).
    """
    promotion = (
        await _active(session, promotion_id) if drafts is None else await drafts.read("Promotions", promotion_id)
    )
    if promotion is None:
        raise NotFound("NOT_FOUND", "There is no such promotion.")
    about = {"promotion_id": promotion_id, "promotion_name": promotion["name"]}
    return await authoring.create_by("ask", SET, asked, also=about)


async def grant(authoring: Authoring, session: Session, request_id: str, *, budget_id: str | None) -> None:
    """Give the budget with this ID, or one made of the amount asked for (None).

    The promotion is charged to it at once. If it exists only in a draft, the draft is left to its user, and the
    promotion is charged as soon as it is saved. Raises NotFound, Invalid (UNKNOWN_REFERENCE, CURRENCY_MISMATCH),
    Conflict (INVALID_TRANSITION, PROMOTION_GONE), and what the rules have against charging the promotion.
    """
    request = await _request(session, request_id)
    promotion_id = request["promotion_id"]
    # Whoever saves the promotion right now is waited for; who saves it later will find the grant.
    is_draft = await find_draft(session, "Promotions", promotion_id, hold=True) is not None
    is_saved = await _active(session, promotion_id) is not None
    given = authoring.new_id() if budget_id is None else budget_id
    await authoring.transition(SET, request_id, "grant", also={"budget_id": given})
    if not is_draft and not is_saved:
        message = "The promotion that the budget was asked for is gone: decline the request."
        raise Conflict("PROMOTION_GONE", message)
    if budget_id is None:
        await authoring.create("Budgets", _new_budget(given, request))
    else:
        await _check_budget(session, budget_id, request)
    if is_saved and not await _is_charged(session, promotion_id, given):
        await authoring.create("BudgetPromotions", {"budget_ID": given, "promotion_ID": promotion_id})


async def decline(authoring: Authoring, request_id: str, *, reason: str | None) -> None:
    """Give no budget. Raises NotFound, Invalid (REQUIRED of ``reason``) and Conflict (INVALID_TRANSITION)."""
    said = (reason or "").strip()
    if not said:
        raise Invalid("REQUIRED", "A refusal needs a reason: whoever asked must know why.", "reason")
    await authoring.transition(SET, request_id, "decline", also={"answer": said})


async def withdraw(authoring: Authoring, session: Session, request_id: str) -> None:
    """Take a request back. Raises NotFound, Forbidden (OTHERS_REQUEST) and Conflict (INVALID_TRANSITION)."""
    if (await _request(session, request_id))["asked_by"] != authoring.user:
        message = "Only the one who asked for the budget takes the request back; others decline it."
        raise Forbidden("OTHERS_REQUEST", message)
    await authoring.transition(SET, request_id, "withdraw")


async def _request(session: Session, request_id: str) -> Columns:
    rows = await read_rows(session, SET, "id", (request_id,))
    if not rows:
        raise NotFound("NOT_FOUND", "There is no such request.")
    return rows[0]


async def _active(session: Session, promotion_id: str) -> Columns | None:
    rows = await read_rows(session, "Promotions", "id", (promotion_id,))
    return rows[0] if rows else None


async def _is_charged(session: Session, promotion_id: str, budget_id: str) -> bool:
    links = await read_rows(session, "BudgetPromotions", "promotion_id", (promotion_id,))
    return any(link["budget_id"] == budget_id for link in links)


async def _check_budget(session: Session, budget_id: str, request: Columns) -> None:
    budgets = await read_rows(session, "Budgets", "id", (budget_id,))
    if not budgets:
        raise Invalid("UNKNOWN_REFERENCE", "budgetId names a budget that does not exist.", "budgetId")
    if budgets[0]["currency"] != request["currency"]:
        message = f"A budget in {request['currency']} was asked for, and this one is in {budgets[0]['currency']}."
        raise Invalid("CURRENCY_MISMATCH", message, "budgetId")


def _new_budget(budget_id: str, request: Columns) -> dict[str, Any]:
    """Return a budget as it was asked for, with a code that begins like the promotion's name and is its own."""
    words = re.sub(r"[^A-Z0-9]+", "-", (request["promotion_name"] or "").upper())[:_CODE_MAX].strip("-")
    amount: Decimal = request["amount"]
    return {
        "ID": budget_id,
        "code": "-".join(filter(None, (words, budget_id[-_ID_SIGNS:].upper()))),
        "name": request["promotion_name"] or budget_id,
        "totalAmount": amount,
        "currency": request["currency"],
        "status": "ACTIVE",
    }
