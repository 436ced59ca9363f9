sap.ui.define(
  ["promenade/rules/Shapes", "promenade/rules/Texts", "promenade/generic/Format"],
  function (Shapes, Texts, Format) {
    "use strict";

    /**
     * Rules in words; while something is missing, with dots in its place.
     *
     * The sentences of each type are declared with it (`model/texts/conditions.py`, `model/texts/benefits.py`);
     * this fills their places.
     */
    const GAP = "…";
    const PLACE = /\{(\w+)\}/g;
    const SHOWN_MAX = 4;

    const isNone = (value) => value === null || value === undefined || value === "";
    const NUMBER = /^-?\d+(\.\d+)?$/;
    const DAY = /^\d{4}-\d\d-\d\d$/;
    const TIME = /^\d\d:\d\d(:\d\d)?/;

    /** A value in the language's way of writing; what is none of its kind, as it was entered. */
    const shown = (value, pattern, format) =>
      isNone(value) ? GAP : pattern.test(value) ? format(value) : String(value);
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
      const isNumeric = Shapes.Conditions[values.conditionType].isNumeric || values.fieldName === "points";
      const operator = values.operator || (isNumeric ? "GTE" : "EQUALS");
      const tested = values.values.map((one) => show(one.value));
      if (operator === "BETWEEN") {
        return Texts.of("test.BETWEEN", tested[0] || GAP, values.valueTo ? show(values.valueTo) : GAP);
      }
      return Texts.of(`test.${operator}`, several(tested, "says.or"));
    }

    /** That the basket holds `lines`, so many of them or for so much. */
    function inBasket(lines, {minQuantity, minAmount}, now) {
      if (minQuantity && minAmount) {
        return Texts.of("says.basketBoth", lines, count(minQuantity), amount(minAmount, now));
      }
      if (minQuantity || minAmount) {
        const key = minQuantity ? "says.basketQuantity" : "says.basketAmount";
        return Texts.of(key, lines, minQuantity ? count(minQuantity) : amount(minAmount, now));
      }
      return Texts.of("says.basket", lines);
    }

    function whenOf({timeFrom, timeTo, weekdays}) {
      const days = weekdays
        ? weekdays
            .split(",")
            .map((weekday) => Texts.of(`weekday.${weekday.trim()}`))
            .join(", ")
        : "";
      const times =
        timeFrom || timeTo ? Texts.of("says.times", time(timeFrom || "00:00:00"), time(timeTo || "00:00:00")) : "";
      return [days || (times ? Texts.of("says.everyDay") : GAP), times].filter(Boolean).join(", ");
    }

    function withFallback(values, name) {
      return values.values.length || !values[name] ? values : {...values, values: [{value: values[name]}]};
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
        ARTICLE_LIST: () => articlesOf(one.articleListItems || [], now, "says.comma"),
        ADDITIONAL_FIELD: () =>
          one.value
            ? Texts.of("says.fieldIs", one.fieldName || GAP, one.value)
            : Texts.of("says.field", one.fieldName || GAP),
        REDUCED: () => Texts.of("says.reduced"),
        BETTER_REDUCED: () => Texts.of("says.betterReduced")
      }[one.exclusionType]();
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

    function componentsOf(values, now) {
      const parts = values.bundleComponents.map((part) => {
        const group = part.articleGroupId ? groupOf(part.articleGroupId, part.includeSubGroups, now) : "";
        const article = part.articleNumber && named("Articles", part.articleNumber, now);
        return Texts.of("says.part", count(part.quantity), article || group || Texts.of("says.anyQualifying"));
      });
      return several(parts, "says.plus");
    }

    function couponOf(id, {names: {CouponTypes = {}}}) {
      return (id && CouponTypes[id]) || GAP;
    }

    function articlesNamed({articleNumber, articleListItems}) {
      return [...(articleNumber ? [{articleNumber}] : []), ...articleListItems];
    }

    /** What fills a place of a sentence; another sentence is taken where it is not known. */
    const part = (text, isKnown = true) => ({text, isKnown: Boolean(isKnown)});

    /** The parts of sentences by kind of rule: of its values, and of the names and the currency that are known. */
    const PARTS = {
      Conditions: {
        articles: (values, now) => part(articlesOf(articlesNamed(values), now), articlesNamed(values).length > 0),
        group: ({articleGroupId, includeSubGroups}, now) =>
          part(groupOf(articleGroupId, includeSubGroups, now), articleGroupId),
        manufacturer: ({manufacturer}) => part(manufacturer || GAP, manufacturer),
        field: ({fieldName}) => part(fieldName || GAP),
        test: (values, now) => part(testOf(values, now), values.values.length),
        amount: (values, now) => part(testOf(withFallback(values, "minAmount"), now, (one) => amount(one, now))),
        count: (values, now) => part(testOf(withFallback(values, "minQuantity"), now, count)),
        points: (values, now) => part(testOf(values, now), values.fieldName === "points"),
        when: (values) => part(whenOf(values)),
        dateFrom: ({dateFrom}) => part(day(dateFrom), dateFrom),
        dateTo: ({dateTo}) => part(day(dateTo), dateTo)
      },
      DiscountActions: {
        off: (values, now) => part(offOf(values, now)),
        targets: (values, now) => part(targetOf(values, now) || Texts.of("says.qualifying")),
        named: (values, now) => part(targetOf(values, now), targetOf(values, now) !== ""),
        quantityTiers: (values, now) => part(tiersOf(values.quantityTiers, "minQuantity", now)),
        scaledTiers: (values, now) => part(tiersOf(values.scaledTiers, "thresholdAmount", now)),
        components: (values, now) => part(componentsOf(values, now)),
        freeItems: ({freeItemQuantity, freeItemArticleNumber, targetArticleNumber}, now) => {
          const article = named("Articles", freeItemArticleNumber || targetArticleNumber, now);
          return part(Texts.of("says.part", count(freeItemQuantity || "1"), article));
        },
        once: ({restrictToOnePerBasket}) => part(Texts.of("says.once"), restrictToOnePerBasket),
        coupon: (values, now) => part(couponOf(values.targetCouponType_ID, now))
      },
      LoyaltyActions: {
        points: ({points}) => part(count(points)),
        multiplier: ({multiplier}) => part(count(multiplier)),
        currencyAmount: ({currencyAmount}, now) => part(amount(currencyAmount, now))
      }
    };

    /** The first sentence of a type whose parts are all known, else the last one. */
    function saidOf(kind, type, values, now) {
      const {says} = Texts.ofType(kind, type);
      const of = (name) => PARTS[kind][name](values, now);
      const isKnown = (sentence) => [...sentence.matchAll(PLACE)].every(([, name]) => of(name).isKnown);
      return (says.find(isKnown) || says[says.length - 1]).replace(PLACE, (_, name) => of(name).text);
    }

    function condition(values, now) {
      const said = saidOf("Conditions", values.conditionType, values, now);
      return Shapes.Conditions[values.conditionType].isAboutLines ? inBasket(said, values, now) : said;
    }

    function discount(values, now) {
      return [saidOf("DiscountActions", values.actionType, values, now), ...extras(values, now)].join(" · ");
    }

    function loyalty(values, now) {
      const scope = values.targetScope || "ALL_ITEMS";
      const target = scope === "ALL_ITEMS" ? "" : Texts.of("says.for", targetOf(values, now) || GAP);
      const limit = values.maxPoints ? Texts.of("says.atMostPoints", count(values.maxPoints)) : "";
      return [saidOf("LoyaltyActions", values.actionType, values, now), target, limit].filter(Boolean).join(" · ");
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
  }
);
