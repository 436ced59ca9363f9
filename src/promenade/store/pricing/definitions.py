"""Reads promotions from their tables into the engine's definitions.

References are resolved to business keys (articleNumber, groupId), and campaigns and POS groups to their effect (pricing
semantics, section 2.3): the engine never sees a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ComponentRow,
    ConditionRow,
    ExclusionGroupRow,
    ExclusionRow,
    LoyaltyRow,
    PilotRow,
    PriorityRow,
    PromotionDefinition,
    TierRow,
)
from promenade.engine.fingerprint import content_hash
from promenade.store.driver.unit import Session
from promenade.store.pricing.promotion_rows import Parts, read_parts, read_rows, read_rows_in_any_status

_NONE: tuple[Row[Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """Data for resolving references.

    ``group_keys`` maps ArticleGroups.ID to groupId, ``below`` PosGroups.ID to the group and all its descendants.
    """

    group_keys: Mapping[str, str]
    below: Mapping[str, frozenset[str]]

    def expanded(self, pos_group_ids: Iterable[str]) -> frozenset[str]:
        """Return these groups and all their descendants."""
        return frozenset().union(*(self.below.get(one, frozenset((one,))) for one in pos_group_ids))


class PromotionRows:
    """Promotion rows as read; assembling the definitions needs no session and may run in a thread."""

    def __init__(self, promotions: Sequence[Row[Any]], parts: Parts | None) -> None:
        self._promotions = promotions
        self._parts = parts

    def definitions(self, places: Places) -> dict[str, PromotionDefinition]:
        """Build the definitions, by promotion ID."""
        if self._parts is None:
            return {}
        build = _Builder(self._parts, places)
        return {row.id: build.promotion(row) for row in self._promotions}

    def contents(self) -> dict[str, str]:
        """Return the fingerprint of each promotion's content (`engine.fingerprint.content_hash`), by promotion ID.

        References stay as they were written: a new store in a region or another number of an article is master data,
        not another content of the promotions that refer to it.
        """
        if self._parts is None:
            return {}
        build = _Builder(replace(self._parts, article_numbers=_AS_WRITTEN), Places(_AS_WRITTEN, {}))
        return {row.id: content_hash(build.promotion(row), row.return_policy) for row in self._promotions}

    def linked(self) -> dict[str, set[str]]:
        """Return, by Articles.ID, the promotions that refer to the article only by its ID: its number may change."""
        linked: dict[str, set[str]] = defaultdict(set)
        if self._parts is not None:
            for article_id, promotion_id in self._parts.article_links():
                linked[article_id].add(promotion_id)
        return linked


class _AsWritten(Mapping[str, str]):
    """Every key leads to itself."""

    def __getitem__(self, key: str) -> str:
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_AS_WRITTEN = _AsWritten()
_AT_ONCE = 1000


async def read_contents(session: Session, ids: Collection[str]) -> dict[str, str]:
    """Return the fingerprints of the content of promotions in any status, by ID."""
    found: dict[str, str] = {}
    listed = sorted(ids)
    for start in range(0, len(listed), _AT_ONCE):
        some = listed[start : start + _AT_ONCE]
        rows = await read_rows_in_any_status(session, some)
        found |= PromotionRows(rows, await read_parts(session, some)).contents()
    return found


async def read_promotions(session: Session, ids: Collection[str] | None = None) -> PromotionRows:
    """Read the tenant's promotions that can be candidates, all or those in ``ids``.

    The number of statements is fixed, however many promotions there are.
    """
    rows = await read_rows(session, ids)
    return PromotionRows(rows, await read_parts(session, ids) if rows else None)


def _ordered(rows: Sequence[Row[Any]]) -> Sequence[Row[Any]]:
    return rows if len(rows) < 2 else sorted(rows, key=lambda row: (row.sequence, row.id))


def _hundredths(value: Decimal | None) -> int | None:
    return None if value is None else int(value * 100)


def _thousandths(value: Decimal | None) -> int | None:
    return None if value is None else int(value * 1000)


class _Builder:
    """Assembles each promotion from its rows; equal rows give equal definitions, whatever their order."""

    def __init__(self, parts: Parts, places: Places) -> None:
        self._parts = parts
        self._places = places

    def promotion(self, row: Row[Any]) -> PromotionDefinition:
        parts, key = self._parts, row.id
        campaign = parts.campaigns.get(row.campaign_id) if row.campaign_id else None
        config = next(iter(parts.configs.get(key, _NONE)), None)
        exclusion = parts.exclusion_groups.get(row.mutual_exclusion_group_id)
        return PromotionDefinition(
            id=key,
            name=row.name,
            promotion_type=row.type,
            status=row.status,
            code=row.code,
            version=row.version,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            priority=row.priority,
            exclusivity=row.exclusivity_level,
            currency=row.currency,
            campaign_id=row.campaign_id,
            campaign_window=None if campaign is None else (campaign.start_at, campaign.end_at),
            campaign_cancelled=campaign is not None and campaign.status == "CANCELLED",
            pos_groups=self._pos_groups(key, campaign),
            priority_group=self._priority_group(key),
            exclusion_group=None
            if exclusion is None
            else ExclusionGroupRow(exclusion.id, exclusion.resolution_strategy),
            calculation_mode="ADDITIVE" if config is None else config.mode,
            rounding="ROUND_HALF_UP" if config is None else config.rounding,
            precision=None if config is None else config.precision,
            max_applications_per_transaction=row.max_applications_per_transaction,
            max_applications_per_customer=row.max_applications_per_customer,
            max_applications_total=row.max_applications_total,
            is_experiment=bool(row.is_experiment),
            control_group_id=row.control_group_id,
            experiment_group_id=row.experiment_group_id,
            pilot=self._pilot(key),
            coupon_type_ids=frozenset(link.coupon_type_id for link in parts.coupon_types.get(key, _NONE)),
            budget_ids=tuple(sorted({link.budget_id for link in parts.budgets.get(key, _NONE)})),
            conditions=tuple(self._condition(one) for one in _ordered(parts.conditions.get(key, _NONE))),
            actions=tuple(self._action(one) for one in _ordered(parts.actions.get(key, _NONE))),
            loyalty_actions=tuple(
                self._loyalty(one) for one in sorted(parts.loyalty_actions.get(key, _NONE), key=lambda one: one.id)
            ),
            counts_barred=row.counts_towards_threshold,
            counts_excluded=row.excluded_counts_towards_threshold,
        )

    def _pos_groups(self, key: str, campaign: Row[Any] | None) -> frozenset[str]:
        """Section 2.3: the campaign's set replaces the promotion's, or is merged if it says so; empty means
        everywhere.
        """
        own = [link.pos_group_id for link in self._parts.pos_groups.get(key, _NONE)]
        if campaign is not None:
            campaigns = [link.pos_group_id for link in self._parts.campaign_pos_groups.get(campaign.id, _NONE)]
            own = own + campaigns if campaign.merge_promotion_pos_groups else campaigns or own
        return self._places.expanded(own)

    def _priority_group(self, key: str) -> PriorityRow | None:
        for member in self._parts.memberships.get(key, _NONE):
            group = self._parts.priority_groups[member.priority_group_id]
            return PriorityRow(group.id, group.priority, member.sequence)
        return None

    def _pilot(self, key: str) -> PilotRow | None:
        for row in self._parts.pilots.get(key, _NONE):
            pilot = (link.pos_group_id for link in self._parts.pilot_pos_groups.get(row.id, _NONE))
            control = (link.pos_group_id for link in self._parts.control_pos_groups.get(row.id, _NONE))
            return PilotRow(
                config_id=row.id,
                starts_at=row.pilot_start_at,
                ends_at=row.pilot_end_at,
                share_hundredths=int(row.pilot_share * 100),
                control_group_size=row.control_group_size,
                pilot_pos_groups=self._places.expanded(pilot),
                control_pos_groups=self._places.expanded(control),
            )
        return None

    def _group(self, key: str | None, group_id: str | None) -> str | None:
        """Return the groupId in the row, else that of the referenced article group."""
        return key or (self._places.group_keys.get(group_id) if group_id else None)

    def _article(self, number: str | None, article_id: str | None) -> str | None:
        """Return the articleNumber in the row, else that of the referenced article."""
        return number or (self._parts.article_numbers.get(article_id) if article_id else None)

    def _condition(self, row: Row[Any]) -> ConditionRow:
        values = self._parts.condition_values.get(row.id, _NONE)
        return ConditionRow(
            id=row.id,
            sequence=row.sequence,
            connector=row.logical_connector,
            condition_type=row.condition_type,
            operator=row.operator,
            value_category=row.value_category,
            value=row.value,
            value_to=row.value_to,
            article_number=self._article(row.article_number, row.article_id),
            article_group_id=self._group(row.article_group_key, row.article_group_id),
            include_sub_groups=bool(row.include_sub_groups),
            manufacturer=row.manufacturer,
            field_name=row.field_name,
            min_quantity_thousandths=_thousandths(row.min_quantity),
            min_amount_hundredths=_hundredths(row.min_amount),
            time_from=row.time_from,
            time_to=row.time_to,
            weekdays=row.weekdays,
            date_from=row.date_from,
            date_to=row.date_to,
            values=tuple(sorted(item.value for item in values)),
            articles=_articles(self._parts.condition_articles.get(row.id, _NONE)),
        )

    def _action(self, row: Row[Any]) -> ActionRow:
        parts, key = self._parts, row.id
        return ActionRow(
            id=key,
            sequence=row.sequence,
            action_type=row.action_type,
            discount_type=row.discount_type,
            discount_value_hundredths=_hundredths(row.discount_value),
            max_discount_hundredths=_hundredths(row.max_discount_amount),
            target_article_number=self._article(row.target_article_number, row.target_article_id),
            target_article_group_id=self._group(row.target_article_group_key, row.target_article_group_id),
            include_sub_groups=bool(row.include_sub_groups),
            target_article_list=bool(row.target_article_list),
            selection_type=row.selection_type,
            application_quantity_mode=row.application_quantity_mode,
            application_quantity_thousandths=_thousandths(row.application_quantity),
            target_coupon_type_id=row.target_coupon_type_id,
            distribution_mode=row.distribution_mode,
            max_bundles=row.max_bundles,
            free_item_article_number=row.free_item_article_number,
            free_item_quantity_thousandths=_thousandths(row.free_item_quantity),
            restrict_to_one_per_basket=bool(row.restrict_to_one_per_basket),
            free_item_reference_price_hundredths=_hundredths(row.free_item_reference_price),
            max_free_units_thousandths=_thousandths(row.max_free_units),
            scaled_tiers=tuple(
                TierRow(
                    one.sequence,
                    one.discount_type,
                    int(one.discount_value * 100),
                    threshold_hundredths=_hundredths(one.threshold_amount),
                )
                for one in _ordered(parts.scaled_tiers.get(key, _NONE))
            ),
            quantity_tiers=tuple(
                TierRow(
                    one.sequence,
                    one.discount_type,
                    int(one.discount_value * 100),
                    min_quantity_thousandths=_thousandths(one.min_quantity),
                )
                for one in _ordered(parts.quantity_tiers.get(key, _NONE))
            ),
            components=tuple(self._component(one) for one in _ordered(parts.components.get(key, _NONE))),
            articles=_articles(parts.action_articles.get(key, _NONE), priced=True),
            exclusions=tuple(
                self._exclusion(one) for one in sorted(parts.exclusions.get(key, _NONE), key=lambda one: one.id)
            ),
        )

    def _component(self, row: Row[Any]) -> ComponentRow:
        return ComponentRow(
            id=row.id,
            sequence=row.sequence,
            quantity_thousandths=int(row.quantity * 1000),
            article_number=self._article(row.article_number, row.article_id),
            article_group_id=self._group(row.article_group_key, row.article_group_id),
            include_sub_groups=bool(row.include_sub_groups),
            discounted=bool(row.discounted),
        )

    def _exclusion(self, row: Row[Any]) -> ExclusionRow:
        return ExclusionRow(
            exclusion_type=row.exclusion_type,
            article_number=row.article_number,
            article_group_id=self._group(row.article_group_key, row.article_group_id),
            manufacturer=row.manufacturer,
            articles=_articles(self._parts.exclusion_articles.get(row.id, _NONE)),
            field_name=row.field_name,
            value=row.value,
        )

    def _loyalty(self, row: Row[Any]) -> LoyaltyRow:
        return LoyaltyRow(
            id=row.id,
            action_type=row.action_type,
            points_hundredths=_hundredths(row.points),
            multiplier_thousandths=_thousandths(row.multiplier),
            currency_amount_hundredths=_hundredths(row.currency_amount),
            target_scope=row.target_scope,
            target_article_number=row.target_article_number,
            target_article_group_id=row.target_article_group_key,
            include_sub_groups=bool(row.include_sub_groups),
            max_points_hundredths=_hundredths(row.max_points),
            articles=_articles(self._parts.loyalty_articles.get(row.id, _NONE)),
        )


def _articles(rows: Sequence[Row[Any]], *, priced: bool = False) -> tuple[ArticleRow, ...]:
    if not rows:
        return ()
    listed = sorted(rows, key=lambda row: (row.article_number or "", row.ean or "", row.id))
    return tuple(
        ArticleRow(row.article_number, row.ean, _hundredths(row.fixed_price) if priced else None) for row in listed
    )
