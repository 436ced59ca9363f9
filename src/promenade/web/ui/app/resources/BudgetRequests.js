sap.ui.define(
  [
    "sap/ui/core/Component",
    "sap/ui/model/Filter",
    "promenade/generic/Addresses",
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/resources/Doing",
    "promenade/resources/Texts",
    "promenade/session/Session"
  ],
  function (Component, Filter, Addresses, Extensions, FieldDialog, Format, Messages, Meta, Doing, Texts, Session) {
    "use strict";

    const SET = "BudgetRequests";
    const STATES = ["OPEN", "GRANTED", "DECLINED", "WITHDRAWN"];
    const TEXTS = "resources.budgetRequest";
    const words = () => Texts.of(Component.getComponentById("promenade"));
    const isOpen = (context) => context.getProperty("status") === "OPEN";

    async function send(context, model, name, values, done) {
      await Doing.call(context, await Doing.action(model, SET, name), values);
      Messages.toast(`${TEXTS}.${done}`);
      return true;
    }

    /** Gives a budget that there is, of the currency that was asked for. */
    async function choose({model, context}) {
      const [t, links, action] = await Promise.all([
        words(),
        Meta.of(model, "BudgetPromotions"),
        Doing.action(model, SET, "grant")
      ]);
      const [parameter] = action.parameters;
      const {valueList, textPath} = links.field("budget_ID");
      const filters = [
        new Filter("currency", "EQ", context.getProperty("currency")),
        new Filter("status", "NE", "EXPIRED")
      ];
      await FieldDialog.open({
        title: t(`${TEXTS}.choose`),
        action: t(`${TEXTS}.give`),
        fields: [{...parameter, isRequired: true, valueList, textPath, filters}],
        submit: (values) => send(context, model, "grant", values, "granted")
      });
    }

    /** Gives a budget that is made of what was asked for. */
    async function make({model, context}) {
      const t = await words();
      const money = Format.money(context.getProperty("amount"), context.getProperty("currency"));
      const isWanted = await Messages.confirm(t(`${TEXTS}.makeText`, money), {
        action: t(`${TEXTS}.make`),
        title: t(`${TEXTS}.make`)
      });
      if (isWanted) {
        await send(context, model, "grant", {}, "granted");
      }
    }

    async function decline({model, context}) {
      const [t, action] = await Promise.all([words(), Doing.action(model, SET, "decline")]);
      await FieldDialog.open({
        title: t(`${TEXTS}.decline`),
        action: t(`${TEXTS}.decline`),
        text: t(`${TEXTS}.declineText`),
        fields: action.parameters.map((one) => ({...one, isRequired: true, isMultiLine: true})),
        submit: (values) => send(context, model, "decline", values, "declined")
      });
    }

    /** A button that leads to what the request is about, where that can be seen. */
    const leadTo = (id, set, icon) => ({
      id,
      textKey: `${TEXTS}.${id}`,
      icon,
      paths: [`${id}/name`, `${id}_ID`],
      press({context}) {
        const {name, parameters} = Addresses.route(set, context.getProperty(`${id}_ID`));
        Component.getComponentById("promenade").getRouter().navTo(name, parameters);
      },
      isEnabled: (context) => Boolean(context.getProperty(`${id}/name`))
    });

    const ACTIONS = [
      {
        id: "choose",
        textKey: `${TEXTS}.choose`,
        icon: "sap-icon://accept",
        paths: ["status"],
        replaces: ["grant"],
        press: choose,
        isEnabled: (context) => isOpen(context) && Session.may("update", "Budgets")
      },
      {
        id: "make",
        textKey: `${TEXTS}.make`,
        icon: "sap-icon://add",
        paths: ["status", "amount", "currency"],
        press: make,
        isEnabled: (context) => isOpen(context) && Session.may("create", "Budgets")
      },
      {
        id: "decline",
        textKey: `${TEXTS}.decline`,
        icon: "sap-icon://decline",
        paths: ["status"],
        replaces: ["decline"],
        press: decline,
        isEnabled: (context) => isOpen(context) && Session.may("update", "Budgets")
      },
      {
        id: "withdraw",
        textKey: `${TEXTS}.withdraw`,
        icon: "sap-icon://undo",
        paths: ["status", "askedBy"],
        replaces: ["withdraw"],
        press: ({model, context}) => send(context, model, "withdraw", {}, "withdrawn"),
        isEnabled: (context) => isOpen(context) && context.getProperty("askedBy") === Session.current().user
      },
      leadTo("promotion", "Promotions", "sap-icon://tags"),
      leadTo("budget", "Budgets", "sap-icon://money-bills")
    ];

    return {
      /** Adds the answers, words for the states, and the way to the promotion once it is saved. */
      extend() {
        Extensions.words(SET, "status", `${TEXTS}.status`);
        Extensions.choices(SET, "status", async () => {
          const t = await words();
          return STATES.map((key) => ({key, text: t(`${TEXTS}.status.${key}`)}));
        });
        Extensions.add(SET, {actions: ACTIONS});
      }
    };
  }
);
