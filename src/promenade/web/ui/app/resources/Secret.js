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
    "promenade/resources/Doing",
    "promenade/resources/Texts"
  ],
  function (Button, Dialog, HBox, Input, Label, MessageToast, Text, VBox, Component, Doing, Texts) {
    "use strict";

    const words = () => Texts.of(Component.getComponentById("promenade"));

    /**
     * Puts the value of a field where it can be pasted from, and resolves with whether it is there; where the browser
     * does not let pages do that, it is marked.
     */
    async function copy(input) {
      const t = await words();
      try {
        await navigator.clipboard.writeText(input.getValue());
        MessageToast.show(t("resources.copied"));
        return true;
      } catch {
        input.focus();
        input.selectText(0, input.getValue().length);
        MessageToast.show(t("resources.copyByHand"));
        return false;
      }
    }

    /** A value with its label, and a button that copies it. */
    function row({label, value}, t) {
      const caption = new Label({text: label});
      const input = new Input({editable: false, width: "24rem", ariaLabelledBy: [caption]}).setValue(value);
      const tooltip = t("resources.copyValue", label);
      const button = new Button({icon: "sap-icon://copy", tooltip, press: () => copy(input)});
      return [caption, new HBox({items: [input, button]})];
    }

    return {
      copy,

      /**
       * Shows what nobody can read any more afterwards; resolves when the person says that it is kept. Texts are given
       * by their names: `title`, `text`, and those of the values.
       *
       * @param {{title: string, text: string, values: (made: any) => Record<string, string>}} shown
       * @param {any} made
       * @returns {Promise<void>}
       */
      async show({title, text, values}, made) {
        const t = await words();
        const rows = Object.entries(values(made)).flatMap(([label, value]) => row({label: t(label), value}, t));
        /** @type {Promise<void>} */
        const kept = new Promise((resolve) => {
          const dialog = new Dialog({
            title: t(title),
            contentWidth: "34rem",
            content: [new VBox({items: [new Text({text: t(text)}).addStyleClass("sapUiSmallMarginBottom"), ...rows]})],
            endButton: new Button({text: t("resources.secretKept"), type: "Emphasized", press: () => dialog.close()}),
            afterClose() {
              dialog.destroy();
              resolve();
            }
          }).addStyleClass("sapUiContentPadding");
          dialog.open();
        });
        await kept;
      },

      /** Asks for something new that has a secret, as `Doing.create` does, and shows that. */
      create(page, {action, paths, ticked, title, text, values}) {
        return Doing.create(page, {action, paths, ticked, show: (made) => this.show({title, text, values}, made)});
      }
    };
  }
);
