sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/HBox",
    "sap/m/Text",
    "sap/m/VBox",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/promotions/Findings",
    "promenade/promotions/Texts"
  ],
  function (Button, HBox, Text, VBox, Messages, Http, Findings, Texts) {
    "use strict";

    /** The check of a promotion: what keeps it from running, and what it meets there. */
    return class Check {
      constructor({reveal}) {
        this._reveal = reveal;
        this._when = new Text({text: Texts.get("check.notYet")});
        this._result = new VBox();
        this._button = new Button({
          text: Texts.get("check.now"),
          icon: "sap-icon://inspection",
          press: () => this.run().catch(() => undefined)
        });
        const top = new HBox({alignItems: "Center", items: [this._button, this._when]});
        this.control = new VBox({items: [top.addStyleClass("promenadeGap"), this._result]});
      }

      /** Shows the page of a promotion: nothing is known of it yet. */
      show({id}) {
        if (id !== this._id) {
          this._id = id;
          this._result.destroyItems();
          this._when.setText(Texts.get("check.notYet"));
        }
      }

      /** Asks the service, shows and resolves with what it found. */
      async run() {
        const id = this._id;
        this.control.setBusy(true);
        try {
          const {value} = await Http.post(`/admin/Promotions(ID=${id},IsActiveEntity=true)/check`, {});
          if (id === this._id) {
            this._result.destroyItems();
            this._result.addItem(Findings.list(value, this._reveal));
            this._when.setText(Texts.get("check.when", [Texts.moment(new Date())]));
          }
          return value;
        } catch (error) {
          await Messages.show(error);
          throw error;
        } finally {
          this.control.setBusy(false);
        }
      }
    };
  }
);
