sap.ui.define(
  [
    "sap/ui/core/Component",
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Meta",
    "promenade/resources/Doing",
    "promenade/resources/Secret",
    "promenade/resources/Texts",
    "promenade/resources/Ticks"
  ],
  function (Component, Extensions, FieldDialog, Meta, Doing, Secret, Texts, Ticks) {
    "use strict";

    const SET = "Clients";
    const SCOPES = [
      "svc.POSReader",
      "svc.PromotionManager",
      "svc.BudgetManager",
      "svc.Admin",
      "svc.Sync",
      "PublicApi.Read",
      "PublicApi.Write"
    ];
    const words = () => Texts.of(Component.getComponentById("promenade"));

    const SHOWN = {
      title: "resources.clientSecret",
      text: "resources.clientSecretOnce",
      values: ({clientId, secret}) => ({"resources.clientId": clientId, "resources.secret": secret})
    };

    /** Asks for a new client, shows its secret, and leads to its page. */
    const create = (page) =>
      Secret.create(page, {action: "resources.newClient", paths: ["name", "scopes"], ticked: "scopes", ...SHOWN});

    /** Lets name and scopes be changed. */
    async function change({model, context}) {
      const [t, meta] = await Promise.all([words(), Meta.of(model, SET)]);
      await FieldDialog.open({
        title: t("resources.changeClient"),
        action: t("resources.apply"),
        fields: ["name", "scopes"].map((path) => meta.field(path)),
        values: {name: context.getProperty("name"), scopes: context.getProperty("scopes")},
        isNew: false,
        submit: async (changed, {name, scopes}) => {
          await Doing.patch(context, {name: name || null, scopes});
          return true;
        }
      });
    }

    const switchTo =
      (isActive) =>
      ({context}) =>
        Doing.patch(context, {isActive});

    const renew = async ({context}) => Secret.show(SHOWN, await Doing.patch(context, {secret: null}));

    const isOpen = (context) => Doing.isOpen(SET, context);
    const ACTIONS = [
      {
        id: "change",
        textKey: "resources.changeClient",
        icon: "sap-icon://edit",
        paths: ["isActive"],
        replaces: ["edit"],
        press: change,
        isEnabled: isOpen
      },
      {
        id: "renew",
        textKey: "resources.renewSecret",
        icon: "sap-icon://synchronize",
        paths: ["isActive"],
        press: renew,
        isEnabled: isOpen
      },
      {
        id: "switchOff",
        textKey: "resources.switchOff",
        icon: "sap-icon://pause",
        paths: ["isActive"],
        press: switchTo(false),
        isEnabled: (context) => isOpen(context) && context.getProperty("isActive") === true
      },
      {
        id: "switchOn",
        textKey: "resources.switchOn",
        icon: "sap-icon://media-play",
        paths: ["isActive"],
        press: switchTo(true),
        isEnabled: (context) => isOpen(context) && context.getProperty("isActive") === false
      }
    ];

    return {
      /** Adds scopes to choose from, and secrets that are shown once. */
      extend() {
        Extensions.input(SET, "scopes", Ticks.of(SCOPES, "resources.scope"));
        Extensions.add(SET, {
          listActions: [
            {
              id: "newClient",
              textKey: "resources.newClient",
              icon: "sap-icon://add",
              replaces: ["create"],
              press: create
            }
          ],
          actions: ACTIONS
        });
      }
    };
  }
);
