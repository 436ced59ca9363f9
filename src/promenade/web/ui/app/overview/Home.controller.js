sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/overview/Facts",
    "promenade/reports/Numbers",
    "promenade/reports/style",
    "promenade/session/Session",
    "promenade/shell/Visit"
  ],
  function (Controller, JSONModel, Facts, Numbers, style, Session, Visit) {
    "use strict";

    const needed = (name) => new Promise((resolve, reject) => sap.ui.require([name], resolve, reject));

    /**
     * The first page: a few figures, what needs attention, and what to do next.
     *
     * Its frame is there at once; figures come with three small requests side by side, the chart's library after them.
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
          settled(admin && Facts.ofPlans({hasQueue: this._hasQueue()})),
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
              found && revenue ? this._showRevenue(found, revenue) : this._withhold("revenue")
            )
        ]);
        this._showAttention(await plans, await sums);
        await this._showChart(await sums);
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

      _showPlans({queue, running, waiting, drafts}) {
        const t = this._t;
        if (queue) {
          const more = queue.count - queue.rows.length;
          this._model.setProperty("/queue", Facts.queue(t, queue));
          this._model.setProperty("/queueNone", t("queueNone"));
          this._model.setProperty("/queueMore", more > 0 ? t("queueMore", Numbers.whole(more)) : "");
        }
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

      _showSums({totals, nearEnd}) {
        const t = this._t;
        const [main, ...others] = totals.rows;
        const more = others.map(({given, currency}) => Numbers.money(given, currency));
        this._figure(
          "discount",
          main ? Numbers.money(main.given, main.currency) : Numbers.whole(0),
          this._andMore(more)
        );
        this._figure("budgets", Numbers.whole(nearEnd.count), t("budgetsNote"), nearEnd.count > 0);
      },

      /** Of the currency that is used most; other currencies are named, never added. */
      _showRevenue({totals}, {revenue}) {
        const main = totals.rows[0]?.currency;
        const of = (row) => Numbers.money(row.revenue, row.currency);
        const first = revenue.rows.find(({currency}) => currency === main);
        const others = revenue.rows.filter((row) => row !== first).map(of);
        this._figure("revenue", first ? of(first) : Numbers.whole(0), this._andMore(others));
      },

      _andMore(amounts) {
        return [this._t("last28"), ...amounts.map((one) => `+ ${one}`)].join(" ");
      },

      _showAttention(plans, sums) {
        const t = this._t;
        const isUnread = this._model.getProperty("/failure");
        this._model.setProperty("/attention", Facts.attention(t, plans, sums));
        this._model.setProperty("/attentionNone", t(isUnread ? "attentionUnread" : "attentionNone"));
      },

      async _showChart(sums) {
        if (!sums || !sums.totals.rows.length) {
          return;
        }
        const Chart28 = await needed("promenade/overview/Chart28");
        const place = this.byId("chart");
        if (place) {
          place.destroyItems();
          place.addItem(Chart28.create(this._t, sums));
        }
      },

      onEntry(event) {
        const {href} = event.getSource().getBindingContext("home").getObject();
        this._router.getHashChanger().setHash(href);
      },

      onNewPromotion() {
        this._router.navTo("promotion", {key: "new"});
      },

      onFromTemplate() {
        this._router.navTo("list", {set: "PromotionTemplates"});
      },

      onSimulate() {
        this._router.navTo("simulator");
      }
    });
  }
);
