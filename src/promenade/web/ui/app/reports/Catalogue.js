sap.ui.define(
  [
    "promenade/reports/kinds/performance",
    "promenade/reports/kinds/budgets",
    "promenade/reports/kinds/coupons",
    "promenade/reports/kinds/abTests",
    "promenade/reports/kinds/hours",
    "promenade/reports/kinds/advice",
    "promenade/reports/kinds/sales"
  ],
  function (performance, budgets, coupons, abTests, hours, advice, sales) {
    "use strict";

    /**
     * Every report: `create(desk)` makes its boxes, `filters` are those that it heeds, `picks` are those that its
     * promotions are chosen from, `exports` the file that it can be had as,
     * `isCompared`: whether it shows the figures of an earlier period beside those of its own.
     *
     * Texts are `reports.<key>Title` and `reports.<key>Text`.
     */
    return [
      {
        key: "performance",
        icon: "sap-icon://line-chart",
        create: performance,
        exports: "promotionPerformance",
        filters: ["promotion", "posGroup", "period", "currency"],
        isCompared: true,
        picks: "promotions"
      },
      {
        key: "budgets",
        icon: "sap-icon://money-bills",
        create: budgets,
        exports: "budgetUtilization",
        filters: ["period"]
      },
      {key: "coupons", icon: "sap-icon://cart-3", create: coupons, exports: "couponAnalytics", filters: []},
      {
        key: "abTests",
        icon: "sap-icon://compare",
        create: abTests,
        exports: "abTestResults",
        filters: ["promotion"],
        picks: "trials"
      },
      {
        key: "hours",
        icon: "sap-icon://heatmap-chart",
        create: hours,
        exports: "promotionPerformance",
        filters: ["promotion", "period", "currency"],
        isCompared: true,
        picks: "promotions"
      },
      {
        key: "advice",
        icon: "sap-icon://lightbulb",
        create: advice,
        exports: null,
        filters: ["promotion", "period", "currency"],
        isCompared: true,
        picks: "promotions"
      },
      {
        key: "sales",
        icon: "sap-icon://sales-order",
        create: sales,
        exports: null,
        filters: ["promotion", "posGroup", "period", "currency"],
        isCompared: true,
        picks: "promotions"
      }
    ];
  }
);
