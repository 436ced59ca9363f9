sap.ui.define(["promenade/reports/Service"], function (Service) {
  "use strict";

  const RULES = ["Conditions", "DiscountActions", "LoyaltyActions"];
  const at = (moment) => new Date(moment).getTime();

  /** Whether a promotion's fields, places or rules are others than they were. */
  return {
    /**
     * Whether they were changed since a moment, `{id, modifiedAt}` being the promotion as it is now. That it was
     * activated, say, is no such change, although its `modifiedAt` tells of it. Where entries of the audit trail may
     * have been deleted, any change counts.
     */
    async since({id, modifiedAt}, moment) {
      if (at(modifiedAt) <= at(moment)) {
        return false;
      }
      const rules = RULES.map((set) => `entityType eq '${set}'`).join(" or ");
      const removed = `action eq 'DELETE' and ownerId eq '${id}' and (${rules})`;
      const logged = `action eq 'UPDATE' and entityId eq '${id}' or ${removed}`;
      const count = (set, filter) => ({set, filter, top: 0, count: true});
      const [settings, ...answers] = await Service.read("admin", [
        {set: "TenantSettings", select: "auditLogsSince"},
        count("AuditLogs", `timestamp gt ${moment} and (${logged})`),
        ...RULES.map((set) => count(set, `promotion_ID eq ${id} and modifiedAt gt ${moment}`))
      ]);
      const keptSince = settings.rows[0]?.auditLogsSince;
      const isCut = Boolean(keptSince) && at(moment) < at(keptSince);
      return isCut || answers.some((one) => one.count > 0);
    }
  };
});
