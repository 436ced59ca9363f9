sap.ui.define([], function () {
  "use strict";

  /**
   * What the gallery offers to begin a promotion with: the rules that it starts with, `[kind, type, values]`, and
   * whether it wants a coupon. What is left open in them is asked for by the steps.
   */
  const CHEAPEST = {applicationQuantityMode: "CHEAPEST", applicationQuantity: "1"};
  const part = (quantity) => ({
    quantity,
    articleNumber: null,
    articleGroupId: null,
    includeSubGroups: true,
    discounted: true
  });
  const cheapestOf = (quantity, percentage) => [
    "DiscountActions",
    "BUNDLE",
    {...CHEAPEST, discountType: "PERCENTAGE", discountValue: percentage, bundleComponents: [part(quantity)]}
  ];
  const FROM_A_VALUE = ["Conditions", "RECEIPT_AMOUNT", {operator: "GTE"}];

  const RECIPES = {
    threeForTwo: {icon: "cart-3", rules: [cheapestOf("3", "100")]},
    secondHalf: {icon: "cart-2", rules: [cheapestOf("2", "50")]},
    percentage: {icon: "group-2", rules: [["DiscountActions", "ARTICLE_GROUP", {discountType: "PERCENTAGE"}]]},
    amountOff: {
      icon: "receipt",
      rules: [
        FROM_A_VALUE,
        ["DiscountActions", "RECEIPT", {discountType: "ABSOLUTE", distributionMode: "PROPORTIONAL"}]
      ]
    },
    coupon: {
      icon: "bar-code",
      rules: [["DiscountActions", "RECEIPT", {discountType: "PERCENTAGE", distributionMode: "PROPORTIONAL"}]],
      hasCoupon: true
    },
    bundlePrice: {
      icon: "combine",
      rules: [["DiscountActions", "BUNDLE", {discountType: "UNIT_PRICE", bundleComponents: [part("1"), part("1")]}]]
    },
    gift: {icon: "competitor", rules: [FROM_A_VALUE, ["DiscountActions", "FREE_ITEM", {}]]},
    points: {icon: "badge", rules: [["LoyaltyActions", "ADD_FIXED", {}]]}
  };

  /** By what an action does, the type of a promotion that has it; the first that is found counts. */
  const TYPES = [
    ["BUNDLE", ["BUNDLE"]],
    ["RECEIPT", ["RECEIPT", "SCALED_RECEIPT"]],
    ["ARTICLE", ["ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "QUANTITY_TIER", "FREE_ITEM"]],
    ["COUPON", ["POST_PURCHASE_COUPON"]]
  ];

  return {
    KEYS: Object.keys(RECIPES),

    /** The recipe of a key, null for none. */
    of: (key) => RECIPES[key] || null,

    /** The type of a promotion by the types of its actions, and whether it gives points; null: it gives nothing yet. */
    typeOf(actions, hasPoints) {
      const [found] = TYPES.find(([, does]) => actions.some((one) => does.includes(one))) || [];
      return found || (hasPoints || actions.includes("LOYALTY") ? "LOYALTY" : null);
    }
  };
});
