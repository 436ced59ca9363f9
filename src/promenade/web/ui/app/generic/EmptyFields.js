sap.ui.define(
  ["sap/m/ToggleButton", "sap/ui/model/json/JSONModel", "promenade/generic/Texts", "promenade/shell/Kept"],
  function (ToggleButton, JSONModel, Texts, Kept) {
    "use strict";

    /** Whether pages that are read show fields without a value: a choice that this browser keeps for all pages. */
    const KEPT = "emptyFields";
    const model = new JSONModel({isAll: Kept.read(KEPT) === "true", isReading: true});

    return {
      model,

      /** What is edited shows all of its fields. */
      setReading(isReading) {
        model.setProperty("/isReading", isReading);
      },

      /** The switch, for the title of a page that has the model. */
      button() {
        return new ToggleButton({
          text: Texts.of("emptyFields"),
          type: "Transparent",
          pressed: "{fields>/isAll}",
          visible: "{fields>/isReading}",
          press: (event) => Kept.write(KEPT, String(event.getParameter("pressed")))
        });
      }
    };
  }
);
