sap.ui.define(
  [
    "sap/m/MessageToast",
    "promenade/generic/FieldDialog",
    "promenade/generic/Format",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/simulator/TestRequest"
  ],
  function (MessageToast, FieldDialog, Format, Meta, Http, TestRequest) {
    "use strict";

    const SET = "BasketTests";
    const ASKED = ["name", "description", "promotion_ID"];

    /** The promotions that the page shows as having made a price: with a discount, a gift or a coupon. */
    function shownIn({totals, grantedItems, appliedCoupons}) {
      const ids = [
        ...totals.savingsSummary.promotionBreakdown.map((one) => one.promotionId),
        ...grantedItems.map((one) => one.promotionId),
        ...appliedCoupons.flatMap((one) => one.promotionIds)
      ];
      return [...new Set(ids)];
    }

    /** Whether the time is kept, asked for like a field of the test. */
    const timeField = (label) => ({
      path: "isAtItsTime",
      set: SET,
      label,
      type: "Edm.Boolean",
      allowed: [],
      defaultValue: null,
      isRequired: false
    });

    return {
      /**
       * Asks for a name and keeps a basket as a test, with total and promotions of its price as what is expected.
       *
       * @param {object} options
       * @param {any} options.model of administration
       * @param {any} options.request what was priced
       * @param {any} options.answer its price
       * @param {string} options.zone the time zone of the store
       * @param {{id: string, name: string} | null} options.focus the promotion that the basket is looked at for
       * @param {(key: string, args?: any[]) => string} options.text
       */
      async open({model, request, answer, zone, focus, text}) {
        const meta = await Meta.of(model, SET);
        const {value, currency} = answer.totals.grandTotal;
        const {evaluatedAt} = answer.meta;
        const at = timeField(text("simulator.testAt", [Format.dateTime(evaluatedAt, zone)]));
        const made = await FieldDialog.open({
          title: text("simulator.saveTest"),
          action: text("simulator.saveTest"),
          text: text("simulator.testText", [Format.money(value, currency), shownIn(answer).length]),
          fields: [...ASKED.map((path) => meta.field(path)), at],
          values: {isAtItsTime: true, promotion_ID: focus?.id ?? null},
          texts: focus ? {promotion_ID: focus.name} : {},
          submit: ({isAtItsTime, ...named}) =>
            Http.post(`/admin/${SET}`, {
              ...named,
              request: JSON.stringify(TestRequest.kept(request, isAtItsTime ? evaluatedAt : null)),
              expectedTotal: value,
              currency,
              expectedPromotions: shownIn(answer)
            })
        });
        if (made) {
          MessageToast.show(text("simulator.testSaved", [made.name]));
        }
      }
    };
  }
);
