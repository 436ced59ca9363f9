sap.ui.define(
  ["sap/m/Button", "sap/m/HBox", "sap/m/MessageStrip", "promenade/promotions/Changes", "promenade/promotions/Texts"],
  function (Button, HBox, MessageStrip, Changes, Texts) {
    "use strict";

    /** The mark of a result that is older than what it is about, with a button that asks for it again. */
    return class Outdated {
      /** `again()` asks again; null where the person may not. */
      constructor(again) {
        this._button = new Button({
          text: Texts.get("outdated.again"),
          icon: "sap-icon://refresh",
          visible: Boolean(again),
          press: () => again()
        });
        const strip = new MessageStrip({type: "Warning", showIcon: true, text: Texts.get("outdated")});
        this.control = new HBox({
          visible: false,
          wrap: "Wrap",
          alignItems: "Center",
          items: [strip.addStyleClass("sapUiTinyMarginEnd"), this._button]
        }).addStyleClass("sapUiTinyMarginTopBottom");
      }

      /** Looks whether a promotion was changed since a result came about, at `moment`; null: there is none. */
      async look(promotion, moment) {
        const asked = (this._asked = Symbol("look"));
        if (moment === null) {
          this.control.setVisible(false);
          return;
        }
        const isOld = await Changes.since(promotion, moment);
        if (asked === this._asked) {
          this.control.setVisible(isOld);
        }
      }
    };
  }
);
