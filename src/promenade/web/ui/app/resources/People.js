sap.ui.define(
  [
    "sap/m/MessageBox",
    "sap/ui/core/Component",
    "promenade/resources/Doing",
    "promenade/resources/Holders",
    "promenade/resources/Secret",
    "promenade/resources/Texts"
  ],
  function (MessageBox, Component, Doing, Holders, Secret, Texts) {
    "use strict";

    const SCOPES = [
      "svc.PromotionManager",
      "svc.BudgetManager",
      "svc.Admin",
      "svc.POSReader",
      "PublicApi.Read",
      "PublicApi.Write"
    ];

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

    /** Asks first, as the person cannot sign in any more until the link was used. */
    async function renew({context}) {
      const t = await Texts.of(Component.getComponentById("promenade"));
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

    return {
      /** What a person may be given. */
      scopes: SCOPES,

      /** Adds scopes to choose from, and links that are shown once. */
      extend() {
        Holders.extend("People", {
          scopes: SCOPES,
          create: {id: "invite", textKey: "resources.invite", icon: "sap-icon://add-employee", press: invite},
          changeKey: "resources.changePerson",
          renew: {id: "newLink", textKey: "resources.newLink", press: renew},
          isRenewable: Holders.isActive
        });
      }
    };
  }
);
