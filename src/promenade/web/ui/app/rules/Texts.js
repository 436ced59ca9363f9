sap.ui.define(
  ["sap/base/i18n/Localization", "promenade/shell/AreaTexts", "promenade/rules/Shapes"],
  function (Localization, AreaTexts, Shapes) {
    "use strict";

    const isEnglish = () => !Localization.getLanguage().startsWith("de");

    return {
      ...AreaTexts.of("rules"),

      /** Whether the texts are English. */
      isEnglish,

      /** The words of a type of rule: `{name, help, says}`. */
      ofType: (kind, type) => Shapes[kind][type].words[isEnglish() ? "en" : "de"]
    };
  }
);
