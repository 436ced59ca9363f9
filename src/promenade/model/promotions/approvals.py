"""Approvals: who submitted which promotion, and who decided."""

from __future__ import annotations

from promenade.model.declare import RO, Entity, choice, computed_amount, currency_code, text, timestamp, to_one
from promenade.model.shape import EVERY_SERVICE

__all__ = ["PromotionApprovals"]


class PromotionApprovals(Entity, admin=RO, indexes=(("promotion_id", "submitted_at"), ("status", "submitted_at"))):
    """A submission of a promotion and the decision about it, of tenants whose approval is binding."""

    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, indexed=False, read_only=True)
    promotion_name = text(255, "Its name at that time.", required=True, read_only=True, searchable=True)
    status = choice(
        "PENDING", "APPROVED", "REJECTED", "WITHDRAWN", default="PENDING", read_only=True,
        doc="PENDING: it waits for a decision. WITHDRAWN: the promotion's content or status has changed since.",
    )  # fmt: skip
    submitted_at = timestamp("Time of the submission.", required=True, read_only=True)
    submitted_by = text(255, "User who submitted it.", required=True, read_only=True, searchable=True)
    forecast_cost = computed_amount("Cost by the forecast that counted when it was submitted; null: unknown.")
    currency = currency_code("Currency of that cost.", read_only=True)
    decided_at = timestamp("Time of the decision, or of the withdrawal.", read_only=True)
    decided_by = text(255, "User who decided; of a withdrawal, whose change caused it.", read_only=True)
    reason = text(1000, "Reason of the rejection.", read_only=True)
    content_hash = text(64, "Fingerprint of the content that it is about.", required=True, read_only=True,
                        hidden_from=EVERY_SERVICE)  # fmt: skip
