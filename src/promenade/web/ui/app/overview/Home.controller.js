sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/overview/Facts",
    "promenade/reports/Numbers",
    "promenade/reports/style",
    "promenade/session/Session",
    "promenade/shell/Kept",
    "promenade/shell/Visit"
  ],
  function (Controller, JSONModel, Facts, Numbers, style, Session, Kept, Visit) {
    "use strict";

    const needed = (name) => new Promise((resolve, reject) => sap.ui.require([name], resolve, reject));

    /**
     * The first page: a few figures, what needs attention, and what to do next.
     *
     * Its frame is there at once; figures come with three small requests side by side; the top
     * promotions in the chosen currency and the chart's library come after them.
     */
    return Controller.extend("promenade.overview.Home", {
      onInit() {
        style();
        this._model = new JSONModel({
          mayCreate: Session.may("create", "Promotions"),
          hasQueue: this._hasQueue(),
          queue: [],
          queueNone: "",
          queueMore: "",
          mayGive: this._mayGive(),
          asked: [],
          askedNone: "",
          askedMore: "",
          waiting: [],
          waitingMore: "",
          week: [],
          weekNone: "",
          weekMore: "",
          top: [],
          topNone: "",
          currencies: [],
          currency: "",
          failure: "",
          attention: [],
          drafts: [],
          attentionNone: "",
          draftsNone: ""
        });
        this.getView().setModel(this._model, "home");
        this._router = this.getOwnerComponent().getRouter();
        this._end = Visit.follow(this, "home", {
          enter: () => this._load(),
          top: () => this.byId("page").scrollTo(0),
          again: () => this._load()
        });
      },

      /** Whether approvals are the person's to give. */
      _hasQueue() {
        const {approvalIsBinding, mayDecide} = Session.current();
        return approvalIsBinding && mayDecide;
      },

      /** Whether budgets are the person's to give. */
      _mayGive() {
        return Session.may("update", "Budgets");
      },

      onExit() {
        this._end();
      },

      _load() {
        // What words errors is large, and hardly ever wanted here.
        this._read().catch(async (error) => (await needed("promenade/generic/Messages")).show(error));
      },

      /** Reads each of three sources; what one of them does not tell leaves the others as they are. */
      async _read() {
        const {admin, reporting} = Session.current().services;
        this._model.setProperty("/failure", "");
        const settled = async (reading) => reading && reading.catch((error) => this._onUnread(error));
        const [plans, sums, sales] = [
          settled(admin && Facts.ofPlans({hasQueue: this._hasQueue(), mayGive: this._mayGive()})),
          settled(reporting && Facts.ofSums()),
          settled(reporting && Facts.ofSales())
        ];
        const bundle = await this.getOwnerComponent().getModel("i18n").getResourceBundle();
        this._t = (key, ...values) => bundle.getText(`home.${key}`, values);
        await Promise.all([
          admin && plans.then((found) => (found ? this._showPlans(found) : this._withhold("running", "waiting"))),
          reporting && sums.then((found) => (found ? this._showSums(found) : this._withhold("discount", "budgets"))),
          reporting &&
            Promise.all([sums, sales]).then(([found, revenue]) =>
              found && revenue ? this._showRevenue(revenue) : this._withhold("revenue")
            )
        ]);
        this._showAttention(await plans, await sums);
        await Promise.all([this._showTop(), this._showChart()]);
      },

      /** Says on top why something could not be read; there it can be tried again. */
      async _onUnread(error) {
        const [Messages, Texts] = await Promise.all(
          ["Messages", "Texts"].map((one) => needed(`promenade/generic/${one}`))
        );
        await Texts.ready();
        const bundle = await this.getOwnerComponent().getModel("i18n").getResourceBundle();
        this._model.setProperty("/failure", bundle.getText("home.unread", [Messages.read(error).message]));
        return null;
      },

      /** Figures that could not be read: a dash, which is no zero. */
      _withhold(...ids) {
        ids.forEach((id) => this._figure(id, Numbers.NOTHING, ""));
      },

      onTryAgain() {
        this._load();
      },

      _figure(id, value, note, isUrgent = false) {
        this.byId(id).setValue(value).setNote(note).setIsUrgent(isUrgent);
      },

      /** Shows rows in the list of a card, and how many more there are. */
      _list(name, {rows, more = 0}) {
        this._model.setProperty(`/${name}`, rows);
        this._model.setProperty(`/${name}None`, this._t(`${name}None`));
        this._model.setProperty(`/${name}More`, more > 0 ? this._t("andMore", Numbers.whole(more)) : "");
      },

      _showPlans(plans) {
        const {queue, asked, running, waiting, drafts} = plans;
        const t = this._t;
        // Who may decide has what waits in a list of their own.
        if (queue) {
          this._list("queue", {rows: Facts.queue(t, queue), more: queue.count - queue.rows.length});
        } else {
          this._list("waiting", Facts.waiting(t, waiting));
        }
        if (asked) {
          this._list("asked", {rows: Facts.asked(t, asked), more: asked.count - asked.rows.length});
        }
        this._list("week", Facts.week(t, plans));
        this._figure("running", Numbers.whole(running.count), t("runningNote"));
        this._figure(
          "waiting",
          Numbers.whole(waiting.count),
          t(waiting.count ? "waitingNote" : "waitingNone"),
          waiting.count > 0
        );
        this._model.setProperty(
          "/drafts",
          drafts.rows.map(({ID, name, code, modifiedAt}) => ({
            title: name || code || t("unnamed"),
            text: t("changedAt", Numbers.moment(modifiedAt)),
            href: `promotion/${ID},draft`
          }))
        );
        this._model.setProperty("/draftsNone", t("draftsNone"));
      },

      _showSums(sums) {
        const {totals, nearEnd} = sums;
        const codes = totals.rows.map(({currency}) => currency);
        const wanted = this._model.getProperty("/currency") || Kept.read("currency");
        this._sums = sums;
        this._model.setProperty("/currencies", codes.length > 1 ? codes.map((code) => ({code})) : []);
        this._model.setProperty("/currency", codes.includes(wanted) ? wanted : (codes[0] ?? ""));
        this._showAmount("discount", sums, "given");
        this._figure("budgets", Numbers.whole(nearEnd.count), this._t("budgetsNote"), nearEnd.count > 0);
      },

      _showRevenue(sales) {
        this._sales = sales;
        this._showAmount("revenue", sales, "revenue");
      },

      /** The amount of a week in the chosen currency, and how it compares with the week before. */
      _showAmount(id, {now, before}, property) {
        const chosen = this._model.getProperty("/currency");
        const [amount, earlier] = [now, before].map(
          ({rows}) => rows.find(({currency}) => currency === chosen)?.[property] ?? 0
        );
        const change = Facts.change(amount, earlier);
        const note = change === null ? this._t("week") : this._t("weekChange", Numbers.percent(change, true));
        this._figure(id, chosen ? Numbers.money(amount, chosen) : Numbers.whole(0), note);
      },

      /** Another currency: what is known by currency is shown at once, the top promotions are read. */
      onCurrency(event) {
        const currency = event.getParameter("item").getKey();
        this._model.setProperty("/currency", currency);
        Kept.write("currency", currency);
        this._showAmount("discount", this._sums, "given");
        if (this._sales) {
          this._showAmount("revenue", this._sales, "revenue");
        }
        Promise.all([this._showTop(), this._showChart()]).catch((error) => this._onUnread(error));
      },

      async _showTop() {
        const currency = this._model.getProperty("/currency");
        const rows = currency ? await Facts.ofTop(this._t, currency).catch((error) => this._onUnread(error)) : [];
        if (rows && currency === this._model.getProperty("/currency")) {
          this._list("top", {rows});
        }
      },

      _showAttention(plans, sums) {
        const t = this._t;
        const isUnread = this._model.getProperty("/failure");
        this._model.setProperty("/attention", Facts.attention(t, plans, sums));
        this._model.setProperty("/attentionNone", t(isUnread ? "attentionUnread" : "attentionNone"));
      },

      async _showChart() {
        const currency = this._model.getProperty("/currency");
        if (!currency) {
          return;
        }
        const Chart28 = await needed("promenade/overview/Chart28");
        const place = this.byId("chart");
        if (place && currency === this._model.getProperty("/currency")) {
          place.destroyItems();
          place.addItem(Chart28.create(this._t, this._sums, currency));
        }
      },

      onEntry(event) {
        const {href} = event.getSource().getBindingContext("home").getObject();
        this._router.getHashChanger().setHash(href);
      },

      onAllAsked() {
        this._router.navTo("list", {set: "BudgetRequests"});
      },

      onNewPromotion() {
        this._router.navTo("gallery");
      },

      onFromTemplate() {
        this._router.navTo("gallery", {"?query": {from: "template"}});
      },

      onCalendar() {
        this._router.navTo("calendar");
      },

      onSimulate() {
        this._router.navTo("simulator");
      }
    });
  }
);
