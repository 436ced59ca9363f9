sap.ui.define([], function () {
  "use strict";

  /** What a promotion's page reads for its head, and to know what may be done with it. */
  const PARAMETERS = {
    $select: [
      "ID",
      "IsActiveEntity",
      "HasActiveEntity",
      "HasDraftEntity",
      "name",
      "code",
      "status",
      "statusCriticality",
      "type",
      "currency",
      "validFrom",
      "validTo",
      "applicationsCount",
      "campaign_ID",
      "modifiedAt"
    ],
    $expand: {
      campaign: {$select: ["ID", "name", "locked"]},
      DraftAdministrativeData: {
        $select: ["DraftIsCreatedByMe", "InProcessByUser", "CreatedByUser", "CreationDateTime", "LastChangeDateTime"]
      }
    }
  };

  return {
    PARAMETERS,

    /** What changes by itself while a promotion runs. */
    LIVE: ["applicationsCount", "status", "statusCriticality"]
  };
});
