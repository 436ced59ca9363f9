sap.ui.define(["sap/ui/dom/includeStylesheet"], function (includeStylesheet) {
  "use strict";

  /** Brings the looks of charts and figures. */
  return () =>
    includeStylesheet({
      url: sap.ui.require.toUrl("promenade/reports/style.css"),
      id: "promenade-reports-style"
    });
});
