sap.ui.define(["sap/ui/dom/includeStylesheet"], function (includeStylesheet) {
  "use strict";

  /** Brings the looks of what these pages draw. */
  return () =>
    includeStylesheet({
      url: sap.ui.require.toUrl("promenade/resources/style.css"),
      id: "promenade-resources-style"
    });
});
