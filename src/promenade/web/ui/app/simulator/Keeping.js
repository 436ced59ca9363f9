sap.ui.define(
  [
    "sap/m/MessageToast",
    "promenade/generic/Messages",
    "promenade/simulator/Examples",
    "promenade/simulator/SavingTest",
    "promenade/simulator/Scenario"
  ],
  function (MessageToast, Messages, Examples, SavingTest, Scenario) {
    "use strict";

    /** How a basket of the simulator is kept: as a link, as a test, as a file. For its controller. */
    return {
      async onCopyLink() {
        const query = new URLSearchParams(await this._query(this._model.getProperty("/basket")));
        const link = `${window.location.origin}/#/simulator?${query}`;
        try {
          await navigator.clipboard.writeText(link);
          MessageToast.show(this._text("simulator.linkCopied"));
        } catch {
          // No leave to use the clipboard, or no secure origin: it can be taken from the address.
          MessageToast.show(this._text("simulator.linkInAddress"));
        }
      },

      /** Keeps what is shown as a test: the basket that was priced, and its price. */
      async onSaveTest() {
        try {
          await SavingTest.open({
            model: this.getOwnerComponent().getModel(),
            request: this._request,
            answer: this._answer,
            zone: this._model.getProperty("/basket/store").timeZone || "UTC",
            focus: this._focus,
            text: this._text
          });
        } catch (error) {
          Messages.show(error);
        }
      },

      async onSaveScenario() {
        try {
          await Scenario.save(this._model.getProperty("/basket"), this._answer);
        } catch (error) {
          Messages.show(error);
        }
      },

      async onOpenScenario() {
        try {
          const basket = await Scenario.open();
          this._set(await Examples.named(basket));
        } catch (error) {
          this._model.setProperty("/failure", this._text("simulator.brokenScenario", [error.message]));
        }
      }
    };
  }
);
