sap.ui.define(["promenade/generic/Clock", "promenade/simulator/Basket"], function (Clock, Basket) {
  "use strict";

  /**
   * What a basket needs so that a promotion applies to it: read from the first group of its conditions (what is negated
   * is left alone) and from what its actions take. Amounts and quantities are texts; nothing here is a price.
   */
  const ABOUT_LINES = new Set(["ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "MANUFACTURER", "ADDITIONAL_FIELD"]);
  const SIZES = new Set(["GREATER_THAN", "LESS_THAN", "BETWEEN", "GTE", "LTE"]);
  const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
  const DAYS_AHEAD = 400;
  const BY_DAY = "10:00:00";
  const NUMBER = /^\d+(\.\d+)?$/;
  const SCALE = 3; // decimals of a quantity, and at least those of an amount

  // ---- numbers as texts ---------------------------------------------------------------------------------------------

  function scaled(text) {
    const [whole, decimals = ""] = (NUMBER.test(text || "") ? String(text) : "0").split(".");
    return BigInt(whole) * 10n ** BigInt(SCALE) + BigInt(decimals.padEnd(SCALE, "0").slice(0, SCALE));
  }

  /** The exact sum of two numbers. */
  function sum(one, other) {
    const digits = String(scaled(one) + scaled(other)).padStart(SCALE + 1, "0");
    return `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, "");
  }

  const larger = (one, other) => (scaled(one) < scaled(other) ? other : one);

  // ---- conditions ---------------------------------------------------------------------------------------------------

  const first = (rows) => (rows && rows[0]) || {};
  const valueOf = ({value, valueListItems}) => value || first(valueListItems).value || "";

  const valueFor = (condition, type) => (condition.conditionType === type ? valueOf(condition) : "");

  /** The least that a condition about a number asks for; nothing when it only sets an upper bound. */
  function least(condition, otherwise = "") {
    const value = valueOf(condition) || otherwise;
    if (condition.operator === "LESS_THAN" || condition.operator === "LTE") {
      return "";
    }
    return condition.operator === "GREATER_THAN" ? sum(value, "1") : String(value);
  }

  function firstGroup(conditions) {
    const next = conditions.findIndex(({logicalConnector}, place) => place > 0 && logicalConnector === "OR");
    const group = next < 0 ? conditions : conditions.slice(0, next);
    return group.filter(({logicalConnector}) => logicalConnector !== "NOT");
  }

  // ---- lines --------------------------------------------------------------------------------------------------------

  function lineOfCondition(condition) {
    const item = first(condition.articleListItems);
    const isField = condition.conditionType === "ADDITIONAL_FIELD";
    return {
      articleNumber: condition.articleNumber || item.articleNumber || valueFor(condition, "ARTICLE"),
      ean: item.articleNumber ? "" : item.ean || "",
      group: condition.articleGroupId || valueFor(condition, "ARTICLE_GROUP"),
      hasSubGroups: Boolean(condition.includeSubGroups),
      manufacturer: condition.manufacturer || valueFor(condition, "MANUFACTURER"),
      quantity: condition.minQuantity || "",
      amount: condition.minAmount || "",
      fields: isField ? [{key: condition.fieldName, value: valueOf(condition)}] : []
    };
  }

  function lineOfAction(action) {
    const item = first(action.articleListItems);
    const tier = first(action.quantityTiers);
    return {
      articleNumber: action.targetArticleNumber || item.articleNumber || "",
      ean: item.articleNumber ? "" : item.ean || "",
      group: action.targetArticleGroupId || "",
      hasSubGroups: Boolean(action.includeSubGroups),
      manufacturer: "",
      quantity: tier.minQuantity || (action.applicationQuantityMode === "ALL" ? "" : action.applicationQuantity || ""),
      amount: "",
      fields: []
    };
  }

  const lineOfComponent = (component) => ({
    ...lineOfAction({}),
    articleNumber: component.articleNumber || "",
    group: component.articleGroupId || "",
    hasSubGroups: Boolean(component.includeSubGroups),
    quantity: component.quantity
  });

  const isNamed = ({articleNumber, ean, group, manufacturer}) => Boolean(articleNumber || ean || group || manufacturer);
  const isSame = (one, other) =>
    ["articleNumber", "ean", "group", "manufacturer"].every((field) => one[field] === other[field]);

  /** Lines that name the same articles are one line; what only has fields is added to the first. */
  function merged(lines, together = larger) {
    const found = [];
    lines.forEach((line) => {
      const known = found.find((one) => isSame(one, line)) || (isNamed(line) ? null : found[0]);
      if (!known) {
        found.push({...line});
        return;
      }
      known.quantity = together(known.quantity, line.quantity);
      known.amount = larger(known.amount, line.amount);
      known.fields = [...known.fields, ...line.fields];
    });
    return found;
  }

  /** The lines that an action takes: of a bundle, all of its pieces. */
  function linesOfAction(action) {
    const components = action.actionType === "BUNDLE" ? action.bundleComponents || [] : [];
    return components.length ? merged(components.map(lineOfComponent), sum) : [lineOfAction(action)];
  }

  function linesOf(group, actions, loyaltyActions) {
    const asked = group.filter(({conditionType}) => ABOUT_LINES.has(conditionType)).map(lineOfCondition);
    const lines = [...asked, ...actions.flatMap(linesOfAction), ...loyaltyActions.map(lineOfAction)];
    return merged([...lines.filter(isNamed), ...lines.filter((line) => !isNamed(line))]);
  }

  // ---- the rest of the basket ---------------------------------------------------------------------------------------

  const isOfPoints = ({fieldName, operator, valueCategory, value}) =>
    fieldName === "points" ||
    SIZES.has(operator) ||
    (!operator && fieldName !== "tier" && valueCategory !== "LOYALTY_TIER" && /^\d+$/.test(value || ""));

  /** What each type of condition puts into a basket. */
  const PUTS = {
    CUSTOMER: (one) => ({customer: {id: valueOf(one)}}),
    CUSTOMER_GROUP: (one) => ({customer: {group: valueOf(one)}}),
    LOYALTY_ACCOUNT: (one) => ({customer: isOfPoints(one) ? {points: least(one)} : {tier: valueOf(one)}}),
    PAYMENT_MEANS: (one) => ({payment: {means: valueOf(one)}}),
    PAYMENT_CARD: (one) => ({payment: {cardType: valueOf(one)}}),
    CREDIT_CARD_BIN: (one) => ({payment: {cardNumber: valueOf(one)}}),
    CHANNEL: (one) => ({channel: valueOf(one)}),
    USER_DEFINED: (one) => ({fields: [{key: one.fieldName, value: valueOf(one)}]}),
    MANUAL_DISCOUNT: (one) => ({manual: {enabled: true, reason: valueOf(one)}})
  };

  /** The parts of a basket that are not its lines. */
  function circumstancesOf(group) {
    const {customer, payment, channel, fields, manual} = Basket.empty();
    const found = group.map((one) => PUTS[one.conditionType]?.(one) || {});
    return {
      customer: Object.assign(customer, ...found.map((one) => one.customer)),
      payment: Object.assign(payment, ...found.map((one) => one.payment)),
      channel: found.reduce((last, one) => one.channel || last, channel),
      fields: [...fields, ...found.flatMap((one) => one.fields || [])],
      manual: Object.assign(manual, ...found.map((one) => one.manual))
    };
  }

  /** How many times something goes into an amount, rounded up. */
  const timesIn = (amount, one) => (one > 0n ? (amount + one - 1n) / one : 1n);

  const Fitting = {
    /** What is needed: `{lines, amount, pieces, times, circumstances}`. */
    of({conditions, actions, loyaltyActions}) {
      const group = firstGroup(conditions);
      const ofType = (type) => group.filter(({conditionType}) => conditionType === type);
      const thresholds = actions.map(({scaledTiers}) => first(scaledTiers).thresholdAmount || "");
      const earned = loyaltyActions.map(({currencyAmount}) => currencyAmount || "");
      const asked = ofType("RECEIPT_AMOUNT").map((one) => least(one, one.minAmount || ""));
      return {
        lines: linesOf(group, actions, loyaltyActions),
        amount: [...asked, ...thresholds, ...earned].reduce(larger, ""),
        pieces: ofType("ITEM_QUANTITY")
          .map((one) => least(one, one.minQuantity || ""))
          .reduce(larger, ""),
        times: group.filter(({conditionType}) => /^TIME_/.test(conditionType)),
        circumstances: circumstancesOf(group)
      };
    },

    /** As many whole pieces of an article as a quantity and an amount ask for, one at least. */
    pieces({quantity, amount}, price) {
      const byQuantity = timesIn(scaled(quantity), scaled("1"));
      const byAmount = scaled(amount) > 0n ? timesIn(scaled(amount), scaled(price)) : 1n;
      return [1n, byQuantity, byAmount].reduce((one, other) => (one < other ? other : one));
    },

    /** The lines, with more pieces of the first one if they are not worth an amount or not so many pieces. */
    raised(lines, {amount, pieces}) {
      const [line, ...others] = lines;
      if (!line) {
        return lines;
      }
      const worth = lines.reduce((total, one) => total + BigInt(one.quantity) * scaled(one.unitPrice), 0n);
      const held = lines.reduce((total, one) => total + BigInt(one.quantity), 0n);
      const byAmount = worth < scaled(amount) ? timesIn(scaled(amount) - worth, scaled(line.unitPrice)) : 0n;
      const byPieces = timesIn(scaled(pieces), scaled("1")) - held;
      const more = [0n, byAmount, byPieces].reduce((one, other) => (one < other ? other : one));
      return [{...line, quantity: String(BigInt(line.quantity) + more)}, ...others];
    },

    /**
     * When it runs, on the clock of a place: nothing when that is now, or no more. `from` and `to` are moments or null,
     * `times` the conditions of that kind.
     */
    when({from, to, times}, zone, now = new Date()) {
      const wall = (moment) => Clock.wall(moment, zone);
      const last = to && wall(to);
      const runs = (at) => (!last || at < last) && times.every((one) => isIn(one, at));
      const today = wall(now);
      if ((!from || wall(from) <= today) && runs(today)) {
        return "";
      }
      return soonest(from && wall(from) > today ? wall(from) : today, runs, times);
    }
  };

  /** Whether a moment on the clock is within a window of time or a range of days. */
  function isIn({timeFrom, timeTo, weekdays, dateFrom, dateTo}, at) {
    const [day, time] = at.split("T");
    const isDay = (!dateFrom || day >= dateFrom) && (!dateTo || day <= dateTo);
    const isWeekday = !weekdays || weekdays.split(",").includes(DAYS[new Date(`${day}T00:00:00Z`).getUTCDay()]);
    const isTime = (!timeFrom || time >= timeFrom) && (!timeTo || timeTo <= (timeFrom || "") || time < timeTo);
    return isDay && isWeekday && isTime;
  }

  /** The first time from a beginning on at which it runs, among those at which people shop; nothing: never. */
  function soonest(begin, runs, times) {
    const [day] = begin.split("T");
    const clocks = [BY_DAY, ...times.map(({timeFrom}) => timeFrom).filter(Boolean)];
    for (let ahead = 0; ahead < DAYS_AHEAD; ahead += 1) {
      const later = Clock.later(day, ahead);
      const tried = [...(ahead ? [] : [begin]), ...clocks.map((clock) => `${later}T${clock}`)];
      const found = tried.find((at) => at >= begin && runs(at));
      if (found) {
        return found.replace(/(T\d\d:\d\d):00$/, "$1");
      }
    }
    return "";
  }

  return Fitting;
});
