sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/FlexBox",
    "sap/m/MessageStrip",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "promenade/generic/FieldDialog",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/net/News",
    "promenade/promotions/Texts",
    "promenade/promotions/usualCurrency",
    "promenade/session/Session"
  ],
  function (
    Button,
    FlexBox,
    MessageStrip,
    Text,
    VBox,
    Component,
    FieldDialog,
    Format,
    Messages,
    Meta,
    Http,
    News,
    Texts,
    usualCurrency,
    Session
  ) {
    "use strict";

    const TYPES = {OPEN: "Information", GRANTED: "Success", DECLINED: "Warning"};

    /** The last request for a budget for a promotion, null without one. */
    async function latest(id) {
      const select = "ID,status,amount,currency,askedAt,askedBy,answeredAt,answeredBy,answer";
      const query = `$filter=promotion_ID eq ${id}&$orderby=askedAt desc,ID desc&$top=1&$select=${select}`;
      const {value} = await Http.get(`/admin/BudgetRequests?${query}&$expand=budget($select=name)`);
      return value[0] || null;
    }

    /** How it stands with a request, in a sentence; "" where nobody waits for anything. */
    function sentence({status, amount, currency, askedAt, askedBy, answeredAt, answeredBy, answer, budget}, isNew) {
      const money = Format.money(amount, currency);
      if (status === "OPEN") {
        return Texts.get("asked.OPEN", [money, askedBy, Texts.moment(askedAt)]);
      }
      if (status === "DECLINED") {
        return Texts.get("asked.DECLINED", [money, answeredBy, Texts.moment(answeredAt), answer]);
      }
      if (status === "GRANTED" && budget) {
        return Texts.get(isNew ? "asked.toBeCharged" : "asked.GRANTED", [
          budget.name,
          answeredBy,
          Texts.moment(answeredAt)
        ]);
      }
      return "";
    }

    /** A budget that is asked of those who give budgets, and what they have answered. */
    return class AskedBudget {
      constructor() {
        /** @type {any} */
        this._shown = null;
        /** @type {any} */
        this._request = null;
        this._strip = new MessageStrip({showIcon: true, visible: false}).addStyleClass("sapUiTinyMarginBottom");
        this._hint = new Text({text: Texts.get("asked.none"), visible: false}).addStyleClass("sapUiTinyMarginBottom");
        this._ask = new Button({
          text: Texts.get("asked.ask"),
          visible: false,
          press: () => this._during(() => this._askFor())
        });
        this._withdraw = new Button({
          text: Texts.get("asked.withdraw"),
          visible: false,
          press: () => this._during(() => this._takeBack())
        });
        this.control = new VBox({
          alignItems: "Start",
          items: [
            this._strip,
            this._hint,
            new FlexBox({wrap: "Wrap", items: [this._ask, this._withdraw]}).addStyleClass("promenadeGap")
          ]
        });
      }

      /** Shows how it stands for a promotion or a draft of one. */
      async show({id, isActive, isNew, currency}) {
        const shown = (this._shown = {id, isActive, isNew, currency});
        const request = await latest(id);
        if (shown === this._shown) {
          this._tell(request);
        }
      }

      _tell(request) {
        this._request = request;
        const text = request ? sentence(request, this._shown.isNew) : "";
        const isOpen = Boolean(request) && request.status === "OPEN";
        const mayAsk = Session.may("update", "Promotions") && !Session.may("create", "Budgets");
        this._strip.setText(Texts.plain(text)).setVisible(Boolean(text));
        this._strip.setType(TYPES[request?.status] || "Information");
        this._hint.setVisible(mayAsk && !text);
        this._ask.setVisible(mayAsk && !isOpen);
        this._withdraw.setVisible(isOpen && request.askedBy === Session.current().user);
      }

      /** One press at a time; what goes wrong is shown, and how it stands is read again. */
      async _during(task) {
        this.control.setBusy(true);
        try {
          await task();
          await this.show(this._shown);
        } catch (error) {
          await Messages.show(error);
        } finally {
          this.control.setBusy(false);
        }
        setTimeout(() => [this._withdraw, this._ask].find((one) => one.getVisible())?.focus()); // once it is there
      }

      async _askFor() {
        const {id, isActive, currency} = this._shown;
        const meta = await Meta.of(Component.getComponentById("promenade").getModel(), "Promotions");
        const {name, parameters} = meta.actions.find((one) => one.name === "AdminService.askForBudget");
        await FieldDialog.open({
          title: Texts.get("asked.ask"),
          action: Texts.get("asked.send"),
          text: Texts.get("asked.text"),
          fields: parameters.map((one) => ({...one, isMultiLine: one.path === "reason"})),
          values: {amount: null, currency: currency || (await usualCurrency().catch(() => "")), reason: null},
          isNew: false,
          submit: async (changed, {amount, currency: chosen, reason}) => {
            const asked = {amount, currency: (chosen || "").trim().toUpperCase(), reason};
            const made = await Http.post(`/admin/Promotions(ID=${id},IsActiveEntity=${isActive})/${name}`, asked);
            News.wrote("POST", `/admin/BudgetRequests(${made.ID})`); // others hear of the request, not of the draft
            Messages.toast("promotions.asked.sent");
            return true;
          }
        });
      }

      async _takeBack() {
        await Http.post(`/admin/BudgetRequests(${this._request.ID})/AdminService.withdraw`, {});
        Messages.toast("promotions.asked.withdrawn");
      }
    };
  }
);
