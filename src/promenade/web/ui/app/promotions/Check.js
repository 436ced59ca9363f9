sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/HBox",
    "sap/m/Text",
    "sap/m/VBox",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/promotions/Findings",
    "promenade/promotions/Outdated",
    "promenade/promotions/Texts"
  ],
  function (Button, HBox, Text, VBox, Messages, Http, Findings, Outdated, Texts) {
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
        this._outdated = new Outdated(() => this.run().catch(() => undefined));
        this._state = null;
        this.control = new VBox({items: [top.addStyleClass("promenadeGap"), this._outdated.control, this._result]});
      }

      /** Shows the page of a promotion: nothing is known of it yet, or what was found before, perhaps outdated. */
      async show({id, isActive, modifiedAt}) {
        if (id !== this._id) {
          this._id = id;
          this._state = null;
          this._result.destroyItems();
          this._when.setText(Texts.get("check.notYet"));
        }
        if (isActive) {
          await this._outdated.look({id, modifiedAt}, this._state).catch((error) => Messages.show(error));
        }
      }

      /** Asks once more where something was found before: the promotion has moved on. */
      repeat() {
        if (this._state) {
          this.run().catch(() => undefined);
        }
      }

      /** Asks the service, shows and resolves with what it found. */
      async run() {
        const id = this._id;
        this.control.setBusy(true);
        try {
          const at = `/admin/Promotions(ID=${id},IsActiveEntity=true)`;
          const {modifiedAt} = await Http.get(`${at}?$select=modifiedAt`);
          const {value} = await Http.post(`${at}/check`, {});
          if (id === this._id) {
            this._state = modifiedAt;
            await this._outdated.look({id, modifiedAt}, modifiedAt);
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
