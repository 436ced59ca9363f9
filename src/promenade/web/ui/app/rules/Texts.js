sap.ui.define(["sap/base/i18n/Localization", "promenade/shell/AreaTexts"], function (Localization, AreaTexts) {
  "use strict";

  /** The texts of the rules' editor, and whether they are English. */
  return {...AreaTexts.of("rules"), isEnglish: () => !Localization.getLanguage().startsWith("de")};
});
