sap.ui.define(
  [
    "promenade/resources/AuditTrail",
    "promenade/resources/BasketTests",
    "promenade/resources/BudgetRequests",
    "promenade/resources/Budgets",
    "promenade/resources/Campaigns",
    "promenade/resources/Clients",
    "promenade/resources/Coupons",
    "promenade/resources/GroupRoles",
    "promenade/resources/Groups",
    "promenade/resources/People",
    "promenade/resources/Sentences",
    "promenade/resources/Settings",
    "promenade/resources/Stores",
    "promenade/resources/Webhooks"
  ],
  function (
    AuditTrail,
    BasketTests,
    BudgetRequests,
    Budgets,
    Campaigns,
    Clients,
    Coupons,
    GroupRoles,
    Groups,
    People,
    Sentences,
    Settings,
    Stores,
    Webhooks
  ) {
    "use strict";

    // What the pages of single sets have beyond what follows from $metadata; said once, when this is required.
    [
      AuditTrail,
      BasketTests,
      BudgetRequests,
      Budgets,
      Campaigns,
      Clients,
      Coupons,
      GroupRoles,
      Groups,
      People,
      Sentences,
      Settings,
      Stores,
      Webhooks
    ].forEach((area) => area.extend());
    return {};
  }
);
