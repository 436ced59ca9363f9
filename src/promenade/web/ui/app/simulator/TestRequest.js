sap.ui.define(
  ["promenade/generic/Clock", "promenade/simulator/Basket", "promenade/simulator/Lookup"],
  function (Clock, Basket, Lookup) {
    "use strict";

    const CARD_DIGITS = 8; // no more of a card number is kept than the service reads
    const asPairs = (rows) => (rows || []).map(({key, value}) => [key, value]);
    const text = (value) => (value === undefined || value === null ? "" : String(value));

    /** The shop of a request, which names it by its code or its ID. */
    async function storeOf({posGroupCode, posGroupId}) {
      if (posGroupCode) {
        return Lookup.store(posGroupCode);
      }
      const rows = await Lookup.read("PosGroups", {filter: `ID eq ${posGroupId}`, select: "code,timeZone", top: 1});
      return rows[0] || null;
    }

    function customerOf({customerId, customerGroup, loyaltyCardNo, loyalty}) {
      return {i: customerId, g: customerGroup, c: loyaltyCardNo, t: loyalty?.tier, p: text(loyalty?.points)};
    }

    function line({articleNumber, quantity, unitPrice, ean, articleGroupId, manufacturerId, ...more}, place) {
      const isPlace = more.lineReference === String(place + 1); // what a line has that names none itself
      const own = {r: isPlace ? "" : more.lineReference, e: ean, g: articleGroupId, m: manufacturerId};
      const told = {f: asPairs(more.additionalFields), w: text(more.regularUnitPrice)};
      return [articleNumber, text(quantity), text(unitPrice), {...own, ...told}];
    }

    /** Requests of tests, which are what the service prices, and baskets as the page edits them. */
    return {
      /**
       * What a test keeps of a request: what its price depends on.
       *
       * @param {any} request
       * @param {string | null} at the time that it is always priced at; null: each run at its own
       */
      kept(request, at) {
        const {paymentInfo: payment = {}} = request;
        const cardNumber = payment.cardNumber?.replace(/\D/g, "").slice(0, CARD_DIGITS);
        return Basket.stated({
          ...request,
          includeMissedPromotions: false,
          paymentInfo: Basket.stated({...payment, cardNumber}),
          timestamp: at
        });
      },

      /** The short form of the basket of a request. */
      async shorten(request) {
        const store = await storeOf(request);
        const {paymentInfo: payment = {}, manualDiscount: manual = {}} = request;
        return Basket.shorten(
          Basket.lengthen({
            s: store?.code,
            t: request.timestamp && Clock.wall(request.timestamp, store?.timeZone).slice(0, 16),
            c: request.channel,
            u: customerOf(request.customer || {}),
            p: {m: payment.paymentMeans, t: payment.cardType, n: payment.cardNumber},
            k: (request.coupons || []).map(({code}) => code),
            f: asPairs(request.userDefinedFields),
            m: manual.enabled ? [manual.reasonCode || ""] : undefined,
            i: request.includeInactive ? 1 : 0,
            x: request.header?.transactionId,
            l: request.items.map(line)
          })
        );
      }
    };
  }
);
