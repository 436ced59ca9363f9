sap.ui.define(["sap/ui/base/ManagedObject"], function (ManagedObject) {
  "use strict";

  const escaped = (value) => (typeof value === "string" ? ManagedObject.escapeSettingsValue(value) : value);

  /** Settings of a control whose texts are shown as they are: braces in a name are no binding. */
  return function plain(settings) {
    return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, escaped(value)]));
  };
});
