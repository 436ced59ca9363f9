sap.ui.define(
  ["promenade/resources/Doing", "promenade/resources/Holders", "promenade/resources/Secret"],
  function (Doing, Holders, Secret) {
    "use strict";

    const SCOPES = [
      "svc.POSReader",
      "svc.PromotionManager",
      "svc.BudgetManager",
      "svc.Admin",
      "svc.Sync",
      "svc.ReportReader",
      "PublicApi.Read",
      "PublicApi.Write",
      "PublicApi.Customers"
    ];

    const SHOWN = {
      title: "resources.clientSecret",
      text: "resources.clientSecretOnce",
      values: ({clientId, secret}) => ({"resources.clientId": clientId, "resources.secret": secret})
    };

    /** Asks for a new client, shows its secret, and leads to its page. */
    const create = (page) =>
      Secret.create(page, {action: "resources.newClient", paths: ["name", "scopes"], ticked: "scopes", ...SHOWN});

    const renew = async ({context}) => Secret.show(SHOWN, await Doing.patch(context, {secret: null}));

    return {
      /** Adds scopes to choose from, and secrets that are shown once. */
      extend() {
        Holders.extend("Clients", {
          scopes: SCOPES,
          create: {id: "newClient", textKey: "resources.newClient", icon: "sap-icon://add", press: create},
          changeKey: "resources.changeClient",
          renew: {id: "renew", textKey: "resources.renewSecret", press: renew}
        });
      }
    };
  }
);
