sap.ui.define(
  [
    "sap/m/MessageBox",
    "sap/m/MessageStrip",
    "sap/ui/core/Component",
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Format",
    "promenade/generic/Meta",
    "promenade/resources/Deliveries",
    "promenade/resources/DeliveryDialog",
    "promenade/resources/Doing",
    "promenade/resources/Secret",
    "promenade/resources/Texts",
    "promenade/resources/Ticks",
    "promenade/resources/eventKinds"
  ],
  function (
    MessageBox,
    MessageStrip,
    Component,
    Extensions,
    FieldDialog,
    Format,
    Meta,
    Deliveries,
    DeliveryDialog,
    Doing,
    Secret,
    Texts,
    Ticks,
    eventKinds
  ) {
    "use strict";

    const SET = "WebhookSubscriptions";
    const EVERYTHING = "*";
    const unread = (path, model) => ({path, model, targetType: "any"});
    const words = () => Texts.of(Component.getComponentById("promenade"));

    /** Sending is paused or taken up again. */
    const switchTo =
      (isActive) =>
      ({context}) =>
        Doing.patch(context, {isActive});

    async function replayPeriod({model, context}) {
      const t = await words();
      const answer = await Doing.ask({model, context, set: SET, name: "replayEvents", text: t("resources.replayHint")});
      if (answer) {
        MessageBox.information(t("resources.replayed", answer.events, Format.dateTime(answer.until)));
      }
    }

    /** Sends a test to a subscription and shows what becomes of it. */
    async function sendTest({model, context}) {
      const {ID} = await Doing.call(context, await Doing.action(model, SET, "sendTest"));
      await DeliveryDialog.open(ID);
    }

    /** Asks for a new subscription, shows its secret, and leads to its page. */
    const subscribe = (page) =>
      Secret.create(page, {
        action: "resources.subscribe",
        paths: ["name", "callbackUrl", "eventTypes", "envelope", "description"],
        ticked: "eventTypes",
        title: "resources.secretTitle",
        text: "resources.secretOnce",
        values: ({secret}) => ({"resources.secret": secret})
      });

    /** Lets the kinds of events of a subscription be chosen anew. */
    async function chooseKinds({model, context}) {
      const [t, meta] = await Promise.all([words(), Meta.of(model, SET)]);
      await FieldDialog.open({
        title: t("resources.chooseEvents"),
        action: t("resources.apply"),
        fields: [meta.field("eventTypes")],
        values: {eventTypes: context.getProperty("eventTypes")},
        isNew: false,
        submit: async (changed, {eventTypes}) => {
          await Doing.patch(context, {eventTypes});
          return true;
        }
      });
    }

    function pausedStrip() {
      return new MessageStrip({
        showIcon: true,
        type: "Warning",
        visible: {...unread("isActive"), formatter: (isActive) => isActive === false},
        text: {
          parts: [unread("disabledAt"), {path: "i18n>resources.paused"}, {path: "i18n>resources.disabled"}],
          formatter: (at, paused, disabled) => (at ? (disabled || "").replace("{0}", Format.dateTime(at)) : paused)
        }
      });
    }

    const ACTIONS = [
      {
        id: "events",
        textKey: "resources.chooseEvents",
        icon: "sap-icon://multi-select",
        paths: ["isActive"],
        press: chooseKinds,
        isEnabled: (context) => Doing.isOpen(SET, context)
      },
      {
        id: "pause",
        textKey: "resources.pause",
        icon: "sap-icon://pause",
        paths: ["isActive"],
        press: switchTo(false),
        isEnabled: (context) => Doing.isOpen(SET, context) && context.getProperty("isActive") === true
      },
      {
        id: "resume",
        textKey: "resources.resume",
        icon: "sap-icon://media-play",
        paths: ["isActive"],
        press: switchTo(true),
        isEnabled: (context) => Doing.isOpen(SET, context) && context.getProperty("isActive") === false
      },
      {
        id: "test",
        textKey: "resources.sendTest",
        icon: "sap-icon://paper-plane",
        paths: ["isActive"],
        replaces: ["sendTest"],
        press: sendTest,
        isEnabled: (context) => Doing.isOpen(SET, context)
      },
      {
        id: "replay",
        textKey: "resources.replayPeriod",
        icon: "sap-icon://restart",
        paths: ["isActive"],
        replaces: ["replayEvents"],
        press: replayPeriod,
        isEnabled: (context) => Doing.isOpen(SET, context) && context.getProperty("isActive") === true
      }
    ];

    return {
      /** Adds kinds of events to choose from, pausing, and the log of deliveries with replays. */
      extend() {
        const everything = {[EVERYTHING]: "{i18n>resources.everyEvent}"};
        Extensions.input(SET, "eventTypes", Ticks.of([EVERYTHING, ...eventKinds], "resources.event", everything));
        Extensions.words(SET, "envelope", "resources.envelope");
        Extensions.add(SET, {
          header: [{id: "paused", create: pausedStrip}],
          listActions: [
            {
              id: "subscribe",
              textKey: "resources.subscribe",
              icon: "sap-icon://add",
              replaces: ["create"],
              press: subscribe
            }
          ],
          sections: [
            {
              id: "deliveries",
              titleKey: "resources.deliveries",
              replaces: ["notificationLogs"],
              create: ({view, model}) => Deliveries.create(view, model)
            }
          ],
          actions: ACTIONS
        });
        Extensions.add("NotificationLogs", {
          actions: [
            {
              id: "sent",
              textKey: "resources.delivery.show",
              icon: "sap-icon://detail-view",
              paths: ["status"],
              replaces: ["payload"],
              press: ({context}) => DeliveryDialog.open(context.getProperty("ID"))
            },
            {
              id: "again",
              textKey: "resources.replay",
              icon: "sap-icon://restart",
              paths: ["status"],
              replaces: ["replay"],
              press: ({model, context}) => Deliveries.replay(model, context),
              isEnabled: () => Doing.may("update", SET)
            }
          ]
        });
      }
    };
  }
);
