sap.ui.define(["promenade/generic/Clock"], function (Clock) {
  "use strict";

  /**
   * A basket as the page edits it. Numbers are texts throughout, as the service takes them: nothing is computed here.
   *
   * Its short form leaves out what is empty and what the service knows (names of articles, the shop's time zone).
   */
  const QUANTITY = /^-?\d{1,12}(\.\d{1,3})?$/;
  const WHOLE = /^\d{1,10}$/; // the one number that the service takes as no text
  const PRICE = /^\d{1,13}(\.\d{1,2})?$/;
  const isEmpty = (value) =>
    value === undefined ||
    value === null ||
    value === "" ||
    value === false ||
    (Array.isArray(value) && !value.length) ||
    (typeof value === "object" && !Object.keys(value).length);

  /** The entries that say something. */
  function stated(entries) {
    return Object.fromEntries(Object.entries(entries).filter(([, value]) => !isEmpty(value)));
  }

  function pairs(rows) {
    return (rows || []).filter(({key, value}) => key && value).map(({key, value}) => ({key, value}));
  }

  const asPairs = (rows) => pairs(rows).map(({key, value}) => [key, value]);
  const fromPairs = (rows) => (rows || []).map(([key, value]) => ({key, value}));

  function shortLine({articleNumber, quantity, unitPrice, ref, typedEan, group, manufacturer, fields, regularPrice}) {
    const more = stated({r: ref, e: typedEan, g: group, m: manufacturer, f: asPairs(fields), w: regularPrice});
    return [articleNumber, quantity, unitPrice, ...(isEmpty(more) ? [] : [more])];
  }

  /** @param {any[]} short */
  function longLine([articleNumber, quantity, unitPrice, more = {}]) {
    return {
      articleNumber,
      quantity,
      unitPrice,
      name: "",
      ean: "",
      unit: "",
      currency: "",
      ref: more.r || "",
      typedEan: more.e || "",
      group: more.g || "",
      manufacturer: more.m || "",
      fields: fromPairs(more.f),
      regularPrice: more.w || ""
    };
  }

  const isText = (value) => typeof value === "string";

  /** Whether a value, which may come from anybody's link, has the shape of a short form. */
  function isShort({s, k = [], l = []}) {
    const isLine = (line) => Array.isArray(line) && line.length > 2 && line.slice(0, 3).every(isText);
    const isList = (rows, isRow) => Array.isArray(rows) && rows.every(isRow);
    return (s === undefined || isText(s)) && isList(k, isText) && isList(l, isLine);
  }

  /** Texts by their keys, empty where there is none. */
  function texts(row, keys) {
    return keys.map((key) => (row && isText(row[key]) ? row[key] : ""));
  }

  function item(line, place) {
    return stated({
      lineReference: line.ref || String(place + 1),
      articleNumber: line.articleNumber,
      quantity: line.quantity,
      unitPrice: line.unitPrice,
      ean: line.typedEan,
      articleGroupId: line.group,
      manufacturerId: line.manufacturer,
      additionalFields: pairs(line.fields),
      regularUnitPrice: line.regularPrice
    });
  }

  const Basket = {
    /**
     * Nothing in it, in a shop (or nowhere yet).
     *
     * @param {{code: string, name: string, currency: string, timeZone: string} | null} [store]
     */
    empty(store = null) {
      return {
        store,
        at: "",
        channel: "",
        customer: {id: "", group: "", card: "", tier: "", points: ""},
        payment: {means: "", cardType: "", cardNumber: ""},
        coupons: [],
        fields: [],
        manual: {enabled: false, reason: ""},
        includeInactive: false,
        transaction: "",
        lines: []
      };
    },

    /** A line for an article as `/admin` tells it. */
    line(article, quantity = "1") {
      return {
        articleNumber: article.articleNumber,
        name: article.name || "",
        ean: article.ean || "",
        unit: article.unit || "",
        currency: article.currency || "",
        quantity,
        unitPrice: article.basePrice || "",
        ref: "",
        typedEan: "",
        group: "",
        manufacturer: "",
        fields: [],
        regularPrice: ""
      };
    },

    /** What is wrong with a line: `quantity`, `unitPrice`, `regularPrice`, or nothing. */
    faultOf({quantity, unitPrice, regularPrice}) {
      if (!QUANTITY.test(quantity) || !/[1-9]/.test(quantity)) {
        return "quantity";
      }
      if (!PRICE.test(unitPrice)) {
        return "unitPrice";
      }
      return !regularPrice || PRICE.test(regularPrice) ? null : "regularPrice";
    },

    /** What a line says beyond article, quantity and price, in a line; `labels` are those of its fields. */
    told({ref, typedEan, group, manufacturer, fields, regularPrice}, labels) {
      const own = stated({regularPrice, group, manufacturer, typedEan, ref});
      return [
        ...pairs(fields).map(({key, value}) => `${key}=${value}`),
        ...Object.entries(own).map(([field, value]) => `${labels[field]}: ${value}`)
      ].join(" · ");
    },

    /** Whether it can be priced. */
    isComplete(basket) {
      return Boolean(basket.store && basket.lines.length && basket.lines.every((line) => !Basket.faultOf(line)));
    },

    /** The request that asks for its price (EvaluateRequest). */
    request({store, at, channel, customer, payment, coupons, fields, manual, includeInactive, transaction, lines}) {
      return stated({
        header: stated({transactionId: transaction}),
        posGroupCode: store.code,
        timestamp: at && Clock.moment(at, store.timeZone),
        channel,
        customer: stated({
          customerId: customer.id,
          customerGroup: customer.group,
          loyaltyCardNo: customer.card,
          loyalty: stated({tier: customer.tier, points: WHOLE.test(customer.points) ? Number(customer.points) : ""})
        }),
        paymentInfo: stated({
          paymentMeans: payment.means,
          cardType: payment.cardType,
          cardNumber: payment.cardNumber
        }),
        coupons: coupons.map((code) => ({code})),
        userDefinedFields: pairs(fields),
        manualDiscount: manual.enabled ? stated({enabled: true, reasonCode: manual.reason}) : {},
        includeInactive,
        includeMissedPromotions: true,
        items: lines.map(item)
      });
    },

    /** The short form, for links and for going back. */
    shorten({store, at, channel, customer, payment, coupons, fields, manual, includeInactive, transaction, lines}) {
      return stated({
        s: store && store.code,
        t: at,
        c: channel,
        u: stated({i: customer.id, g: customer.group, c: customer.card, t: customer.tier, p: customer.points}),
        // Of a card no more than what the service reads: a link must not carry a card number.
        p: stated({m: payment.means, t: payment.cardType, n: payment.cardNumber.slice(0, 8)}),
        k: coupons,
        f: asPairs(fields),
        m: manual.enabled ? [manual.reason] : undefined,
        i: includeInactive ? 1 : undefined,
        x: transaction,
        l: lines.map(shortLine)
      });
    },

    /** The basket of a short form; shop and articles still without their names. Throws when it is none. */
    lengthen(short) {
      if (!isShort(short)) {
        throw new Error("not a basket");
      }
      const [id, group, card, tier, points] = texts(short.u, ["i", "g", "c", "t", "p"]);
      const [means, cardType, cardNumber] = texts(short.p, ["m", "t", "n"]);
      const [at, channel, transaction] = texts(short, ["t", "c", "x"]);
      return {
        ...Basket.empty(short.s ? {code: short.s, name: "", currency: "", timeZone: ""} : null),
        at,
        channel,
        customer: {id, group, card, tier, points},
        payment: {means, cardType, cardNumber},
        coupons: short.k || [],
        fields: fromPairs(short.f),
        manual: {enabled: Boolean(short.m), reason: short.m ? short.m[0] || "" : ""},
        includeInactive: Boolean(short.i),
        transaction,
        lines: (short.l || []).map(longLine)
      };
    },

    stated
  };

  return Basket;
});
