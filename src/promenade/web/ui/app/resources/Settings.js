sap.ui.define(["promenade/generic/Extensions"], function (Extensions) {
  "use strict";

  return {
    /** Explains each setting of the tenant, and what can be chosen. */
    extend() {
      const managed = ["createdAt", "createdBy", "modifiedAt", "modifiedBy"];
      Extensions.explain("TenantSettings", "resources.setting", managed);
    }
  };
});
