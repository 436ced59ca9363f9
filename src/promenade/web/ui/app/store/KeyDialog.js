sap.ui.define(
  ["sap/m/Button", "sap/m/Dialog", "sap/m/Input", "sap/m/Label", "sap/m/MessageBox", "sap/m/Text", "sap/m/VBox"],
  function (Button, Dialog, Input, Label, MessageBox, Text, VBox) {
    "use strict";

    /** Shows a till's new key, which nobody can read any more afterwards; and asks before one is revoked. */
    return {
      /**
       * Resolves once the dialog is closed.
       *
       * @param {{name: string, apiKey: string, formerUntil: string | null}} made
       * @returns {Promise<void>}
       */
      show({name, apiKey, formerUntil}, t, format) {
        // Braces in a name are no binding, which they would be as a setting of the constructor.
        const label = new Label({wrapping: true}).setText(t("key.label", name));
        const input = new Input({editable: false, width: "100%", ariaLabelledBy: [label]}).setValue(apiKey);
        const words = [t("key.once"), formerUntil ? t("key.formerStays", format.dateTime(formerUntil)) : ""];
        const text = new Text({text: words.join(" ").trim()});
        return new Promise((resolve) => {
          const dialog = new Dialog({
            title: t("key.title"),
            contentWidth: "36rem",
            content: [new VBox({items: [text, label, input]}).addStyleClass("sapUiSmallMargin")],
            endButton: new Button({text: t("key.kept"), type: "Emphasized", press: () => dialog.close()}),
            afterClose: () => {
              dialog.destroy();
              resolve();
            }
          });
          dialog.open();
        });
      },

      /** Resolves with whether it is to be done. */
      confirmRevoke(name, t) {
        const revoke = t("key.revoke");
        return new Promise((resolve) => {
          MessageBox.warning(t("key.revokeText", name), {
            title: t("key.revokeTitle"),
            actions: [revoke, MessageBox.Action.CANCEL],
            emphasizedAction: revoke,
            onClose: (action) => resolve(action === revoke)
          });
        });
      }
    };
  }
);
