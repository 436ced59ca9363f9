"""The administration's bound actions, by name: what carries out each of them (specification, Admin Service)."""

from __future__ import annotations

from promenade.web import admin_check, admin_drafts, admin_forecast, admin_lifecycle, admin_webhooks
from promenade.web.admin_unit import AdminOperations

__all__ = ["OPERATIONS"]

OPERATIONS: AdminOperations = {
    **admin_drafts.OPERATIONS,
    **admin_lifecycle.OPERATIONS,
    **admin_check.OPERATIONS,
    **admin_forecast.OPERATIONS,
    **admin_webhooks.OPERATIONS,
}
