sap.ui.define([], function () {
  "use strict";

  /**
   * What the navigation offers. `key` is a route, or `list/<set>`; `needs` the service without which it is not shown.
   *
   * `row`: the ID of the only row of a set, whose page is shown in place of the list.
   *
   * Texts are `nav.<key>` of the bundle `shell`.
   */
  const list = (set, icon) => ({key: `list/${set}`, icon, needs: "admin"});

  return [
    {key: "home", icon: "sap-icon://home", needs: "admin"},
    {key: "store", icon: "sap-icon://retail-store", needs: "store"},
    {
      key: "promotions",
      icon: "sap-icon://tags",
      needs: "admin",
      items: [
        {key: "calendar", needs: "admin"},
        list("PromotionTemplates"),
        list("Campaigns"),
        list("PromotionPilotConfigs"),
        list("PriorityGroups"),
        list("MutualExclusionGroups"),
        list("BasketTests")
      ]
    },
    {key: "simulator", icon: "sap-icon://simulate", needs: "pos"},
    {...list("CouponTypes", "sap-icon://cart-3"), items: [list("CouponCodeBatches"), list("RedemptionLogs")]},
    {...list("Budgets", "sap-icon://money-bills"), items: [list("BudgetRequests"), list("Stakeholders")]},
    {
      ...list("Articles", "sap-icon://product"),
      items: [list("ArticleGroups"), list("PosGroups"), list("CustomerGroups"), list("LoyaltyTiers")]
    },
    {key: "reports", icon: "sap-icon://bar-chart", needs: "reporting"},
    {key: "imports", icon: "sap-icon://upload", needs: "admin"},
    {...list("WebhookSubscriptions", "sap-icon://connected"), items: [list("NotificationLogs")]},
    {...list("LocalDeployments", "sap-icon://retail-store"), items: [list("SyncHistory")]},
    {...list("People", "sap-icon://group"), needs: "clients"},
    {...list("GroupRoles", "sap-icon://group"), needs: "groups"},
    {...list("Clients", "sap-icon://key-user-settings"), needs: "clients"},
    {...list("TenantSettings", "sap-icon://action-settings"), row: "00000000-0000-0000-0000-000000000000"},
    list("AuditLogs", "sap-icon://history")
  ];
});
