sap.ui.define(
  [
    "sap/m/MessageStrip",
    "sap/m/MessageToast",
    "sap/ui/core/Component",
    "sap/ui/model/Filter",
    "promenade/generic/Extensions",
    "promenade/generic/Messages",
    "promenade/generic/ValueHelp",
    "promenade/resources/CampaignPromotions",
    "promenade/resources/Doing",
    "promenade/resources/Texts"
  ],
  function (
    MessageStrip,
    MessageToast,
    Component,
    Filter,
    Extensions,
    Messages,
    ValueHelp,
    CampaignPromotions,
    Doing,
    Texts
  ) {
    "use strict";

    const SET = "Campaigns";
    const isLocked = (context) => context.getProperty("locked") === true;
    const words = () => Texts.of(Component.getComponentById("promenade"));

    /** Lets promotions be chosen that are in no campaign yet, or in another, and makes them part of this one. */
    async function add({model, context}) {
      const t = await words();
      const id = context.getProperty("ID");
      const rows = await ValueHelp.pick({
        set: "Promotions",
        title: t("resources.pickPromotions"),
        multi: true,
        filters: [
          new Filter({
            filters: [new Filter("campaign_ID", "NE", id), new Filter("campaign_ID", "EQ", null)],
            and: false
          })
        ]
      });
      if (rows.length) {
        const action = await Doing.action(model, SET, "addPromotions");
        await Doing.call(context, action, {promotionIds: rows.map((one) => one.ID)});
        MessageToast.show(t("resources.promotionsAdded", rows.length));
      }
    }

    /** Says what locking means before it is done. */
    function turn(name, hint) {
      return async ({model, context}) => {
        const t = await words();
        const action = await Doing.action(model, SET, name);
        if (await Messages.confirm(t(hint), {action: action.label, title: action.label})) {
          await Doing.call(context, action);
        }
      };
    }

    function lockedStrip() {
      return new MessageStrip({
        text: "{i18n>resources.isLocked}",
        showIcon: true,
        type: "Warning",
        visible: {path: "locked", targetType: "any", formatter: (locked) => locked === true}
      });
    }

    return {
      /** Adds its promotions in time, and what locking means, to the pages of campaigns. */
      extend() {
        Extensions.add(SET, {
          header: [{id: "locked", create: lockedStrip}],
          sections: [
            {
              id: "timeline",
              titleKey: "resources.timeline",
              replaces: ["promotions"],
              create: ({view, model}) => CampaignPromotions.create(view, model)
            }
          ],
          actions: [
            {
              id: "add",
              textKey: "resources.addPromotions",
              icon: "sap-icon://add",
              paths: ["IsActiveEntity", "locked"],
              replaces: ["addPromotions", "removePromotion"],
              press: add,
              isEnabled: (context) => Doing.isOpen(SET, context) && !isLocked(context)
            },
            {
              id: "lock",
              textKey: "resources.lock",
              icon: "sap-icon://locked",
              paths: ["IsActiveEntity", "locked"],
              replaces: ["lock"],
              press: turn("lock", "resources.lockHint"),
              isEnabled: (context) => Doing.isOpen(SET, context) && !isLocked(context)
            },
            {
              id: "unlock",
              textKey: "resources.unlock",
              icon: "sap-icon://unlocked",
              paths: ["IsActiveEntity", "locked"],
              replaces: ["unlock"],
              press: turn("unlock", "resources.unlockHint"),
              isEnabled: (context) => Doing.isOpen(SET, context) && isLocked(context)
            }
          ]
        });
      }
    };
  }
);
