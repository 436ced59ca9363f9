sap.ui.define([], function () {
  "use strict";

  /**
   * Which fields the types of rules use, as the engine reads them; a test holds this table against the engine.
   *
   * `fields` are always shown, `more` behind "More options", `also` only where they hold something: other ways to say
   * what the fields say. `needs`: of each list one field must be filled. `values` stands for `value` together with
   * `valueListItems`, `numeric` says that it is a number. `category` is the value category that new rules get.
   * The table is plain JSON but for the quotes around names, so that the test can read it.
   */
  return {
    Conditions: {
      ARTICLE: {
        icon: "product",
        family: "basket",
        fields: ["articleNumber", "minQuantity", "minAmount"],
        also: ["articleListItems", "operator", "values", "valueTo"],
        needs: [["articleNumber", "articleListItems", "values"]]
      },
      ARTICLE_LIST: {
        icon: "list",
        family: "basket",
        fields: ["articleListItems", "minQuantity", "minAmount"],
        also: ["articleNumber", "operator", "values", "valueTo"],
        needs: [["articleListItems", "articleNumber", "values"]]
      },
      ARTICLE_GROUP: {
        icon: "group-2",
        family: "basket",
        fields: ["articleGroupId", "includeSubGroups", "minQuantity", "minAmount"],
        also: ["operator", "values", "valueTo"],
        needs: [["articleGroupId", "values"]]
      },
      MANUFACTURER: {
        icon: "factory",
        family: "basket",
        fields: ["manufacturer", "minQuantity", "minAmount"],
        also: ["operator", "values", "valueTo"],
        needs: [["manufacturer", "values"]]
      },
      ADDITIONAL_FIELD: {
        icon: "tag",
        family: "basket",
        fields: ["fieldName", "operator", "values", "valueTo", "minQuantity", "minAmount"],
        needs: [["fieldName"], ["values"]]
      },
      RECEIPT_AMOUNT: {
        icon: "receipt",
        family: "basket",
        numeric: true,
        fields: ["operator", "values", "valueTo"],
        also: ["minAmount"],
        needs: [["values", "minAmount"]]
      },
      ITEM_QUANTITY: {
        icon: "number-sign",
        family: "basket",
        numeric: true,
        fields: ["operator", "values", "valueTo"],
        also: ["minQuantity"],
        needs: [["values", "minQuantity"]]
      },
      CUSTOMER_GROUP: {
        icon: "group",
        family: "customer",
        category: "CUSTOMER_GROUP_ID",
        fields: ["operator", "values", "valueTo"],
        needs: [["values"]]
      },
      CUSTOMER: {
        icon: "person-placeholder",
        family: "customer",
        category: "CUSTOMER_ID",
        fields: ["operator", "values", "valueTo"],
        needs: [["values"]]
      },
      LOYALTY_ACCOUNT: {
        icon: "badge",
        family: "customer",
        fields: ["fieldName", "operator", "values", "valueTo"],
        also: ["valueCategory"],
        needs: [["values"]]
      },
      PAYMENT_MEANS: {
        icon: "wallet",
        family: "payment",
        category: "PAYMENT_MEANS",
        fields: ["operator", "values", "valueTo"],
        needs: [["values"]]
      },
      PAYMENT_CARD: {
        icon: "credit-card",
        family: "payment",
        category: "CARD_TYPE",
        fields: ["operator", "values", "valueTo"],
        needs: [["values"]]
      },
      CREDIT_CARD_BIN: {
        icon: "credit-card",
        family: "payment",
        category: "BIN_PREFIX",
        fields: ["operator", "values", "valueTo"],
        needs: [["values"]]
      },
      MANUAL_DISCOUNT: {
        icon: "sales-order",
        family: "payment",
        category: "REASON_CODE",
        fields: ["operator", "values", "valueTo"],
        needs: []
      },
      TIME_WINDOW: {
        icon: "present",
        family: "time",
        fields: ["timeFrom", "timeTo", "weekdays"],
        needs: [["timeFrom", "timeTo", "weekdays"]]
      },
      TIME_PERIOD: {
        icon: "calendar",
        family: "time",
        fields: ["dateFrom", "dateTo"],
        needs: [["dateFrom", "dateTo"]]
      },
      CHANNEL: {
        icon: "multi-select",
        family: "other",
        category: "CHANNEL",
        fields: ["operator", "values", "valueTo"],
        needs: [["values"]]
      },
      USER_DEFINED: {
        icon: "customize",
        family: "other",
        fields: ["fieldName", "operator", "values", "valueTo"],
        needs: [["fieldName"], ["values"]]
      }
    },
    DiscountActions: {
      ARTICLE: {
        icon: "product",
        family: "articles",
        discountTypes: ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        fields: ["discountType", "discountValue", "targetArticleNumber"],
        more: ["selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions"],
        also: ["targetArticleGroupId", "includeSubGroups", "targetArticleList", "articleListItems"],
        needs: [["discountType"], ["discountValue"]]
      },
      ARTICLE_GROUP: {
        icon: "group-2",
        family: "articles",
        discountTypes: ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        fields: ["discountType", "discountValue", "targetArticleGroupId", "includeSubGroups"],
        more: ["selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions"],
        also: ["targetArticleNumber", "targetArticleList", "articleListItems"],
        needs: [["discountType"], ["discountValue"]]
      },
      ARTICLE_LIST: {
        icon: "list",
        family: "articles",
        discountTypes: ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        fields: ["discountType", "discountValue", "articleListItems"],
        more: ["selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions"],
        also: ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "targetArticleList"],
        needs: [["discountType"], ["discountValue"], ["articleListItems"]]
      },
      QUANTITY_TIER: {
        icon: "measuring-point",
        family: "articles",
        discountTypes: ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        fields: ["quantityTiers"],
        more: [
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "selectionType",
          "applicationQuantityMode",
          "applicationQuantity",
          "distributionMode",
          "maxDiscountAmount",
          "articleListItems",
          "exclusions"
        ],
        also: ["targetArticleList"],
        needs: [["quantityTiers"]]
      },
      BUNDLE: {
        icon: "combine",
        family: "articles",
        discountTypes: ["UNIT_PRICE", "PERCENTAGE", "ABSOLUTE"],
        fields: ["bundleComponents", "discountType", "discountValue", "maxBundles"],
        more: [
          "selectionType",
          "applicationQuantityMode",
          "applicationQuantity",
          "distributionMode",
          "maxDiscountAmount",
          "exclusions"
        ],
        also: [
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "targetArticleList",
          "articleListItems"
        ],
        needs: [["bundleComponents"], ["discountType"], ["discountValue"]]
      },
      FREE_ITEM: {
        icon: "competitor",
        family: "articles",
        fields: ["freeItemArticleNumber", "freeItemQuantity", "restrictToOnePerBasket"],
        more: ["maxFreeUnits", "freeItemReferencePrice"],
        also: ["targetArticleNumber"],
        needs: [["freeItemArticleNumber", "targetArticleNumber"]]
      },
      RECEIPT: {
        icon: "receipt",
        family: "receipt",
        discountTypes: ["PERCENTAGE", "ABSOLUTE"],
        fields: ["discountType", "discountValue", "maxDiscountAmount"],
        more: [
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "selectionType",
          "applicationQuantityMode",
          "applicationQuantity",
          "distributionMode",
          "articleListItems",
          "exclusions"
        ],
        also: ["targetArticleList"],
        needs: [["discountType"], ["discountValue"]]
      },
      SCALED_RECEIPT: {
        icon: "trend-up",
        family: "receipt",
        discountTypes: ["PERCENTAGE", "ABSOLUTE"],
        fields: ["scaledTiers", "maxDiscountAmount"],
        more: [
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "selectionType",
          "applicationQuantityMode",
          "applicationQuantity",
          "distributionMode",
          "articleListItems",
          "exclusions"
        ],
        also: ["targetArticleList"],
        needs: [["scaledTiers"]]
      },
      POST_PURCHASE_COUPON: {
        icon: "bar-code",
        family: "rewards",
        fields: ["targetCouponType_ID"],
        needs: [["targetCouponType_ID"]]
      },
      LOYALTY: {icon: "badge", family: "rewards", fields: [], needs: []}
    },
    LoyaltyActions: {
      ADD_FIXED: {
        icon: "add",
        family: "rewards",
        fields: [
          "points",
          "targetScope",
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "articleListItems",
          "maxPoints"
        ],
        needs: [["points"]]
      },
      CURRENCY_TO_POINTS: {
        icon: "lead",
        family: "rewards",
        fields: [
          "points",
          "currencyAmount",
          "targetScope",
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "articleListItems",
          "maxPoints"
        ],
        needs: [["points"], ["currencyAmount"]]
      },
      MULTIPLY_POINTS: {
        icon: "decline",
        family: "rewards",
        fields: [
          "multiplier",
          "targetScope",
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "articleListItems",
          "maxPoints"
        ],
        needs: [["multiplier"]]
      },
      SUBTRACT_POINTS: {
        icon: "less",
        family: "rewards",
        fields: [
          "points",
          "targetScope",
          "targetArticleNumber",
          "targetArticleGroupId",
          "includeSubGroups",
          "articleListItems"
        ],
        needs: [["points"]]
      }
    }
  };
});
