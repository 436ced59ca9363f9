"""Prices of single articles for shelves, leaflets and pages: each as a basket of one unit of it would cost.

Nothing is stored, nothing is used up, and no cloud is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from promenade.engine.basket import ArticleFact, Basket, BasketLine, Customer, Facts, PosGroupFact, Settings
from promenade.engine.evaluation import Selection, price, select
from promenade.engine.money import minor_from_hundredths
from promenade.engine.outcome import Outcome
from promenade.engine.promotion import ALWAYS, EPOCH, CompiledPromotion
from promenade.errors import Unavailable
from promenade.store.pricing.catalogue import TenantCatalogue
from promenade.store.pricing.changes import Version
from promenade.store.pricing.facts import read_budgets, read_usage
from promenade.workflows.context import Context
from promenade.workflows.pace import NO_REST, Pacer, Rest
from promenade.workflows.pricing.evaluate import ATTEMPTS_MAX
from promenade.workflows.pricing.known import articles_in, changing, find_pos_group, learn_articles, settings_of

PRICED = "PRICED"
UNKNOWN_ARTICLE = "UNKNOWN_ARTICLE"
NO_PRICE = "NO_PRICE"

_MICROSECOND = timedelta(microseconds=1)
_UNIT = 1000  # thousandths: one piece, or one kilogram of what is weighed
_PORTION = 100  # articles for which budgets, usage and gifts are read together
_TURN_SECONDS = 0.002  # of work before sales have their turn
_REST = Rest(times=0.5)  # without a pause, the threads that store sales would wait for Python's lock
_SECONDS_MAX = 15.0
_HURRIED = ATTEMPTS_MAX // 2  # attempts after which it rests no longer, as promotions keep changing


@dataclass(frozen=True, slots=True)
class AskedPrice:
    """An article, by number or else by EAN. Prices in hundredths; ``unit_price`` None: that of the master data."""

    article_number: str
    ean: str | None = None
    unit_price: int | None = None
    regular_unit_price: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceListRequest:
    """A decoded request; ``timestamp`` is aware."""

    items: tuple[AskedPrice, ...]
    pos_group_id: str | None = None
    pos_group_code: str | None = None
    customer: Customer | None = None
    channel: str | None = None
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class PricedArticle:
    """``status``: PRICED, UNKNOWN_ARTICLE or NO_PRICE (none in this currency). ``outcome``: of PRICED, of one line.

    ``ends``: for each promotion of the line when its validity ends, None if it does not.
    """

    asked: AskedPrice
    article: ArticleFact | None
    status: str
    outcome: Outcome | None = None
    ends: tuple[datetime | None, ...] = ()

    @property
    def strike_minor(self) -> int | None:
        """The price to strike through: what a unit costs without promotions or cost before; None if that is no more."""
        if self.outcome is None:
            return None
        line = self.outcome.lines[0]
        before = max(line.unit_price_hundredths, self.asked.regular_unit_price or 0)
        minor = minor_from_hundredths(before, self.outcome.exponent)
        return minor if minor > line.net_minor else None


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices in the order asked, for a POS group at a time; ``data_age`` as of an evaluation."""

    pos_group: PosGroupFact
    at: datetime
    data_age: datetime | None
    prices: tuple[PricedArticle, ...]


async def list_prices(context: Context, tenant_id: str, request: PriceListRequest) -> PriceList:
    """Price each article alone, with the promotions of this moment or that of the request.

    Raises Invalid (POS_GROUP_NOT_FOUND, POS_GROUP_MISMATCH) and Unavailable (CATALOGUE_CHANGING, PRICES_TOO_COSTLY).
    """
    at = context.clock() if request.timestamp is None else request.timestamp.astimezone(UTC)
    pacer = Pacer(_REST, run_seconds=_SECONDS_MAX, tills=context.tills)
    known = await context.catalogues.current(tenant_id)
    for attempt in range(ATTEMPTS_MAX):
        version = known.version
        group = (await find_pos_group(context, tenant_id, known, request)).fact
        pricing = _Pricing(
            context, tenant_id, known, request, group, at, pacer, NO_REST if attempt >= _HURRIED else _REST
        )
        if await pricing.read_articles(version):
            prices = await pricing.prices()
            if prices is not None:
                return PriceList(group, at, context.data_age(version.changed_at), prices)
        if pacer.is_over:
            raise Unavailable("PRICES_TOO_COSTLY", "These prices take too long; ask for fewer articles at once.")
        known = await context.catalogues.refresh(tenant_id, version)
    raise changing()


