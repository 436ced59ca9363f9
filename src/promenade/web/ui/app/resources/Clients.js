sap.ui.define(
  [
    "sap/m/MultiComboBox",
    "sap/ui/core/Component",
    "sap/ui/core/ListItem",
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/resources/Doing",
    "promenade/resources/Secret",
    "promenade/resources/Texts"
  ],
  function (MultiComboBox, Component, ListItem, Extensions, FieldDialog, Messages, Meta, Http, Doing, Secret, Texts) {
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

    /** Lets scopes be ticked, each with a sentence of what it opens. */
    function scopePicker(field, {model}) {
      return new MultiComboBox({
        width: "100%",
        showSecondaryValues: true,
        showSelectAll: false,
        items: SCOPES.map((key) => new ListItem({key, text: key, additionalText: `{i18n>resources.scope.${key}}`})),
        selectedKeys: {path: field.path, model}
      });
    }

    async function showSecret({clientId, secret}) {
      const t = await words();
      await Secret.show({
        title: t("resources.clientSecret"),
        text: t("resources.clientSecretOnce"),
        values: [
          {label: t("resources.clientId"), value: clientId},
          {label: t("resources.secret"), value: secret}
        ]
      });
    }

    /** Asks for a new client, shows its secret, and leads to its page. */
    async function create({view, meta}) {
      try {
        const t = await words();
        const made = await FieldDialog.open({
          title: t("resources.newClient"),
          action: t("resources.newClient"),
          fields: ["name", "scopes"].map((path) => meta.field(path)),
          values: {scopes: []},
          submit: (changed, all) => Http.post(`/admin/${SET}`, {...changed, scopes: all.scopes})
        });
        if (made) {
          await showSecret(made);
          view.getController().getOwnerComponent().getRouter().navTo("object", {set: SET, key: made.ID});
        }
      } catch (error) {
        Messages.show(error);
      }
    }

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

    const renew = async ({context}) => showSecret(await Doing.patch(context, {secret: null}));

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
        Extensions.input(SET, "scopes", scopePicker);
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
