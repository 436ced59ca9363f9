sap.ui.define(
  [
    "sap/m/ProgressIndicator",
    "promenade/generic/Extensions",
    "promenade/generic/Format",
    "promenade/resources/Following"
  ],
  function (ProgressIndicator, Extensions, Format, Following) {
    "use strict";

    const SCARCE_PERCENT = 80;
    const unread = (path) => ({path, targetType: "any"});

    /** Charts are fetched when one is shown. */
    function burnDown(values, signal) {
      return new Promise((resolve, reject) => {
        sap.ui.require(["promenade/resources/BurnDown"], (BurnDown) => resolve(BurnDown.load(values, signal)), reject);
      });
    }

    /** How much of it is used, as a bar that says it in words too. */
    function utilization() {
      const bar = new ProgressIndicator({
        width: "22rem",
        tooltip: "{i18n>resources.utilizationName}",
        percentValue: {...unread("utilization"), formatter: (used) => Math.min(100, Number(used || 0))},
        state: {
          ...unread("utilization"),
          formatter: (used) => (used >= 100 ? "Error" : used >= SCARCE_PERCENT ? "Warning" : "Success")
        }
      });
      bar.bindProperty("displayValue", {
        parts: [
          unread("utilization"),
          unread("remainingAmount"),
          unread("totalAmount"),
          unread("currency"),
          {path: "i18n>resources.utilization"}
        ],
        formatter: (used, left, total, currency, text) =>
          (text || "")
            .replace("{0}", Format.percent(used || 0))
            .replace("{1}", Format.money(left, currency))
            .replace("{2}", Format.money(total, currency))
      });
      return bar;
    }

    return {
      /** Adds how a budget is used up, and who bears it, to the pages of budgets. */
      extend() {
        Extensions.add("Budgets", {
          header: [{id: "utilization", create: utilization}],
          sections: [
            {
              id: "burnDown",
              titleKey: "resources.burnDown",
              create: ({view}) => new Following().follow(view, ["IsActiveEntity", "remainingAmount"], burnDown)
            }
          ]
        });
      }
    };
  }
);
