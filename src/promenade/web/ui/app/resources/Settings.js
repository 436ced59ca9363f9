sap.ui.define(["promenade/generic/Extensions", "promenade/resources/RateLimits"], function (Extensions, RateLimits) {
  "use strict";

  return {
    /** Explains each setting of the tenant, and what can be chosen. */
    extend() {
      const managed = ["createdAt", "createdBy", "modifiedAt", "modifiedBy"];
      Extensions.explain("TenantSettings", "resources.setting", managed);
      Extensions.add("TenantSettings", {
        sections: [
          {
            id: "rateLimits",
            titleKey: "resources.rateLimits",
            replaces: ["rateLimits"],
            create: ({view}) => RateLimits.create(view)
          }
        ]
      });
    }
  };
});
