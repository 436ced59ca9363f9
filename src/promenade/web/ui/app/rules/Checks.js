sap.ui.define(
  ["promenade/rules/Shapes", "promenade/rules/Rows", "promenade/rules/Texts"],
  function (Shapes, Rows, Texts) {
    "use strict";

    /**
     * What is wrong with rules, said before the service has to: missing fields, what is no number, ranges.
     *
     * The engine has the last word when a promotion is activated; these checks are those that a single rule can fail.
     */
    const DECIMAL = /^-?\d{1,13}(\.\d+)?$/;
    const WHOLE_UNITS = new Set(["applicationQuantity", "quantity"]);
    const ABOVE_ZERO = new Set([
      "applicationQuantity",
      "quantity",
      "freeItemQuantity",
      "points",
      "currencyAmount",
      "maxBundles"
    ]);
    const PLACES = {
      multiplier: 3,
      minQuantity: 3,
      quantity: 3,
      applicationQuantity: 3,
      freeItemQuantity: 3,
      maxFreeUnits: 3
    };
    const NUMBERS = new Set([
      ...ABOVE_ZERO,
      ...Object.keys(PLACES),
      "minAmount",
      "discountValue",
      "maxDiscountAmount",
      "freeItemReferencePrice",
      "maxPoints",
      "thresholdAmount",
      "fixedPrice"
    ]);

    const isEmpty = (value) =>
      value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length);

    /** What is wrong with a number, or null. */
    function faultOfNumber(name, value) {
      const text = String(value);
      if (!DECIMAL.test(text)) {
        return Texts.of("fault.number");
      }
      const places = PLACES[name] || 2;
      if ((text.split(".")[1] || "").replace(/0+$/, "").length > places) {
        return Texts.of("fault.places", places);
      }
      if (WHOLE_UNITS.has(name) || name === "maxBundles") {
        return /^\d+(\.0*)?$/.test(text) && Number(text) >= 1 ? null : Texts.of("fault.whole");
      }
      if (ABOVE_ZERO.has(name) && !(Number(text) > 0)) {
        return Texts.of("fault.aboveZero");
      }
      return Number(text) < 0 ? Texts.of("fault.negative") : null;
    }

    /** Faults of the numbers of an entity, by field. */
    function numbersOf(values) {
      const found = {};
      for (const [name, value] of Object.entries(values)) {
        const fault = NUMBERS.has(name) && !isEmpty(value) ? faultOfNumber(name, value) : null;
        if (fault) {
          found[name] = fault;
        }
      }
      return found;
    }

    function discountOf({discountType, discountValue}, found) {
      if (discountType === "PERCENTAGE" && !found.discountValue && Number(discountValue) > 100) {
        found.discountValue = Texts.of("fault.percentage");
      }
    }

    function required(values, names, found) {
      names
        .filter((name) => isEmpty(values[name]) && !found[name])
        .forEach((name) => {
          found[name] = Texts.of("fault.required");
        });
    }

    function ofTier(threshold) {
      return (tier, all) => {
        const found = numbersOf(tier);
        required(tier, [threshold, "discountType", "discountValue"], found);
        discountOf(tier, found);
        const isTwice = all.some((one) => one !== tier && Number(one[threshold]) === Number(tier[threshold]));
        if (!found[threshold] && isTwice) {
          found[threshold] = Texts.of("fault.sameTier");
        }
        return found;
      };
    }

    function ofArticle(item) {
      const found = numbersOf(item);
      if (isEmpty(item.articleNumber) && isEmpty(item.ean)) {
        found.articleNumber = Texts.of("fault.articleOrEan");
      }
      return found;
    }

    function ofComponent(part) {
      const found = numbersOf(part);
      required(part, ["quantity"], found);
      return found;
    }

    const NAMED_BY = {
      ARTICLE: "articleNumber",
      ARTICLE_GROUP: "articleGroupId",
      MANUFACTURER: "manufacturer",
      ARTICLE_LIST: "articleListItems",
      ADDITIONAL_FIELD: "fieldName"
    };

    function ofExclusion(exclusion) {
      const found = {};
      required(exclusion, [NAMED_BY[exclusion.exclusionType]].filter(Boolean), found);
      (exclusion.articleListItems || []).forEach((item) => {
        item.faults = ofArticle(item);
        Object.assign(found, Object.keys(item.faults).length ? {articleListItems: Texts.of("fault.articleOrEan")} : {});
      });
      return found;
    }

    const ITEMS = {
      scaledTiers: ofTier("thresholdAmount"),
      quantityTiers: ofTier("minQuantity"),
      articleListItems: ofArticle,
      bundleComponents: ofComponent,
      exclusions: ofExclusion
    };

    /** Puts what is wrong with the items of lists at the items; the lists with such items, by name. */
    function itemsOf(values) {
      const found = {};
      for (const [list, check] of Object.entries(ITEMS)) {
        for (const item of values[list] || []) {
          item.faults = check(item, values[list]);
          if (Object.keys(item.faults).length) {
            found[list] = Object.values(item.faults)[0];
          }
        }
      }
      return found;
    }

    function neededOf(values, shape, found) {
      for (const names of shape.needs) {
        const shown = names.find((name) => shape.fields.includes(name)) || names[0];
        if (names.every((name) => isEmpty(values[name])) && !found[shown]) {
          found[shown] = Texts.of(values[shown] instanceof Array ? "fault.empty" : "fault.required");
        }
      }
    }

    function isNumeric(values) {
      return Boolean(Shapes.Conditions[values.conditionType].isNumeric) || values.fieldName === "points";
    }

    function rangeOf(values, from, to, found) {
      if (isEmpty(values[from]) || isEmpty(values[to]) || found[from] || found[to]) {
        return;
      }
      if (values[from] > values[to]) {
        found[to] = Texts.of("fault.order");
      }
    }

    /** What a value is compared with: its field and the value, both ends of a range. */
    function comparands({operator, valueTo, values = []}) {
      const all = values || [];
      if (operator !== "BETWEEN") {
        return all.map(({value}) => ["values", value]);
      }
      const [first] = all;
      return [
        ["values", first && first.value],
        ["valueTo", valueTo]
      ];
    }

    /** What is wrong with one value by itself; null: nothing. */
    function faultOfComparand(values, value) {
      if (isEmpty(value)) {
        return null;
      }
      if (Shapes.Conditions[values.conditionType].values === "digits" && !/^[\d ]{1,8}$/.test(value)) {
        return Texts.of("fault.bin");
      }
      const isNumber = /^-?\d{1,20}(\.\d{1,9})?$/.test(value);
      return isNumeric(values) && !isNumber ? Texts.of("fault.number") : null;
    }

    function comparisonOf(values, found) {
      const tested = comparands(values);
      for (const [name, value] of tested) {
        const fault = faultOfComparand(values, value);
        if (fault) {
          found[name] = fault;
        }
      }
      if (values.operator === "BETWEEN") {
        endsOf(values, tested, found);
      }
    }

    /**
     * A range has two ends, the lower one first.
     *
     * @param {any} values
     * @param {any[][]} ends
     * @param {Record<string, string>} found
     */
    function endsOf(values, [[, from], [, to]], found) {
      if (isEmpty(to)) {
        found.valueTo = Texts.of("fault.required");
      } else if (isNumeric(values) && !isEmpty(from) && !found.values && !found.valueTo && Number(from) > Number(to)) {
        found.valueTo = Texts.of("fault.order");
      }
    }

    const isTime = (value) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/.test(value);
    const isDay = (value) => /^\d{4}-\d\d-\d\d$/.test(value);

    function timesOf(values, found) {
      /** @type {[string[], (value: string) => boolean][]} */
      const pairs = [
        [["timeFrom", "timeTo"], isTime],
        [["dateFrom", "dateTo"], isDay]
      ];
      for (const [names, isRight] of pairs) {
        names
          .filter((name) => !isEmpty(values[name]) && !isRight(values[name]))
          .forEach((name) => {
            found[name] = Texts.of(isRight === isTime ? "fault.time" : "fault.date");
          });
      }
      rangeOf(values, "dateFrom", "dateTo", found); // times may run past midnight
    }

    function scopeOf(values, found) {
      const name = {
        ARTICLE: "targetArticleNumber",
        ARTICLE_GROUP: "targetArticleGroupId",
        ARTICLE_LIST: "articleListItems"
      }[values.targetScope];
      if (name) {
        required(values, [name], found);
      }
    }

    function bundleOf(values, found) {
      const parts = values.bundleComponents;
      if (!found.bundleComponents && parts.length && parts.every((part) => part.discounted === false)) {
        found.bundleComponents = Texts.of("fault.nothingDiscounted");
      }
    }

    /**
     * What is wrong with a row, by field; what is wrong with items of its lists is put at them, as `faults`.
     * `rows` are all rows of the promotion.
     */
    function of(row, rows) {
      const {kind, values} = row;
      const shape = Shapes[kind][Rows.type(row)];
      const found = {...numbersOf(values), ...itemsOf(values)};
      neededOf(values, shape, found);
      if (kind === "Conditions") {
        comparisonOf(values, found);
        timesOf(values, found);
      } else if (kind === "LoyaltyActions") {
        scopeOf(values, found);
      } else {
        discountOf(values, found);
        if (values.actionType === "BUNDLE") {
          bundleOf(values, found);
        }
        if (values.actionType === "LOYALTY" && !rows.some((one) => one.kind === "LoyaltyActions")) {
          found[""] = Texts.of("fault.noPoints");
        }
      }
      return found;
    }

    return {of};
  }
);
