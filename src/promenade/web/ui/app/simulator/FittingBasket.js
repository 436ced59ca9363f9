sap.ui.define(
  ["promenade/simulator/Basket", "promenade/simulator/Fitting", "promenade/simulator/Lookup"],
  function (Basket, Fitting, Lookup) {
    "use strict";

    const GROUP_LEVELS = 3; // looked through below a group
    const WHEN = "status,validFrom,validTo,currency,experimentGroupId,controlGroupId";
    const CAMPAIGN = "campaign($select=startAt,endAt)";
    const LIVE = "IsActiveEntity eq true";
    const POS_GROUP = "posGroup($select=code)";
    const TAKES =
      "bundleComponents($orderby=sequence),quantityTiers($orderby=minQuantity),scaledTiers($orderby=thresholdAmount)," +
      "articleListItems,exclusions($expand=articleListItems)";

    /** Everything that says when a promotion applies, but the codes of its coupons: those are secret. */
    async function partsOf(id) {
      const filter = `promotion_ID eq ${id}`;
      const of = (set, expand, orderby = "sequence") => Lookup.read(set, {filter, orderby, expand});
      const [promotions, conditions, actions, loyaltyActions, posGroups, pilots] = await Promise.all([
        Lookup.read("Promotions", {filter: `ID eq ${id} and ${LIVE}`, select: WHEN, expand: CAMPAIGN}),
        of("Conditions", "valueListItems,articleListItems"),
        of("DiscountActions", TAKES),
        of("LoyaltyActions", "articleListItems", "ID"),
        Lookup.read("PromotionPosGroups", {filter, expand: POS_GROUP}),
        Lookup.read("PromotionPilotConfigs", {
          filter: `${filter} and ${LIVE}`,
          expand: `pilotPosGroups($expand=${POS_GROUP})`
        })
      ]);
      return {promotion: promotions[0], conditions, actions, loyaltyActions, posGroups, pilots};
    }

    // ---- where and when ---------------------------------------------------------------------------------------------

    /** A shop in which it runs: of a pilot or an experiment, one that gets the promotion. */
    async function shopOf({promotion, posGroups, pilots}, known) {
      const {status, currency, experimentGroupId, controlGroupId} = promotion;
      const places = status === "PILOT" ? pilots.flatMap((one) => one.pilotPosGroups) : posGroups;
      const filter = [
        Lookup.below(places.map(({posGroup}) => posGroup.code)),
        Lookup.isId(experimentGroupId) && `ID eq ${experimentGroupId}`,
        Lookup.isId(controlGroupId) && `ID ne ${controlGroupId}`,
        currency && `currency eq ${Lookup.quoted(currency)}`
      ].filter(Boolean);
      return filter.length ? Lookup.shopWhere(filter.join(" and "), known) : known;
    }

    /** The period in which it runs: its own within that of its campaign; null where that is open. */
    function periodOf({validFrom, validTo, campaign}) {
      const from = [validFrom, campaign?.startAt].filter(Boolean).sort();
      const to = [validTo, campaign?.endAt].filter(Boolean).sort();
      return {from: from.at(-1) || null, to: to[0] || null};
    }

    // ---- lines ------------------------------------------------------------------------------------------------------

    const excludedBy = ({exclusions}) =>
      exclusions
        .flatMap(({articleNumber, articleListItems}) => [
          articleNumber,
          ...articleListItems.map((one) => one.articleNumber)
        ])
        .filter(Boolean);

    /** A group and, where they count, the groups below it. */
    async function groupsOf({group, hasSubGroups}) {
      const groups = [group];
      let above = hasSubGroups ? groups : [];
      for (let level = 0; above.length && level < GROUP_LEVELS; level += 1) {
        const rows = await Lookup.among("ArticleGroups", "parent/groupId", above, {select: "groupId"});
        above = rows.map(({groupId}) => groupId);
        groups.push(...above);
      }
      return groups;
    }

    /** Which article it is: a named one, else one of those that are meant, and not one of the excluded. */
    async function filterOf(line, excluded) {
      const {articleNumber, ean, group, manufacturer} = line;
      if (articleNumber || ean) {
        const [field, value] = articleNumber ? ["articleNumber", articleNumber] : ["ean", ean];
        return `${field} eq ${Lookup.quoted(value)}`;
      }
      const made = manufacturer && Lookup.quoted(manufacturer);
      return [
        group && Lookup.isIn("articleGroupId", await groupsOf(line)),
        made && `(manufacturer eq ${made} or manufacturerId eq ${made})`,
        excluded.length && `not (${Lookup.isIn("articleNumber", excluded)})`
      ]
        .filter(Boolean)
        .join(" and ");
    }

    /**
     * A line of it. What a shop sells in another currency than that of its master data has the price that its till
     * sends: here a whole number, which every currency has.
     */
    async function lineOf(line, store, excluded) {
      const filter = await filterOf(line, excluded);
      const sameCurrency = [filter, `currency eq ${Lookup.quoted(store?.currency || "")}`]
        .filter(Boolean)
        .join(" and ");
      const article = (await Lookup.articleWhere(sameCurrency)) || (await Lookup.articleWhere(filter));
      if (!article) {
        return [];
      }
      const isForeign = article.currency && store?.currency !== article.currency;
      const basePrice = isForeign ? String(Math.ceil(Number(article.basePrice || 1))) : article.basePrice;
      const quantity = String(Fitting.pieces(line, basePrice));
      return [{...Basket.line({...article, basePrice}, quantity), fields: line.fields}];
    }

    /** A basket to which a promotion applies, in the known shop if it runs there. */
    async function fitting(id, known) {
      const parts = await partsOf(id);
      const store = await shopOf(parts, known);
      const wanted = Fitting.of(parts);
      const excluded = parts.actions.flatMap(excludedBy);
      const found = await Promise.all(wanted.lines.map((line) => lineOf(line, store, excluded)));
      const lines = Fitting.raised(found.flat(), wanted);
      const at = Fitting.when({...periodOf(parts.promotion), times: wanted.times}, store?.timeZone);
      return {...Basket.empty(store), ...wanted.circumstances, at, lines};
    }

    /** What was made, whether or not promotions that do not run take part. */
    const textOf = (basket) => JSON.stringify(Basket.shorten({...basket, includeInactive: false}));

    /** Makes baskets for promotions, and knows the last one that it made. */
    return class FittingBasket {
      /** One for a promotion, unless somebody has put something into the basket that is there: then that one. */
      async instead(basket, promotion) {
        const isFree = () => !basket.lines.length || textOf(basket) === this._last;
        const made = promotion && isFree() ? await fitting(promotion, basket.store) : null;
        if (!made || !isFree()) {
          return basket; // something may have been scanned meanwhile
        }
        this._last = textOf(made);
        return made;
      }
    };
  }
);
