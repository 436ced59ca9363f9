/* eslint-disable max-len -- generated */
sap.ui.define([], function () {
  "use strict";

  // Generated from the code by `make docs`. Change the code, not this file.
  /** Codes that the editor offers, in the order of the service's code lists. */
  // prettier-ignore
  const made = {
    "LogicalConnectors": ["AND", "OR", "NOT"],
    "ComparisonOperators": ["EQUALS", "CONTAINS", "STARTS_WITH", "GREATER_THAN", "LESS_THAN", "BETWEEN", "GTE", "LTE"],
    "ConditionValueCategories": ["ARTICLE_NUMBER", "ARTICLE_GROUP_ID", "CUSTOMER_GROUP_ID", "CARD_TYPE", "BIN_PREFIX", "LOYALTY_TIER", "REASON_CODE", "PAYMENT_MEANS", "CUSTOMER_ID", "MANUFACTURER_ID", "CHANNEL"],
    "DiscountTypes": ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
    "SelectionTypes": ["ALL", "CHEAPEST", "MOST_EXPENSIVE", "RANDOM"],
    "ApplicationQuantityModes": ["ALL", "LIMITED", "CHEAPEST", "MOST_EXPENSIVE"],
    "DistributionModes": ["PROPORTIONAL", "EQUAL", "HIGHEST_FIRST"],
    "ExclusionTypes": ["ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "MANUFACTURER", "ADDITIONAL_FIELD", "REDUCED", "BETTER_REDUCED"],
    "LoyaltyTargetScopes": ["ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "ALL_ITEMS"]
  };

  return made;
});
