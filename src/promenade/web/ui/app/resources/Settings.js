sap.ui.define(
  [
    "promenade/generic/Extensions",
    "promenade/resources/RateLimits",
    "promenade/resources/Trust",
    "promenade/session/Session"
  ],
  function (Extensions, RateLimits, Trust, Session) {
    "use strict";

    return {
      /** Explains each setting of the tenant, and what can be chosen. */
      extend() {
        const managed = ["createdAt", "createdBy", "modifiedAt", "modifiedBy"];
        Extensions.explain("TenantSettings", "resources.setting", managed);
        ["countsTowardsThreshold", "excludedCountsTowardsThreshold"].forEach((path) => {
          Extensions.words("TenantSettings", path, "resources.counting");
        });
        Extensions.add("TenantSettings", {
          sections: [
            {
              id: "rateLimits",
              titleKey: "resources.rateLimits",
              replaces: ["rateLimits"],
              create: ({view}) => RateLimits.create(view)
            },
            {
              id: "certificates",
              titleKey: "resources.trust",
              replaces: ["certificates"],
              isOffered: () => Session.may("update", "TenantSettings"),
              create: ({view}) => Trust.create(view)
            }
          ]
        });
      }
    };
  }
);
