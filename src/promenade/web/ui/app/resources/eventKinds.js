sap.ui.define([], function () {
  "use strict";

  // Generated from the code by `make docs`. Change the code, not this file.
  /** Kinds of events that can be subscribed to; each has a sentence `resources.event.<kind>`. */
  return [
    "PROMOTION_SUBMITTED",
    "PROMOTION_APPROVED",
    "PROMOTION_REJECTED",
    "PROMOTION_ACTIVATED",
    "PROMOTION_DEACTIVATED",
    "PROMOTION_UPDATED",
    "PROMOTION_EXPIRED",
    "PROMOTION_ARCHIVED",
    "CAMPAIGN_CREATED",
    "CAMPAIGN_STARTED",
    "CAMPAIGN_ENDED",
    "CAMPAIGN_LOCKED",
    "CAMPAIGN_UNLOCKED",
    "BUDGET_THRESHOLD_REACHED",
    "BUDGET_EXHAUSTED",
    "COUPON_ISSUED",
    "COUPON_REDEEMED",
    "COUPON_EXPIRED",
    "COUPON_BATCH_COMPLETED",
    "COUPON_BATCH_FAILED",
    "ArticleImportJobs.Completed",
    "ArticleImportJobs.Failed",
    "ImportJobs.Completed",
    "ImportJobs.Failed",
    "TRANSACTION_CONFIRMED",
    "TRANSACTION_RETURNED",
    "TRANSACTION_CANCELLED",
    "LOYALTY_POINTS_AWARDED",
    "STORE_CLONED",
    "WEBHOOK_DELIVERY_DEAD_LETTER"
  ];
});
