sap.ui.define(["promenade/simulator/Basket", "promenade/simulator/Lookup"], function (Basket, Lookup) {
  "use strict";

  /** Promotions with their rules in the words of scenario files, which are the wire's without IDs. */
  const ARTICLE = ["articleNumber", "ean", "fixedPrice"];
  const TIER = ["thresholdAmount", "minQuantity", "discountType", "discountValue"];
  const TARGET = ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups"];
  const FIELDS = {
    promotion: [
      "name",
      "code",
      "type",
      "status",
      "validFrom",
      "validTo",
      "exclusivityLevel",
      "currency",
      "maxApplicationsPerTransaction",
      "countsTowardsThreshold",
      "excludedCountsTowardsThreshold"
    ],
    condition: [
      "logicalConnector",
      "conditionType",
      "operator",
      "valueCategory",
      "value",
      "valueTo",
      "articleNumber",
      "articleGroupId",
      "includeSubGroups",
      "manufacturer",
      "fieldName",
      "minQuantity",
      "minAmount",
      "timeFrom",
      "timeTo",
      "weekdays",
      "dateFrom",
      "dateTo"
    ],
    action: [
      "actionType",
      "discountType",
      "discountValue",
      "maxDiscountAmount",
      ...TARGET,
      "targetArticleList",
      "selectionType",
      "applicationQuantityMode",
      "applicationQuantity",
      "distributionMode",
      "maxBundles",
      "freeItemArticleNumber",
      "freeItemQuantity",
      "restrictToOnePerBasket",
      "freeItemReferencePrice",
      "maxFreeUnits"
    ],
    component: ["articleNumber", "articleGroupId", "includeSubGroups", "quantity", "discounted"],
    exclusion: ["exclusionType", "articleNumber", "articleGroupId", "manufacturer", "fieldName", "value"],
    loyalty: ["actionType", "points", "multiplier", "currencyAmount", "targetScope", ...TARGET, "maxPoints"]
  };
  const ARTICLE_PARTS = "article($select=articleNumber),articleGroup($select=groupId)";
  const CONDITION_PARTS = `valueListItems,articleListItems,${ARTICLE_PARTS}`;
  const ACTION_PARTS =
    "targetCouponType($select=name),targetArticle($select=articleNumber),targetArticleGroup($select=groupId)," +
    `scaledTiers,quantityTiers,bundleComponents($expand=${ARTICLE_PARTS}),articleListItems,` +
    "exclusions($expand=articleListItems,articleGroup($select=groupId))";
  const PROMOTION_PARTS =
    "calculationConfig,mutualExclusionGroup($select=code,resolutionStrategy)," +
    "priorityGroupPromotions($expand=priorityGroup($select=code,priority))," +
    "couponTypePromotions($expand=couponType($select=name))," +
    "budgetPromotions($expand=budget($select=code,status,remainingAmount,currency))";
  const LAST = Number.MAX_SAFE_INTEGER;
  const RECEIPT = ["RECEIPT", "SCALED_RECEIPT"];

  const bySequence = (left, right) => left.sequence - right.sequence || (left.ID < right.ID ? -1 : 1);
  const isStated = (value) => value !== null && value !== undefined && value !== "";

  /** The fields of a row that say something; a truth stays one, everything else is text. */
  function pick(row, names) {
    const stated = names.filter((name) => isStated(row[name]));
    return Object.fromEntries(
      stated.map((name) => [name, typeof row[name] === "boolean" ? row[name] : String(row[name])])
    );
  }

  const all = (rows, names) => [...(rows || [])].sort(bySequence).map((row) => pick(row, names));

  /** Number and group by which a row names articles; it may name them by an association alone. */
  function named(row) {
    return {
      ...(row.article ? {articleNumber: row.article.articleNumber} : {}),
      ...(row.articleGroup ? {articleGroupId: row.articleGroup.groupId} : {})
    };
  }

  function condition(row) {
    return Basket.stated({
      ...named(row),
      ...pick(row, FIELDS.condition),
      valueListItems: row.valueListItems.map(({value}) => value),
      articleListItems: all(row.articleListItems, ARTICLE)
    });
  }

  function action(row) {
    return Basket.stated({
      targetArticleNumber: row.targetArticle?.articleNumber,
      targetArticleGroupId: row.targetArticleGroup?.groupId,
      ...pick(row, FIELDS.action),
      targetCouponType: row.targetCouponType?.name,
      scaledTiers: all(row.scaledTiers, TIER),
      quantityTiers: all(row.quantityTiers, TIER),
      bundleComponents: [...(row.bundleComponents || [])]
        .sort(bySequence)
        .map((one) => ({...named(one), ...pick(one, FIELDS.component)})),
      articleListItems: all(row.articleListItems, ARTICLE),
      exclusions: (row.exclusions || []).map((one) =>
        Basket.stated({
          ...named(one),
          ...pick(one, FIELDS.exclusion),
          articleListItems: all(one.articleListItems, ARTICLE)
        })
      )
    });
  }

  function groups({mutualExclusionGroup, priorityGroupPromotions, calculationConfig}) {
    const [link] = priorityGroupPromotions || [];
    return Basket.stated({
      mutualExclusionGroup: mutualExclusionGroup && pick(mutualExclusionGroup, ["code", "resolutionStrategy"]),
      priorityGroup: link?.priorityGroup && {
        ...pick(link.priorityGroup, ["code", "priority"]),
        ...pick(link, ["sequence"])
      },
      calculationConfig: calculationConfig && pick(calculationConfig, ["mode", "rounding", "precision"])
    });
  }

  function rulesOf(rows, id, write) {
    return rows
      .filter((row) => row.promotion_ID === id)
      .sort(bySequence)
      .map(write);
  }

  /** One promotion in the file's words; one on trial runs in a file as if its trial were over. */
  function promotion(row, id, {conditions, actions, loyalty}) {
    return Basket.stated({
      id,
      ...pick(row, FIELDS.promotion),
      status: row.status === "PILOT" ? "ACTIVE" : row.status,
      ...groups(row),
      couponTypes: row.couponTypePromotions.map(({couponType}) => couponType.name),
      budgets: row.budgetPromotions.map(({budget}) => budget.code),
      conditions: rulesOf(conditions, row.ID, condition),
      actions: rulesOf(actions, row.ID, action),
      loyaltyActions: rulesOf(loyalty, row.ID, (one) =>
        Basket.stated({...pick(one, FIELDS.loyalty), articleListItems: all(one.articleListItems, ARTICLE)})
      )
    });
  }

  function stageOf(id, actions) {
    const types = actions.filter((row) => row.promotion_ID === id).map(({actionType}) => actionType);
    const stages = types.map((type) => (type === "POST_PURCHASE_COUPON" ? 2 : Number(RECEIPT.includes(type))));
    return Math.min(2, ...stages);
  }

  /** What decides when it comes up (pricing semantics, section 4) but for the position of its coupon. */
  function turnOf(row, actions) {
    const [link] = row.priorityGroupPromotions;
    const before = [link ? link.priorityGroup.priority : LAST, Number(row.exclusivityLevel !== "GLOBAL")];
    return {
      before: [...before, stageOf(row.ID, actions)],
      after: [link ? link.sequence : 0, row.priority, row.ID]
    };
  }

  /** Below, at or above zero, by the first part that differs. */
  function compare(left, right) {
    const place = left.findIndex((one, at) => one !== right[at]);
    return place < 0 ? 0 : left[place] < right[place] ? -1 : 1;
  }

  function budgetsOf(promotions) {
    const budgets = promotions.flatMap((row) => row.budgetPromotions.map(({budget}) => budget));
    return Object.fromEntries(
      budgets.map(({code, status, remainingAmount, currency}) => [
        code,
        {status, remaining: String(remainingAmount), currency}
      ])
    );
  }

  return {
    compare,

    /**
     * Promotions by their IDs, with everything that their effect follows from: `{promotions, budgets, names, turns}`,
     * names and turns by ID. Those of one priority come up by their IDs; files have others, so they stand in this
     * order and leave the priority out, which means the same.
     */
    async read(ids) {
      const among = (set, field, expand, filter) => Lookup.among(set, field, ids, {expand, filter});
      const [rows, conditions, actions, loyalty] = await Promise.all([
        among("Promotions", "ID", PROMOTION_PARTS, "IsActiveEntity eq true"),
        among("Conditions", "promotion_ID", CONDITION_PARTS),
        among("DiscountActions", "promotion_ID", ACTION_PARTS),
        among("LoyaltyActions", "promotion_ID", "articleListItems")
      ]);
      rows.sort((left, right) => compare([left.priority, left.ID], [right.priority, right.ID]));
      const names = Object.fromEntries(rows.map(({ID, code}) => [ID, code || ID]));
      const rules = {conditions, actions, loyalty};
      return {
        promotions: rows.map((row) => promotion(row, names[row.ID], rules)),
        budgets: budgetsOf(rows),
        gifts: actions.map((row) => row.freeItemArticleNumber),
        names,
        turns: Object.fromEntries(rows.map((row) => [row.ID, turnOf(row, actions)]))
      };
    }
  };
});
