sap.ui.define(["sap/base/i18n/ResourceBundle", "sap/base/i18n/Localization"], function (ResourceBundle, Localization) {
  "use strict";

  /** The texts of an area for code that has no view: its bundle, which is also part of the model `i18n`. */
  return {
    of(area) {
      let bundle = null;

      return {
        /** Resolves with the bundle when `of` knows the texts. */
        async ready() {
          bundle ||= await ResourceBundle.create({
            bundleName: `promenade.i18n.${area}`,
            async: true,
            locale: Localization.getLanguage(),
            supportedLocales: ["en", "de"],
            fallbackLocale: "en"
          });
          return bundle;
        },

        /** Whether `of` knows the texts. */
        isReady: () => bundle !== null,

        /** The text of `<area>.<key>`, with its places filled in. */
        of: (key, ...values) => bundle.getText(`${area}.${key}`, values),

        /** The text of `<area>.<key>`, or undefined where there is none. */
        find: (key, ...values) => bundle.getText(`${area}.${key}`, values, true)
      };
    }
  };
});
