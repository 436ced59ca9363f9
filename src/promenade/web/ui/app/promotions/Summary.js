sap.ui.define(
  ["sap/m/Text", "sap/ui/model/json/JSONModel", "promenade/promotions/Texts"],
  function (Text, JSONModel, Texts) {
    "use strict";

    const several = (sentences) => sentences.filter(Boolean).join("; ");

    /** What the rules say: what is given, and if what. */
    function ofRules(desk) {
      const gives = [...desk.rows("DiscountActions"), ...desk.rows("LoyaltyActions")].map((row) => row.sentence);
      const ifs = desk.rows("Conditions").map((row, at) => {
        const {logicalConnector: code} = row.values;
        const word = at ? Texts.get(`guide.${code || "AND"}`) : code === "NOT" ? Texts.get("guide.NOT") : "";
        return [word, row.sentence].filter(Boolean).join(" ");
      });
      return {gives: several(gives), ifs: ifs.join(" ")};
    }

    function said(name, from, to, barred, excluded, {gives, ifs, places, coupon, budget}) {
      const sentence = [
        Texts.get("guide.says", [name || Texts.get("unnamed"), gives || Texts.get("guide.nothing")]),
        ifs && Texts.get("guide.says.ifs", [ifs]),
        ifs && barred === false && Texts.get("guide.says.barred"),
        ifs && excluded === false && Texts.get("guide.says.excluded"),
        Texts.get("guide.says.where", [places || Texts.get("places.everywhere")]),
        Texts.get("guide.says.when", [Texts.validity(from, to)]),
        coupon && Texts.get("guide.says.coupon", [coupon]),
        budget && Texts.get("guide.says.budget", [budget])
      ];
      return sentence.filter(Boolean).join(" ");
    }

    /** What a promotion does, in words, as it stands on the page. */
    return class Summary {
      constructor() {
        this._model = new JSONModel({gives: "", ifs: "", places: "", coupon: "", budget: ""});
        this.control = new Text({
          text: {
            parts: [
              {path: "name", targetType: "any"},
              {path: "validFrom", targetType: "any"},
              {path: "validTo", targetType: "any"},
              {path: "countsTowardsThreshold", targetType: "any"},
              {path: "excludedCountsTowardsThreshold", targetType: "any"},
              {path: "said>/"}
            ],
            formatter: said
          }
        }).setModel(this._model, "said");
      }

      /** Takes over what has changed, as far as it is told: the rules; names of places; what it is linked with. */
      tell({desk, places, coupon, budget}) {
        const told = {...(places && {places: places.join(", ")}), coupon, budget, ...(desk && ofRules(desk))};
        const known = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
        this._model.setData({...this._model.getData(), ...known});
      }
    };
  }
);
