sap.ui.define(
  ["sap/m/Button", "sap/m/FlexItemData", "sap/m/HBox", "sap/m/MessageStrip", "promenade/generic/Texts"],
  function (Button, FlexItemData, HBox, MessageStrip, Texts) {
    "use strict";

    /** What other tabs have written: a page reads it, but not over what is edited there, which it says on top. */
    return class Elsewhere {
      /**
       * `box`: the page's, whose first item says it; `edited()`: the `{set, id}` that is edited, null while nothing is;
       * `reread(news)` reads again; `load()` shows what is stored in place of what was typed.
       */
      constructor(box, {edited, reread, load}) {
        this._edited = edited;
        this._reread = reread;
        this._strip = new MessageStrip({type: "Warning", showIcon: true});
        this._button = new Button({icon: "sap-icon://refresh", press: load});
        this._control = new HBox({
          visible: false,
          alignItems: "Center",
          wrap: "Wrap",
          items: [this._strip.addStyleClass("sapUiTinyMarginEnd"), this._button],
          layoutData: new FlexItemData({shrinkFactor: 0})
        }).addStyleClass("sapUiSmallMarginBeginEnd sapUiTinyMarginTopBottom");
        box.insertItem(this._control, 0);
      }

      /** Another tab has written something. */
      hear(news) {
        const edited = this._edited();
        if (!edited) {
          this._reread(news);
        } else if (news.some(({set, id}) => set === edited.set && id === edited.id)) {
          this._strip.setText(Texts.of("elsewhere"));
          this._button.setText(Texts.of("elsewhereLoad"));
          this._control.setVisible(true);
        }
      }

      /** The page shows what is stored. */
      hide() {
        this._control.setVisible(false);
      }
    };
  }
);
