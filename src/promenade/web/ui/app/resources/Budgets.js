sap.ui.define(
  [
    "sap/m/ProgressIndicator",
    "sap/m/Text",
    "sap/m/VBox",
    "promenade/generic/Extensions",
    "promenade/generic/Format",
    "promenade/resources/Following"
  ],
  function (ProgressIndicator, Text, VBox, Extensions, Format, Following) {
    "use strict";

    const SCARCE_PERCENT = 80;
    const unread = (path) => ({path, targetType: "any"});

    /** Charts are fetched when one is shown. */
    function burnDown(values, signal) {
      return new Promise((resolve, reject) => {
        sap.ui.require(["promenade/resources/BurnDown"], (BurnDown) => resolve(BurnDown.load(values, signal)), reject);
      });
    }

    /** How much of it is used, in a sentence. */
    const used = () => ({
      parts: [
        unread("utilization"),
        unread("remainingAmount"),
        unread("totalAmount"),
        unread("currency"),
        {path: "i18n>resources.utilization"}
      ],
      formatter: (share, left, total, currency, text) =>
        (text || "")
          .replace("{0}", Format.percent(share || 0))
          .replace("{1}", Format.money(left, currency))
          .replace("{2}", Format.money(total, currency))
    });

    /** The same as a bar, with the sentence below it. */
    function utilization() {
      const bar = new ProgressIndicator({
        width: "100%",
        tooltip: "{i18n>resources.utilizationName}",
        percentValue: {...unread("utilization"), formatter: (share) => Math.min(100, Number(share || 0))},
        displayValue: {...unread("utilization"), formatter: (share) => Format.percent(share || 0)},
        state: {
          ...unread("utilization"),
          formatter: (share) => (share >= 100 ? "Error" : share >= SCARCE_PERCENT ? "Warning" : "Success")
        }
      });
      return new VBox({width: "18rem", items: [bar, new Text({text: used()})]});
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
