sap.ui.define(["promenade/rules/Texts", "promenade/generic/Format"], function (Texts, Format) {
  "use strict";

  /** What rules say, in words; while something is missing, with dots in its place. */
  const GAP = "…";
  const SHOWN_MAX = 4;

  const isNone = (value) => value === null || value === undefined || value === "";
  const NUMBER = /^-?\d+(\.\d+)?$/;
  const DAY = /^\d{4}-\d\d-\d\d$/;
  const TIME = /^\d\d:\d\d(:\d\d)?/;

  /** A value in the language's way of writing; what is none of its kind, as it was entered. */
  const shown = (value, pattern, format) => (isNone(value) ? GAP : pattern.test(value) ? format(value) : String(value));
  const amount = (value, now) => shown(value, NUMBER, (one) => Format.money(one, now.currency));
  const count = (value) => shown(value, NUMBER, (one) => Format.number(one));
  const percent = (value) => shown(value, NUMBER, (one) => Format.percent(one));
  const day = (value) => shown(value, DAY, (one) => Format.date(one));
  const time = (value) => shown(value, TIME, (one) => Format.time(one));

  function several(all, word) {
    const first = all.slice(0, SHOWN_MAX).join(Texts.of(word));
    return all.length > SHOWN_MAX ? Texts.of("says.andMore", first, all.length - SHOWN_MAX) : first || GAP;
  }

  function named(set, key, now) {
    const name = key && now.names[set] && now.names[set][key];
    return name ? `${name} (${key})` : key || GAP;
  }

  function articlesOf(items, now, word = "says.or") {
    return several(
      items.map((one) => (one.articleNumber ? named("Articles", one.articleNumber, now) : one.ean || GAP)),
      word
    );
  }

  function groupOf(key, hasSubGroups, now) {
    return Texts.of(hasSubGroups ? "says.groupAndBelow" : "says.group", named("ArticleGroups", key, now));
  }

  function testOf(values, now, show = (one) => one) {
    const isNumeric =
      ["RECEIPT_AMOUNT", "ITEM_QUANTITY"].includes(values.conditionType) || values.fieldName === "points";
    const operator = values.operator || (isNumeric ? "GTE" : "EQUALS");
    const tested = values.values.map((one) => show(one.value));
    if (operator === "BETWEEN") {
      return Texts.of("test.BETWEEN", tested[0] || GAP, values.valueTo ? show(values.valueTo) : GAP);
    }
    return Texts.of(`test.${operator}`, several(tested, "says.or"));
  }

  /** What articles a condition names. */
  function what(values, now) {
    const {conditionType: type, values: tested} = values;
    const subject = Texts.of(`subject.${type}`, values.fieldName || GAP);
    if (type === "ADDITIONAL_FIELD") {
      return `${subject} ${testOf(values, now)}`;
    }
    if (type === "ARTICLE_GROUP" && values.articleGroupId) {
      return groupOf(values.articleGroupId, values.includeSubGroups, now);
    }
    if (type === "MANUFACTURER" && values.manufacturer) {
      return `${subject} ${values.manufacturer}`;
    }
    const own = values.articleNumber ? [{articleNumber: values.articleNumber}] : [];
    const articles = [...own, ...values.articleListItems];
    if (tested.length && !articles.length) {
      return `${subject} ${testOf(values, now)}`;
    }
    return type === "ARTICLE" || type === "ARTICLE_LIST" ? articlesOf(articles, now) : `${subject} ${GAP}`;
  }

  function inBasket(values, now) {
    const {minQuantity, minAmount} = values;
    if (minQuantity && minAmount) {
      return Texts.of("says.basketBoth", what(values, now), count(minQuantity), amount(minAmount, now));
    }
    if (minQuantity || minAmount) {
      const key = minQuantity ? "says.basketQuantity" : "says.basketAmount";
      return Texts.of(key, what(values, now), minQuantity ? count(minQuantity) : amount(minAmount, now));
    }
    return Texts.of("says.basket", what(values, now));
  }

  function timeWindow({timeFrom, timeTo, weekdays}) {
    const days = weekdays
      ? weekdays
          .split(",")
          .map((weekday) => Texts.of(`weekday.${weekday.trim()}`))
          .join(", ")
      : "";
    const times =
      timeFrom || timeTo ? Texts.of("says.times", time(timeFrom || "00:00:00"), time(timeTo || "00:00:00")) : "";
    return Texts.of("says.when", [days || (times ? Texts.of("says.everyDay") : GAP), times].filter(Boolean).join(", "));
  }

  function timePeriod({dateFrom, dateTo}) {
    if (dateFrom && dateTo) {
      return Texts.of("says.fromUntil", day(dateFrom), day(dateTo));
    }
    return dateTo ? Texts.of("says.until", day(dateTo)) : Texts.of("says.from", day(dateFrom));
  }

  function withFallback(values, name) {
    return values.values.length || !values[name] ? values : {...values, values: [{value: values[name]}]};
  }

  const CONDITIONS = {
    TIME_WINDOW: timeWindow,
    TIME_PERIOD: timePeriod,
    RECEIPT_AMOUNT: (values, now) => {
      const test = testOf(withFallback(values, "minAmount"), now, (one) => amount(one, now));
      return `${Texts.of("subject.RECEIPT_AMOUNT")} ${test}`;
    },
    ITEM_QUANTITY: (values, now) =>
      `${Texts.of("subject.ITEM_QUANTITY")} ${testOf(withFallback(values, "minQuantity"), now, count)}`,
    LOYALTY_ACCOUNT: (values, now) =>
      `${Texts.of(values.fieldName === "points" ? "subject.points" : "subject.tier")} ${testOf(values, now)}`,
    MANUAL_DISCOUNT: (values, now) =>
      values.values.length
        ? `${Texts.of("subject.MANUAL_DISCOUNT")} ${testOf(values, now)}`
        : Texts.of("says.manualDiscount")
  };
  const ABOUT_LINES = new Set(["ARTICLE", "ARTICLE_LIST", "ARTICLE_GROUP", "MANUFACTURER", "ADDITIONAL_FIELD"]);

  function condition(values, now) {
    const own = CONDITIONS[values.conditionType];
    if (own) {
      return own(values, now);
    }
    return ABOUT_LINES.has(values.conditionType)
      ? inBasket(values, now)
      : `${Texts.of(`subject.${values.conditionType}`, values.fieldName || GAP)} ${testOf(values, now)}`;
  }

  /** The articles that an action is about; "" for those that met the conditions. */
  function targetOf(values, now) {
    const own = values.targetArticleNumber ? [{articleNumber: values.targetArticleNumber}] : [];
    const articles = [...own, ...(values.articleListItems || [])];
    const parts = [articles.length ? articlesOf(articles, now, "says.comma") : ""];
    if (values.targetArticleGroupId) {
      parts.push(groupOf(values.targetArticleGroupId, values.includeSubGroups, now));
    }
    return parts.filter(Boolean).join(Texts.of("says.comma"));
  }

  const offOf = ({discountType, discountValue}, now) => {
    const said = discountType === "PERCENTAGE" ? percent(discountValue) : amount(discountValue, now);
    return Texts.of(`off.${discountType || "PERCENTAGE"}`, said);
  };

  function extras(values, now) {
    const {selectionType: selection, applicationQuantityMode: mode, exclusions} = values;
    const said = [];
    if (selection && selection !== "ALL") {
      said.push(Texts.of(`says.selection.${selection}`));
    }
    if (mode && mode !== "ALL") {
      said.push(Texts.of(`says.units.${mode}`, count(values.applicationQuantity || "1")));
    }
    if (values.maxDiscountAmount) {
      said.push(Texts.of("says.atMost", amount(values.maxDiscountAmount, now)));
    }
    if (exclusions && exclusions.length) {
      said.push(
        Texts.of(
          "says.except",
          several(
            exclusions.map((one) => exclusionOf(one, now)),
            "says.comma"
          )
        )
      );
    }
    return said;
  }

  function exclusionOf(one, now) {
    return {
      ARTICLE: () => named("Articles", one.articleNumber, now),
      ARTICLE_GROUP: () => groupOf(one.articleGroupId, false, now),
      MANUFACTURER: () => one.manufacturer || GAP,
      ARTICLE_LIST: () => articlesOf(one.articleListItems || [], now, "says.comma")
    }[one.exclusionType]();
  }

  function onArticles(values, now) {
    const target = targetOf(values, now) || Texts.of("says.qualifying");
    return Texts.of("says.on", offOf(values, now), target);
  }

  function onReceipt(values, now, off) {
    const target = targetOf(values, now);
    return target ? Texts.of("says.onSum", off, target) : Texts.of("says.onReceipt", off);
  }

  function tiersOf(tiers, threshold, now) {
    const said = tiers.map((tier) =>
      Texts.of(
        `says.${threshold}`,
        threshold === "minQuantity" ? count(tier.minQuantity) : amount(tier.thresholdAmount, now),
        offOf(tier, now)
      )
    );
    return several(said, "says.comma");
  }

  function bundle(values, now) {
    const parts = values.bundleComponents.map((part) => {
      const group = part.articleGroupId ? groupOf(part.articleGroupId, part.includeSubGroups, now) : "";
      const article = part.articleNumber && named("Articles", part.articleNumber, now);
      return Texts.of("says.part", count(part.quantity), article || group || Texts.of("says.anyQualifying"));
    });
    return Texts.of("says.bundle", several(parts, "says.plus"), offOf(values, now));
  }

  const ACTIONS = {
    QUANTITY_TIER: (values, now) =>
      Texts.of(
        "says.on",
        tiersOf(values.quantityTiers, "minQuantity", now),
        targetOf(values, now) || Texts.of("says.qualifying")
      ),
    BUNDLE: bundle,
    RECEIPT: (values, now) => onReceipt(values, now, offOf(values, now)),
    SCALED_RECEIPT: (values, now) => onReceipt(values, now, tiersOf(values.scaledTiers, "thresholdAmount", now)),
    FREE_ITEM: (values, now) =>
      Texts.of(
        values.restrictToOnePerBasket ? "says.freeOnce" : "says.free",
        count(values.freeItemQuantity || "1"),
        named("Articles", values.freeItemArticleNumber || values.targetArticleNumber, now)
      ),
    POST_PURCHASE_COUPON: (values, now) => {
      const names = now.names.CouponTypes || {};
      return Texts.of("says.coupon", values.targetCouponType_ID ? names[values.targetCouponType_ID] || GAP : GAP);
    },
    LOYALTY: () => Texts.of("says.loyalty")
  };

  function discount(values, now) {
    const said = (ACTIONS[values.actionType] || onArticles)(values, now);
    return [said, ...extras(values, now)].join(" · ");
  }

  function loyalty(values, now) {
    const said = Texts.of(
      `says.${values.actionType}`,
      count(values.actionType === "MULTIPLY_POINTS" ? values.multiplier : values.points),
      amount(values.currencyAmount, now)
    );
    const scope = values.targetScope || "ALL_ITEMS";
    const target = scope === "ALL_ITEMS" ? "" : Texts.of("says.for", targetOf(values, now) || GAP);
    const limit = values.maxPoints ? Texts.of("says.atMostPoints", count(values.maxPoints)) : "";
    return [said, target, limit].filter(Boolean).join(" · ");
  }

  const BY_KIND = {Conditions: condition, DiscountActions: discount, LoyaltyActions: loyalty};

  return {
    /**
     * The sentence of a row. `now` is `{names: {<set>: {<key>: name}}, currency}`, as far as they are known.
     */
    of(row, now) {
      return BY_KIND[row.kind](row.values, now);
    }
  };
});
