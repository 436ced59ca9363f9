sap.ui.define(
  [
    "promenade/simulator/Basket",
    "promenade/generic/Clock",
    "promenade/simulator/Lookup",
    "promenade/simulator/ScenarioFile",
    "promenade/simulator/ScenarioPromotions"
  ],
  function (Basket, Clock, Lookup, ScenarioFile, ScenarioPromotions) {
    "use strict";

    const MISSED_MAX = 30;
    const ARTICLE =
      "articleNumber,name,ean,articleGroupId,manufacturer,manufacturerId,unit,basePrice,currency,neverDiscounted";
    const WHY =
      "Kept by the simulator, with the promotions that applied and the notable ones that did not. Points, pilots and " +
      "lines chosen at random depend on data that a scenario cannot contain.";
    const GROUP = "groupId,neverDiscounted";
    const PARENTS = `parent($select=${GROUP};$expand=parent($select=${GROUP};$expand=parent($select=${GROUP})))`;

    const TOLD = /^(BLOCKED|BUDGET|COUPON_REQUIRED|NOTHING_LEFT|CONDITION_NOT_MET)/;

    function appliedTo({totals, grantedItems, appliedCoupons}) {
      const ids = [
        ...totals.savingsSummary.promotionBreakdown.map((one) => one.promotionId),
        ...grantedItems.map((one) => one.promotionId),
        ...appliedCoupons.flatMap((one) => one.promotionIds)
      ];
      return [...new Set(ids)];
    }

    /** Missed promotions that a file can tell about: those near, and those that something else kept away. */
    function missedBy({missedPromotions = []}, applied) {
      const isNear = ({code, matchPercent}) => code !== "CONDITION_NOT_MET" || Number(matchPercent) >= 50;
      return missedPromotions
        .filter((one) => TOLD.test(one.code) && isNear(one))
        .filter(({blockedBy}) => !blockedBy || applied.includes(blockedBy.promotionId))
        .slice(0, MISSED_MAX);
    }

    /** What the service knows of articles: by their numbers, and by the EANs of lines whose numbers it may not know. */
    async function articlesOf(numbers, eans) {
      const rows = await Promise.all([
        Lookup.among("Articles", "articleNumber", numbers, {select: ARTICLE}),
        Lookup.among("Articles", "ean", eans, {select: ARTICLE})
      ]);
      return Object.fromEntries(
        rows.flat().map(({articleNumber, articleGroupId, ...row}) => [
          articleNumber,
          Basket.stated({
            name: row.name,
            ean: row.ean,
            group: articleGroupId,
            manufacturer: row.manufacturerId || row.manufacturer,
            unit: row.unit,
            basePrice: row.basePrice && String(row.basePrice),
            currency: row.currency,
            neverDiscounted: row.neverDiscounted
          })
        ])
      );
    }

    /** What the tenant has set that the answer does not tell. */
    async function tenant() {
      const [{countsTowardsThreshold, excludedCountsTowardsThreshold}] = await Lookup.read("TenantSettings", {
        select: "countsTowardsThreshold,excludedCountsTowardsThreshold"
      });
      return {
        countsTowardsThreshold: countsTowardsThreshold ?? undefined,
        excludedCountsTowardsThreshold: excludedCountsTowardsThreshold ?? undefined
      };
    }

    /**
     * Groups below groups, as far up as those of the articles, and those that lines name themselves, lead; and which
     * are never discounted.
     */
    async function groupsOf(articles, {lines}) {
      const ids = [...Object.values(articles), ...lines].map(({group}) => group);
      const rows = await Lookup.among("ArticleGroups", "groupId", ids, {select: GROUP, expand: PARENTS});
      const tree = {};
      const neverDiscounted = {};
      rows.forEach((row) => {
        const path = [];
        for (let group = row; group; group = group.parent) {
          path.unshift(group.groupId);
          neverDiscounted[group.groupId] = group.neverDiscounted;
        }
        path.reduce((below, group) => (below[group] ||= {}), tree);
      });
      return {articleGroups: tree, neverDiscounted: Basket.stated(neverDiscounted)};
    }

    function line(row, place) {
      return Basket.stated({
        ref: row.ref || String(place + 1),
        article: row.articleNumber,
        quantity: row.quantity,
        price: row.unitPrice,
        regularPrice: row.regularPrice,
        ean: row.typedEan,
        group: row.group,
        manufacturer: row.manufacturer,
        fields: Object.fromEntries(row.fields.map(({key, value}) => [key, value]))
      });
    }

    function situation({customer, payment, manual, channel, fields, lines, coupons}) {
      return {
        customer: Basket.stated({
          id: customer.id,
          group: customer.group,
          loyaltyCard: customer.card,
          tier: customer.tier,
          points: customer.points
        }),
        payment: Basket.stated({
          paymentMeans: payment.means,
          cardType: payment.cardType,
          cardNumber: payment.cardNumber
        }),
        manualDiscount: manual.enabled ? Basket.stated({enabled: true, reasonCode: manual.reason}) : {},
        channel,
        userFields: Object.fromEntries(fields.map(({key, value}) => [key, value])),
        coupons,
        basket: lines.map(line)
      };
    }

    const money = ({value}) => String(value);

    const byReference = (rows, tell) => Object.fromEntries(rows.map((row) => [row.lineReference, tell(row)]));

    function totalsOf({subtotal, discount, grandTotal, saleSubtotal, returnSubtotal}) {
      return Basket.stated({
        subtotal: money(subtotal),
        discount: money(discount),
        grandTotal: money(grandTotal),
        saleSubtotal: saleSubtotal && money(saleSubtotal),
        returnSubtotal: returnSubtotal && money(returnSubtotal)
      });
    }

    function missedWords({code, matchPercent, potentialSaving, blockedBy}, names) {
      const isPriced = potentialSaving && code !== "CONDITION_NOT_MET";
      return Basket.stated({
        code,
        matchPercent: matchPercent === undefined ? undefined : String(matchPercent),
        // What closing a gap saves depends on promotions that the file leaves out.
        potentialSaving: isPriced ? money(potentialSaving) : undefined,
        blockedBy: blockedBy && names[blockedBy.promotionId],
        difference: blockedBy?.difference && money(blockedBy.difference)
      });
    }

    function grantedWords(one, names) {
      return {
        article: one.articleNumber,
        quantity: String(one.quantity),
        value: money(one.giveAwayValue),
        promotion: names[one.promotionId]
      };
    }

    /** What the file expects: the price, and why, in the words of scenarios. */
    function expected(answer, {applied, missed, names}) {
      const breakdown = answer.totals.savingsSummary.promotionBreakdown;
      return {
        currency: answer.totals.grandTotal.currency,
        applied: applied.map((id) => names[id]),
        lines: byReference(answer.lineItems, (row) => ({
          total: money(row.lineTotal),
          discount: money(row.lineDiscount),
          net: money(row.lineNet)
        })),
        totals: totalsOf(answer.totals),
        promotions: Object.fromEntries(
          breakdown.map((one) => [names[one.promotionId], {discount: money(one.totalDiscount)}])
        ),
        granted: answer.grantedItems.map((one) => grantedWords(one, names)),
        couponsUsed: Object.fromEntries(
          answer.appliedCoupons.map(({code, promotionIds}) => [code, promotionIds.map((id) => names[id])])
        ),
        couponsRefused: Object.fromEntries(answer.invalidCoupons.map(({code, reason}) => [code, reason])),
        missed: Object.fromEntries(missed.map((one) => [names[one.promotionId], missedWords(one, names)]))
      };
    }

    /** Codes as they were known: their types, and why they were refused. Any other is unknown. */
    function couponsOf({appliedCoupons, invalidCoupons}) {
      const known = invalidCoupons.filter(({reason}) => reason !== "UNKNOWN_CODE");
      return Object.fromEntries([
        ...appliedCoupons.map(({code, couponTypeName}) => [code, {type: couponTypeName}]),
        ...known.map(({code, reason}) => [code, {type: `Type of ${code}`, refusal: reason}])
      ]);
    }

    /** In the order in which they came up. */
    function inTurn(ids, turns, {appliedCoupons}) {
      const coupon = (id) => 1 + appliedCoupons.findIndex(({promotionIds}) => promotionIds.includes(id));
      const whole = (id) => [...turns[id].before, coupon(id), ...turns[id].after];
      return [...ids].sort((left, right) => ScenarioPromotions.compare(whole(left), whole(right)));
    }

    /** Promotions of the file, and what it says of them. A refused coupon's promotion would be told otherwise. */
    async function promotionsOf(answer) {
      const applied = appliedTo(answer);
      const candidates = missedBy(answer, applied);
      const read = await ScenarioPromotions.read([...applied, ...candidates.map((one) => one.promotionId)]);
      const {names, turns, promotions} = read;
      const types = new Map(promotions.map(({id, couponTypes}) => [id, couponTypes]));
      const missed = candidates.filter(
        ({promotionId, code}) => names[promotionId] && (code === "COUPON_REQUIRED" || !types.get(names[promotionId]))
      );
      const kept = new Set([...applied, ...missed.map((one) => one.promotionId)].map((id) => names[id]));
      return {
        ...read,
        promotions: promotions.filter(({id}) => kept.has(id)),
        applied: inTurn(applied, turns, answer),
        missed
      };
    }

    function give(text, name) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], {type: "application/yaml"}));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    function ask() {
      return new Promise((resolve) => {
        const input = document.createElement("input");
        input.type = "file";
        input.accept = ".yaml,.yml";
        input.addEventListener("change", () => resolve(input.files?.[0]));
        input.click();
      });
    }

    /**
     * The basket of a file's entries.
     *
     * @param {any} entries
     */
    function basketOf({store, now, customer = {}, payment = {}, manualDiscount = {}, ...file}) {
      const asPairs = (fields) => Object.entries(fields || {});
      return Basket.lengthen({
        s: store?.code,
        t: now && Clock.wall(now, store?.timeZone).slice(0, 16),
        c: file.channel,
        u: {i: customer.id, g: customer.group, c: customer.loyaltyCard, t: customer.tier, p: customer.points},
        p: {m: payment.paymentMeans, t: payment.cardType, n: payment.cardNumber},
        k: file.coupons || [],
        f: asPairs(file.userFields),
        m: manualDiscount.enabled ? [manualDiscount.reasonCode || ""] : undefined,
        i: file.settings?.includeInactive ? 1 : 0,
        x: file.transaction,
        l: (file.basket || []).map((row) => [
          row.article,
          row.quantity || "1",
          row.price,
          {r: row.ref, e: row.ean, g: row.group, m: row.manufacturer, f: asPairs(row.fields), w: row.regularPrice}
        ])
      });
    }

    return {
      /** Gives the person a file that holds the basket, the promotions that had a say, and the price. */
      async save(basket, answer) {
        const told = await promotionsOf(answer);
        const numbers = basket.lines.map((one) => one.articleNumber);
        const eans = basket.lines.map((one) => one.typedEan);
        const articles = await articlesOf([...numbers, ...told.gifts], eans);
        const {store} = basket;
        const file = Basket.stated({
          title: `Basket of ${answer.lineItems.length} lines in ${store.name || store.code}`,
          why: WHY,
          store: Basket.stated({
            code: store.code,
            currency: answer.totals.grandTotal.currency,
            timeZone: store.timeZone
          }),
          now: answer.meta.evaluatedAt,
          transaction: answer.meta.header.transactionId,
          settings: Basket.stated({
            strategy: answer.meta.bestDeal ? "BEST_DEAL" : "SEQUENTIAL",
            includeInactive: basket.includeInactive,
            includeMissed: true,
            ...(await tenant())
          }),
          ...(await groupsOf(articles, basket)),
          articles,
          budgets: told.budgets,
          couponCodes: couponsOf(answer),
          ...situation(basket)
        });
        const text = ScenarioFile.write({...file, promotions: told.promotions, expect: expected(answer, told)});
        give(text, `scenario-${store.code}-${answer.meta.evaluatedAt.slice(0, 10)}.yaml`);
      },

      /** Asks for a file and resolves with its basket; rejects when it is none of these. */
      async open() {
        const file = await ask();
        return basketOf(ScenarioFile.read(await file.text()));
      }
    };
  }
);
