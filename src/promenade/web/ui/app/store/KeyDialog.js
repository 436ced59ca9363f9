sap.ui.define(
  ["sap/m/Button", "sap/m/Dialog", "sap/m/Input", "sap/m/Label", "sap/m/MessageBox", "sap/m/Text", "sap/m/VBox"],
  function (Button, Dialog, Input, Label, MessageBox, Text, VBox) {
    "use strict";

    /** Resolves with the text of the button that was pressed. */
    const ask = (text, title, actions) =>
      new Promise((resolve) => {
        MessageBox.warning(text, {
          title,
          actions: [...actions, MessageBox.Action.CANCEL],
          emphasizedAction: actions[0],
          onClose: resolve
        });
      });

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
      confirmRevoke: async (name, t) =>
        (await ask(t("key.revokeText", name), t("key.revokeTitle"), [t("key.revoke")])) === t("key.revoke"),

      /** Resolves with whether the common key is to be replaced. */
      confirmCommon: async (t) =>
        (await ask(t("key.commonText"), t("key.commonTitle"), [t("key.rotate")])) === t("key.rotate"),

      /** Resolves with how many hours the former key of a till is accepted once it has a new one; null: it has none. */
      async askOverlap(name, t) {
        const hours = new Map([
          [t("key.day"), 24],
          [t("key.atOnce"), 0]
        ]);
        return hours.get(await ask(t("key.rotateText", name), t("key.rotateTitle"), [...hours.keys()])) ?? null;
      }
    };
  }
);
