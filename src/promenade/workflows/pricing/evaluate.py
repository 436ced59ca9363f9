"""Evaluate and simulate: price a basket as an iteration (pricing semantics, section 11).

A typical evaluate reads nothing and writes once: it prices against the catalogue in memory, and a single statement
stores the iteration only if the catalogue in the database still has that version; otherwise the catalogue is refreshed
and the basket priced again. If changes come faster than that, a price from a catalogue read after the request arrived
is accepted too: another till, a moment earlier, would have got it. Its articles must still match the database, because
they are read later than the promotions, and promotions and articles of different times must not be mixed. simulate
reads the version first and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from promenade import metrics
from promenade.engine.basket import (
    Basket,
    BasketLine,
    CouponFact,
    Customer,
    Facts,
    Payment,
    Refund,
    Settings,
)
from promenade.engine.evaluation import Selection, price, select
from promenade.engine.outcome import Outcome
from promenade.store.pricing.catalogue import TenantCatalogue
from promenade.store.pricing.facts import Presented, read_budgets, read_coupons, read_usage
from promenade.store.pricing.iterations import keep_definitions, store_iteration
from promenade.store.sync.shares import BUDGET, COUPON_TYPE
from promenade.tracing import span
from promenade.workflows.context import Context
from promenade.workflows.coupons.failed_look_ups import FailedLookups
from promenade.workflows.pricing.known import articles_in, changing, find_pos_group, learn_articles, settings_of
from promenade.workflows.pricing.lacking import Key, lacking, with_unavailable
from promenade.workflows.replica.holding import NEEDS_CLOUD, hold_codes, obtain_shares
from promenade.workflows.sales.returned import read_refunds
from promenade.workflows.settlement.returns import named_sale

ATTEMPTS_MAX = 8  # pricing attempts per request while the catalogue keeps changing
# The first refresh that a request waits for may have begun before the request arrived, the second has not.
ATTEMPTS_BEHIND = 2
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PricingRequest:
    """A decoded EvaluateRequest; shapes are checked, missing line references assigned, the card number truncated.

    ``timestamp`` is aware; failed coupon look-ups are counted per ``client_id``.
    """

    lines: tuple[BasketLine, ...]
    transaction_id: str | None = None
    receipt_id: str | None = None
    header_reference: str | None = None
    pos_group_id: str | None = None
    pos_group_code: str | None = None
    coupons: tuple[str, ...] = ()
    customer: Customer | None = None
    payment: Payment | None = None
    channel: str | None = None
    user_fields: tuple[tuple[str, str], ...] = ()
    manual_discount: bool = False
    manual_discount_reason: str | None = None
    timestamp: datetime | None = None
    include_inactive: bool = False
    include_missed: bool = False
    client_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedIteration:
    """The result that web encodes as EvaluateResponseV2. ``transaction_counter`` is None when simulated."""

    transaction_id: str
    transaction_counter: int | None
    receipt_id: str | None
    header_reference: str | None
    evaluated_at: datetime
    data_age: datetime | None
    outcome: Outcome
    is_simulation: bool
    refunds: tuple[Refund, ...] = ()


async def evaluate(context: Context, tenant_id: str, request: PricingRequest) -> PricedIteration:
    """Price the basket and store it as the next iteration of its transaction.

    ``include_inactive`` only applies to simulate and is ignored here. Raises Invalid (POS_GROUP_NOT_FOUND,
    POS_GROUP_MISMATCH) and Unavailable; then nothing is stored.
    """
    pricing = _Pricing(context, tenant_id, request, include_inactive=False)
    known = await context.catalogues.get(tenant_id)
    for attempt in range(ATTEMPTS_MAX):
        version = known.version
        outcome = await pricing.price(known)
        is_fresh = attempt >= ATTEMPTS_BEHIND and known.is_still(version) and not pricing.is_outdated
        counter, data_age = None, context.data_age(version.changed_at)
        if await pricing.keep_definitions(known, outcome):
            counter = await store_iteration(
                context.database,
                tenant_id=tenant_id,
                origin=context.origin,
                version=version,
                must_be_current=not is_fresh,
                input_=(pricing.basket, pricing.settings, pricing.facts, known.tree_hash),
                outcome=outcome,
                receipt_id=request.receipt_id,
                header_reference=request.header_reference,
                created_at=pricing.received_at,
                data_age=data_age,
            )
        if counter is not None:
            await pricing.count_failures()
            return pricing.answer(outcome, counter, data_age)
        known = await context.catalogues.refresh(tenant_id, version)
    raise changing()


async def simulate(context: Context, tenant_id: str, request: PricingRequest) -> PricedIteration:
    """Price the basket without storing anything. Raises as `evaluate`."""
    pricing = _Pricing(context, tenant_id, request, include_inactive=request.include_inactive)
    priced = await pricing.simulated()
    await pricing.count_failures()
    return priced


async def try_out(
    context: Context, tenant_id: str, request: PricingRequest, catalogue: TenantCatalogue | None = None
) -> PricedIteration:
    """Price the basket like `simulate`, without a trace: no failed look-up of a code counts, no cloud is asked.

    ``catalogue``: a private copy to price it with instead of the present one. Raises as `evaluate`.
    """
    pricing = _Pricing(context, tenant_id, request, include_inactive=request.include_inactive, is_trial=True)
    if catalogue is None:
        return await pricing.simulated()
    return pricing.answer(await pricing.price(catalogue), None, None)


class _Pricing:
    """The pricing of one request; kept across attempts, so that its transaction and time stay the same."""

    __slots__ = (
        "_context",
        "_failed",
        "_fetched",
        "_include_inactive",
        "_is_linked",
        "_missing",
        "_not_held",
        "_request",
        "_tenant_id",
        "at",
        "basket",
        "facts",
        "is_outdated",
        "received_at",
        "settings",
        "transaction_id",
    )

    basket: Basket
    settings: Settings
    facts: Facts

    def __init__(
        self,
        context: Context,
        tenant_id: str,
        request: PricingRequest,
        *,
        include_inactive: bool,
        is_trial: bool = False,
    ) -> None:
        self._context = context
        self._is_linked = context.uplink is not None and not is_trial  # whether it may ask the cloud
        self._tenant_id = tenant_id
        self._request = request
        self._include_inactive = include_inactive
        self._failed = FailedLookups(context.cache, tenant_id, request.client_id)
        self._not_held: dict[str, str] = {}  # why a store does not hold these codes; it asks for them once
        self._fetched: dict[Key, Decimal] = {}  # what a store has asked for
        self._missing: frozenset[Key] = frozenset()  # of that, what the cloud could not be asked for
        self.is_outdated = False  # limits of promotions or coupon types have been raised since they were read
        self.transaction_id = request.transaction_id or context.new_id()
        self.received_at = context.clock()
        self.at = self.received_at if request.timestamp is None else request.timestamp.astimezone(UTC)

    async def simulated(self) -> PricedIteration:
        """Price against the present catalogue, and again if it has changed meanwhile."""
        context, tenant_id = self._context, self._tenant_id
        known = await context.catalogues.current(tenant_id)
        for _ in range(ATTEMPTS_MAX):
            version = known.version
            outcome = await self.price(known)
            if known.is_still(version) and not self.is_outdated:
                return self.answer(outcome, None, context.data_age(version.changed_at))
            known = await context.catalogues.refresh(tenant_id, version)
        raise changing()

    async def price(self, known: TenantCatalogue) -> Outcome:
        """Price against ``known``; sets `basket`, `settings` and `facts` to those used."""
        request = self._request
        self.is_outdated = False
        group = await find_pos_group(self._context, self._tenant_id, known, request)
        self.settings = replace(
            settings_of(known, self.at),
            include_inactive=self._include_inactive,
            include_missed=request.include_missed,
            nudges=known.surroundings.settings.nudges,
        )
        self.basket = Basket(
            transaction_id=self.transaction_id,
            lines=request.lines,
            pos_group=group.fact,
            coupons=request.coupons,
            customer=request.customer,
            payment=request.payment,
            channel=request.channel,
            user_fields=request.user_fields,
            manual_discount=request.manual_discount,
            manual_discount_reason=request.manual_discount_reason,
        )
        coupons = await self._look_up(known)
        articles, by_ean = known.articles.facts(request.lines)
        self.facts = Facts(articles, by_ean, coupons, refunds=await self._read_refunds(group.fact.currency))
        with span("engine select"):
            selection = select(known.compiled, self.basket, articles, by_ean, coupons, self.settings)
        others = self._other_articles(known, selection)
        if others:
            await learn_articles(self._context, self._tenant_id, known, others=others)
            articles.update(known.articles.facts((), others)[0])  # the selection refers to this dictionary
        if not (selection.budget_ids or selection.usage_ids):
            return self._priced(selection)
        await self._read_limits(selection)
        outcome = self._priced(selection)
        if self._is_linked and await self._fetch_shares(lacking(selection, self.facts, outcome)):
            await self._read_limits(selection)
            outcome = self._priced(selection)
        return outcome

    def _priced(self, selection: Selection) -> Outcome:
        with span("engine price"):
            return price(selection, self.facts)

    @staticmethod
    def _other_articles(known: TenantCatalogue, selection: Selection) -> list[str]:
        """Return the articles whose price comes from master data.

        They are those that promotions may give for free, and if advice is wanted, those that complete a bundle.
        """
        settings = selection.view.settings
        tables = [known.gifts, known.pieces] if settings.nudges or settings.include_missed else [known.gifts]
        return articles_in(tables, selection)

    async def _look_up(self, known: TenantCatalogue) -> tuple[CouponFact, ...]:
        """Return the facts of the presented coupons; articles not yet in memory are read and kept."""
        request = self._request
        codes = request.coupons
        is_known = await learn_articles(self._context, self._tenant_id, known, request.lines)
        (metrics.cache_hit if is_known else metrics.cache_miss).inc()
        if not codes:
            return ()
        failed = await self._failed.count()
        presented = Presented(self.transaction_id, self._customer_id, self.at, failed, self._context.origin)
        look, tenant_id = self._context.database.look, self._tenant_id
        coupons = await read_coupons(look, tenant_id, codes, known.surroundings, presented)
        if not self._is_linked:
            return coupons
        used_up = [
            (COUPON_TYPE, fact.coupon_type_id)
            for fact in coupons
            if fact.refusal == "USAGE_LIMIT_REACHED" and fact.coupon_type_id is not None
        ]
        if await self._fetch_shares(dict.fromkeys(used_up, Decimal(1))):
            coupons = await read_coupons(look, tenant_id, codes, known.surroundings, presented)
        unknown = [fact.code for fact in coupons if fact.refusal == "UNKNOWN_CODE" and fact.code not in self._not_held]
        if unknown:
            self._not_held |= await hold_codes(self._context, tenant_id, unknown)
            coupons = await read_coupons(look, tenant_id, codes, known.surroundings, presented)
        return tuple(
            CouponFact(fact.code, refusal=self._not_held.get(fact.code, fact.refusal))
            if fact.refusal == "UNKNOWN_CODE"
            else replace(fact, refusal=NEEDS_CLOUD)
            if fact.refusal is not None and (COUPON_TYPE, fact.coupon_type_id) in self._missing
            else fact
            for fact in coupons
        )

    async def _read_limits(self, selection: Selection) -> None:
        look, tenant_id, facts = self._context.database.look, self._tenant_id, self.facts
        budget_ids, usage_ids = selection.budget_ids, selection.usage_ids
        self.facts = Facts(
            facts.articles,
            facts.articles_by_ean,
            facts.coupons,
            await read_budgets(look, tenant_id, budget_ids, self.at) if budget_ids else {},
            await read_usage(look, tenant_id, usage_ids, self._customer_id) if usage_ids else {},
            facts.refunds,
        )
        self.facts = with_unavailable(self.facts, self._missing)

    async def _fetch_shares(self, uses: Mapping[Key, Decimal]) -> bool:
        """Fetch what the store lacks for this sale, each once; return whether anything was asked for."""
        new = {key: use for key, use in uses.items() if self._fetched.get(key, _NOTHING) < use}
        if not new:
            return False
        self._fetched |= new
        missing = await obtain_shares(self._context, self._tenant_id, new)
        self._missing |= missing
        metrics.shares_missing.inc(len(missing))
        self.is_outdated = any(kind != BUDGET for kind, _ in new.keys() - missing)
        return True

    async def _read_refunds(self, currency: str) -> tuple[Refund, ...]:
        lines = self._request.lines
        if not any(named_sale(line) for line in lines):
            return ()
        return await self._context.database.read(
            lambda session: read_refunds(session, self._context.origin, lines, self.transaction_id, currency),
            tenant=self._tenant_id,
        )

    async def keep_definitions(self, known: TenantCatalogue, outcome: Outcome) -> bool:
        """Store the definitions that a replay needs; False: the catalogue has changed and no longer has all of them."""
        if known.tree_hash in known.known_hashes and known.known_hashes.issuperset(outcome.candidate_hashes):
            return True
        new = {one: known.by_hash.get(one) for one in outcome.candidate_hashes if one not in known.known_hashes}
        definitions = {key: body for key, body in new.items() if body is not None}
        if len(definitions) < len(new):
            return False
        bodies = definitions | {known.tree_hash: known.surroundings.article_tree}
        await self._context.database.write(
            lambda session: keep_definitions(session, bodies, self.received_at), tenant=self._tenant_id, durable=False
        )
        known.known_hashes.update(bodies)
        return True

    @property
    def _customer_id(self) -> str | None:
        customer = self._request.customer
        return None if customer is None else customer.customer_id

    async def count_failures(self) -> None:
        """Count this request's failed look-ups once, whatever the number of attempts."""
        failed = sum(fact.refusal == "UNKNOWN_CODE" for fact in self.facts.coupons)
        if failed:
            await self._failed.add(failed)

    def answer(self, outcome: Outcome, counter: int | None, data_age: datetime | None) -> PricedIteration:
        """Build the priced iteration; without a counter it is a simulation."""
        return PricedIteration(
            transaction_id=self.transaction_id,
            transaction_counter=counter,
            receipt_id=self._request.receipt_id,
            header_reference=self._request.header_reference,
            evaluated_at=self.at,
            data_age=data_age,
            outcome=outcome,
            is_simulation=counter is None,
            refunds=self.facts.refunds,
        )