class _Pricing:
    """The pricing of one request against one state of the promotions, and one of the articles."""

    def __init__(
        self,
        context: Context,
        tenant_id: str,
        known: TenantCatalogue,
        request: PriceListRequest,
        group: PosGroupFact,
        at: datetime,
        pacer: Pacer,
        rest: Rest,
    ) -> None:
        self._context = context
        self._tenant_id = tenant_id
        self._known = known
        self._request = request
        self._at = at
        self._pacer = pacer
        self._rest = rest
        self._began = pacer.now()
        self._settings: Settings = settings_of(known, at)
        self._basket = Basket("", (), group, customer=request.customer, channel=request.channel)
        self._articles: dict[str, ArticleFact] = {}
        self._by_ean: dict[str, ArticleFact] = {}
        self._promotions = known.compiled.promotions()
        self._groups = known.compiled.article_groups

    async def read_articles(self, version: Version) -> bool:
        """Read the articles; return whether they are of the same state as the promotions."""
        lines = [BasketLine("1", one.article_number, _UNIT, 0, one.ean) for one in self._request.items]
        await learn_articles(self._context, self._tenant_id, self._known, lines)
        self._articles, self._by_ean = self._known.articles.facts(lines)
        return self._known.is_still(version)

    async def prices(self) -> tuple[PricedArticle, ...] | None:
        """Return the prices; None if promotions have changed meanwhile, or the time is up.

        Articles that change meanwhile do not matter: another request, a moment earlier, would have got these prices.
        """
        found = [self._seen(one) for one in self._request.items]
        for first in range(0, len(found), _PORTION):
            if not await self._price(found, range(first, min(first + _PORTION, len(found)))):
                return None
        return tuple(found) if self._is_as_it_was else None

    @property
    def _is_as_it_was(self) -> bool:
        known = self._known
        is_same = known.compiled.promotions() == self._promotions and known.compiled.article_groups is self._groups
        return is_same and not known.is_changing

    async def _price(self, found: list[PricedArticle], places: range) -> bool:
        """Price a portion; return whether there is time for more."""
        selections: dict[int, Selection] = {}
        for place in places:
            if found[place].status == PRICED:
                basket = replace(self._basket, lines=(_line_of(found[place]),))
                compiled, articles, by_ean = self._known.compiled, self._articles, self._by_ean
                selections[place] = select(compiled, basket, articles, by_ean, (), self._settings)
                await self._let_sales()
        facts = await self._facts(list(selections.values()))
        for place, selection in selections.items():
            found[place] = self._priced(found[place], price(selection, facts))
            if self._pacer.is_over:
                return False
            await self._let_sales()
        return True

    async def _let_sales(self) -> None:
        """Let sales have their turn every few milliseconds."""
        if self._pacer.now() - self._began >= _TURN_SECONDS:
            await self._pacer.rest_after(self._began, rest=self._rest)
            self._began = self._pacer.now()

    def _seen(self, asked: AskedPrice) -> PricedArticle:
        article = self._articles.get(asked.article_number) or self._by_ean.get(asked.ean or "")
        if asked.unit_price is not None:
            return PricedArticle(asked, article, PRICED)
        if article is None:
            return PricedArticle(asked, None, UNKNOWN_ARTICLE)
        currency = self._basket.pos_group.currency
        has_price = article.base_price_hundredths is not None and article.currency in (None, currency)
        return PricedArticle(asked, article, PRICED if has_price else NO_PRICE)

    async def _facts(self, selections: Sequence[Selection]) -> Facts:
        gifts = {number for one in selections for number in articles_in([self._known.gifts], one)}
        if gifts:
            await learn_articles(self._context, self._tenant_id, self._known, others=gifts)
            for number, article in self._known.articles.facts((), gifts)[0].items():
                self._articles.setdefault(number, article)  # the selections refer to this dictionary
        look, customer = self._context.database.look, self._request.customer
        budget_ids = {key for one in selections for key in one.budget_ids}
        usage_ids = {key for one in selections for key in one.usage_ids}
        customer_id = None if customer is None else customer.customer_id
        return Facts(
            self._articles,
            budgets=await read_budgets(look, self._tenant_id, budget_ids, self._at) if budget_ids else {},
            usage=await read_usage(look, self._tenant_id, usage_ids, customer_id) if usage_ids else {},
        )

    def _priced(self, found: PricedArticle, outcome: Outcome) -> PricedArticle:
        compiled = self._known.compiled
        promotions = [compiled.get(one.promotion_id) for one in outcome.lines[0].discounts]
        return replace(
            found, outcome=outcome, ends=tuple([None if one is None else _end_of(one) for one in promotions])
        )


def _end_of(promotion: CompiledPromotion) -> datetime | None:
    """When the promotion, its campaign or its pilot ends, whichever is first; None: none of them does."""
    end = None if promotion.ends >= ALWAYS else EPOCH + _MICROSECOND * promotion.ends
    pilot = promotion.definition.pilot
    if promotion.definition.status != "PILOT" or pilot is None:
        return end
    return pilot.ends_at if end is None else min(end, pilot.ends_at)


def _line_of(found: PricedArticle) -> BasketLine:
    asked, article = found.asked, found.article
    unit_price = asked.unit_price
    if unit_price is None:
        unit_price = (article.base_price_hundredths if article is not None else None) or 0
    return BasketLine(
        "1", asked.article_number, _UNIT, unit_price, asked.ean, regular_price_hundredths=asked.regular_unit_price
    )
