sap.ui.define(["sap/ui/core/format/NumberFormat"], function (NumberFormat) {
  "use strict";

  return {
    /** The person's words: a function of a key and what is put into its text, of a control with the model `i18n`. */
    async of(control) {
      const bundle = await control.getModel("i18n").getResourceBundle();
      const whole = NumberFormat.getIntegerInstance({groupingEnabled: true});
      const shown = (one) => (typeof one === "number" ? whole.format(one) : one);
      return (key, ...args) => bundle.getText(key, args.length ? args.map(shown) : undefined);
    }
  };
});
