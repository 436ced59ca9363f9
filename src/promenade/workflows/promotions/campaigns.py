"""Actions on campaigns: linking promotions."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict, Detail, Invalid, NotFound
from promenade.ids import is_id
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.locks import locked
from promenade.workflows.authoring.unit import Verb

PROMOTIONS_MAX = 1000  # in one call
DETAILS_MAX = 50  # faults listed in one response


# --- promotions of a campaign -----------------------------------------------------------------------------------------


async def add_promotions(
    authoring: Authoring, session: Session, campaign_id: str, promotion_ids: Sequence[str] | None
) -> None:
    """Link promotions to a campaign, all of them or none; those already linked are left unchanged.

    The number of statements is constant. Raises, in this order: NotFound of the campaign; Invalid (REQUIRED, EMPTY,
    TOO_MANY_IDS with target ``promotionIds``, UNKNOWN_REFERENCE with ``promotionIds/<n>`` for an unknown or another
    tenant's promotion); Conflict (LOCKED) of the campaign, or of another one that has one of them. Specification,
    Public API actions, rule 1.
    """
    await _campaign(session, campaign_id)
    places = _places(promotion_ids)
    known = {key for key in places if is_id(key)}
    promotions = {row["id"]: row for row in await read_rows(session, "Promotions", "id", known, lock="update")}
    unknown = [_unknown(f"promotionIds/{place}") for key, place in places.items() if key not in promotions]
    if unknown:
        first = unknown[0]
        details = unknown[:DETAILS_MAX] if len(unknown) > 1 else ()
        raise Invalid(first.code, first.message, first.target, details)
    wanted = {key: row for key, row in promotions.items() if row["campaign_id"] != campaign_id}
    campaign = await _unlocked(session, campaign_id, wanted, places)
    await _link(authoring, "addPromotions", campaign, campaign_id, wanted)


async def remove_promotion(authoring: Authoring, session: Session, campaign_id: str, promotion_id: str | None) -> None:
    """Remove a promotion from a campaign; one that is not in it is left unchanged.

    Raises NotFound of the campaign, Invalid (REQUIRED, UNKNOWN_REFERENCE with target ``promotionId``) and Conflict
    (LOCKED). Specification, Public API actions, rule 2.
    """
    await _campaign(session, campaign_id)
    if not promotion_id:
        raise Invalid("REQUIRED", "promotionId is required.", "promotionId")
    key = str(promotion_id).lower()
    rows = await read_rows(session, "Promotions", "id", (key,), lock="update") if is_id(key) else []
    if not rows:
        unknown = _unknown("promotionId")
        raise Invalid(unknown.code, unknown.message, unknown.target)
    wanted = {row["id"]: row for row in rows if row["campaign_id"] == campaign_id}
    campaign = await _unlocked(session, campaign_id, {}, {})
    await _link(authoring, "removePromotion", campaign, None, wanted)


async def _campaign(session: Session, campaign_id: str) -> None:
    if not (is_id(campaign_id) and await read_rows(session, "Campaigns", "id", (campaign_id,))):
        raise _no_campaign()


def _places(promotion_ids: Sequence[str] | None) -> dict[str, int]:
    """Return the distinct IDs, each with its first position in the list."""
    if promotion_ids is None:
        raise Invalid("REQUIRED", "promotionIds is required.", "promotionIds")
    if not promotion_ids:
        raise Invalid("EMPTY", "promotionIds must name at least one promotion.", "promotionIds")
    if len(promotion_ids) > PROMOTIONS_MAX:
        message = f"promotionIds may name at most {PROMOTIONS_MAX} promotions at once."
        raise Invalid("TOO_MANY_IDS", message, "promotionIds")
    places: dict[str, int] = {}
    for place, key in enumerate(promotion_ids):
        places.setdefault(str(key).lower(), place)
    return places


async def _unlocked(
    session: Session, campaign_id: str, promotions: dict[str, Columns], places: dict[str, int]
) -> Columns:
    """Return the campaign after checking that neither it nor the promotions' current campaigns are locked.

    Their rows are locked in the database until the unit ends. The promotions already are: every writer locks promotions
    first, campaigns second.
    """
    has_now = {key: row["campaign_id"] for key, row in promotions.items() if row["campaign_id"] is not None}
    rows = await read_rows(session, "Campaigns", "id", {campaign_id, *has_now.values()}, lock="share")
    campaigns = {row["id"]: row for row in rows}
    if campaign_id not in campaigns:
        raise _no_campaign()
    faults = [locked(campaigns[campaign_id])] if campaigns[campaign_id]["locked"] else []
    for key, place in places.items():
        other = campaigns.get(has_now.get(key, ""))
        if other is not None and other["locked"]:
            faults.append(locked(other, f"promotionIds/{place}"))
    if faults:
        first = faults[0]
        details = [Detail(one.code, one.message, one.target) for one in faults[:DETAILS_MAX]]
        raise Conflict(first.code, first.message, first.target, details if len(details) > 1 else ())
    return campaigns[campaign_id]


async def _link(
    authoring: Authoring, verb: Verb, campaign: Columns, campaign_id: str | None, promotions: dict[str, Columns]
) -> None:
    """Set the campaign of promotions to ``campaign_id``, as one change of the campaign in the audit trail."""
    if not promotions:
        return
    await authoring.update_many("Promotions", {key: {"campaign_ID": campaign_id} for key in promotions})
    # The campaign's own row does not change: the links are in the promotions' rows.
    authoring.record("Campaigns", campaign, verb, ", ".join(sorted(row["name"] for row in promotions.values())))


# --- the words of refusals --------------------------------------------------------------------------------------------


def _unknown(target: str) -> Detail:
    return Detail("UNKNOWN_REFERENCE", f"{target} names a promotion that does not exist.", target)


def _no_campaign() -> NotFound:
    return NotFound("NOT_FOUND", "There is no such campaign.")
