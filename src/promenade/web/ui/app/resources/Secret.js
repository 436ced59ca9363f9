sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/HBox",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/MessageToast",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "promenade/resources/Texts"
  ],
  function (Button, Dialog, HBox, Input, Label, MessageToast, Text, VBox, Component, Texts) {
    "use strict";

    /** Puts the value where it can be pasted from; where the browser does not let pages do that, it is marked. */
    async function copy(input, t) {
      try {
        await navigator.clipboard.writeText(input.getValue());
        MessageToast.show(t("resources.copied"));
      } catch {
        input.focus();
        input.selectText(0, input.getValue().length);
        MessageToast.show(t("resources.copyByHand"));
      }
    }

    /** A value with its label, and a button that copies it. */
    function row({label, value}, t) {
      const caption = new Label({text: label});
      const input = new Input({editable: false, width: "24rem", ariaLabelledBy: [caption]}).setValue(value);
      const tooltip = t("resources.copyValue", label);
      const button = new Button({icon: "sap-icon://copy", tooltip, press: () => copy(input, t)});
      return [caption, new HBox({items: [input, button]})];
    }

    return {
      copy,

      /**
       * Shows what nobody can read any more afterwards; resolves when the person says that it is kept.
       *
       * @param {object} options
       * @param {string} options.title
       * @param {string} options.text
       * @param {{label: string, value: string}[]} options.values
       * @returns {Promise<void>}
       */
      async show({title, text, values}) {
        const t = await Texts.of(Component.getComponentById("promenade"));
        const rows = values.flatMap((one) => row(one, t));
        /** @type {Promise<void>} */
        const kept = new Promise((resolve) => {
          const dialog = new Dialog({
            title,
            contentWidth: "34rem",
            content: [new VBox({items: [new Text({text}).addStyleClass("sapUiSmallMarginBottom"), ...rows]})],
            endButton: new Button({text: t("resources.secretKept"), type: "Emphasized", press: () => dialog.close()}),
            afterClose() {
              dialog.destroy();
              resolve();
            }
          }).addStyleClass("sapUiContentPadding");
          dialog.open();
        });
        await kept;
      }
    };
  }
);
