sap.ui.define(
  [
    "sap/m/CustomListItem",
    "sap/m/HBox",
    "sap/m/Link",
    "sap/m/List",
    "sap/m/ObjectStatus",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/m/FlexItemData",
    "promenade/generic/Addresses",
    "promenade/promotions/Texts"
  ],
  function (CustomListItem, HBox, Link, List, ObjectStatus, Text, VBox, FlexItemData, Addresses, Texts) {
    "use strict";

    const SHOWN = {
      ERROR: {state: "Error", icon: "sap-icon://error"},
      WARNING: {state: "Warning", icon: "sap-icon://alert"},
      INFO: {state: "Information", icon: "sap-icon://information"}
    };
    const ON_PAGE = new Set(["Conditions", "DiscountActions", "LoyaltyActions", "Promotions", "PromotionPosGroups"]);
    const TESTS = "BasketTests";
    const ORDER = Object.keys(SHOWN);

    function linksOf(finding, reveal) {
      const links = [];
      const [set] = (finding.target || "").split("/");
      if (set === TESTS && finding.entity_ID) {
        links.push(new Link({text: Texts.get("check.test"), href: Addresses.href(TESTS, finding.entity_ID)}));
      } else if (reveal && (finding.entity_ID || ON_PAGE.has(set))) {
        links.push(new Link({text: Texts.get("check.show"), press: () => reveal(finding)}));
      }
      if (finding.promotion_ID) {
        links.push(new Link({text: Texts.get("check.other"), href: Texts.href(finding.promotion_ID)}));
      }
      return links;
    }

    function item(finding, reveal) {
      const {state, icon} = SHOWN[finding.severity] || SHOWN.INFO;
      const hint = Texts.find(`check.${finding.code}.hint`);
      const words = [
        new Text({text: Texts.find(`check.${finding.code}`) || Texts.plain(finding.message)}).addStyleClass(
          "promenadeStrong"
        ),
        new Text({text: Texts.plain(finding.message)}),
        hint && new Text({text: hint}).addStyleClass("promenadeSmall"),
        new HBox({items: linksOf(finding, reveal)}).addStyleClass("promenadeGap")
      ].filter(Boolean);
      const severity = new ObjectStatus({text: Texts.get(`severity.${finding.severity}`), state, icon});
      severity.setLayoutData(new FlexItemData({baseSize: "7rem", shrinkFactor: 0}));
      return new CustomListItem({
        content: new HBox({
          items: [severity, new VBox({items: words})]
        }).addStyleClass("sapUiSmallMargin")
      });
    }

    /** What a check found, in words. */
    return {
      /** How many findings there are of a severity. */
      count: (findings, severity) => findings.filter((one) => one.severity === severity).length,

      /** A list of findings, the worst first; `reveal(finding)` leads to what a finding is about. */
      list(findings, reveal) {
        const sorted = [...findings].sort((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity));
        return new List({
          items: sorted.map((one) => item(one, reveal)),
          noDataText: Texts.get("check.nothing"),
          headerLevel: "H3",
          headerText: Texts.get(
            "check.found",
            ORDER.map((severity) => this.count(findings, severity))
          )
        });
      }
    };
  }
);
