sap.ui.define(["promenade/shell/AreaTexts"], function (AreaTexts) {
  "use strict";

  /** The texts of generic pages. */
  return AreaTexts.of("generic");
});
