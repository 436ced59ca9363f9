sap.ui.define(
  [
    "sap/m/MessageBox",
    "sap/ui/core/Component",
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Meta",
    "promenade/resources/Doing",
    "promenade/resources/Secret",
    "promenade/resources/Texts",
    "promenade/resources/Ticks"
  ],
  function (MessageBox, Component, Extensions, FieldDialog, Meta, Doing, Secret, Texts, Ticks) {
    "use strict";

    const SET = "People";
    const SCOPES = [
      "svc.PromotionManager",
      "svc.BudgetManager",
      "svc.Admin",
      "svc.POSReader",
      "PublicApi.Read",
      "PublicApi.Write"
    ];
    const words = () => Texts.of(Component.getComponentById("promenade"));

    const SHOWN = {
      title: "resources.invitation",
      text: "resources.invitationOnce",
      values: ({userName, invitation}) => ({
        "resources.userName": userName,
        "resources.link": `${window.location.origin}/oauth/invitation?secret=${invitation}`
      })
    };

    /** Asks for a new person, shows the link of the invitation, and leads to the person's page. */
    const invite = (page) =>
      Secret.create(page, {
        action: "resources.invite",
        paths: ["userName", "name", "scopes", "codeRequired"],
        ticked: "scopes",
        ...SHOWN
      });

    /** Lets name and scopes be changed. */
    async function change({model, context}) {
      const [t, meta] = await Promise.all([words(), Meta.of(model, SET)]);
      await FieldDialog.open({
        title: t("resources.changePerson"),
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

    /** Asks first, as the person cannot sign in any more until the link was used. */
    async function renew({context}) {
      const t = await words();
      const title = t("resources.newLink");
      const isSure = await new Promise((resolve) =>
        MessageBox.confirm(t("resources.newLinkText"), {
          title,
          actions: [title, MessageBox.Action.CANCEL],
          emphasizedAction: title,
          onClose: (action) => resolve(action === title)
        })
      );
      if (isSure) {
        await Secret.show(SHOWN, await Doing.patch(context, {invitation: null}));
      }
    }

    const isOpen = (context) => Doing.isOpen(SET, context);
    const ACTIONS = [
      {
        id: "change",
        textKey: "resources.changePerson",
        icon: "sap-icon://edit",
        paths: ["isActive"],
        replaces: ["edit"],
        press: change,
        isEnabled: isOpen
      },
      {
        id: "newLink",
        textKey: "resources.newLink",
        icon: "sap-icon://synchronize",
        paths: ["isActive"],
        press: renew,
        isEnabled: (context) => isOpen(context) && context.getProperty("isActive") === true
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
      /** Adds scopes to choose from, and links that are shown once. */
      extend() {
        Extensions.input(SET, "scopes", Ticks.of(SCOPES, "resources.scope"));
        Extensions.add(SET, {
          listActions: [
            {
              id: "invite",
              textKey: "resources.invite",
              icon: "sap-icon://add-employee",
              replaces: ["create"],
              press: invite
            }
          ],
          actions: ACTIONS
        });
      }
    };
  }
);
