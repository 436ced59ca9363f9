sap.ui.define(["sap/ui/dom/includeStylesheet", "require"], function (includeStylesheet, require) {
  "use strict";

  includeStylesheet({url: require.toUrl("./style.css"), id: "promenade-promotions-style"});
});
