sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Messages",
    "promenade/reports/Catalogue",
    "promenade/reports/Csv",
    "promenade/reports/Desk",
    "promenade/reports/Filters",
    "promenade/reports/Part",
    "promenade/reports/style",
    "promenade/shell/Visit"
  ],
  function (Controller, JSONModel, Messages, Catalogue, Csv, Desk, Filters, Part, style, Visit) {
    "use strict";

    /** What reports name or count, and other tabs change. */
    const NAMED = new Set([
      "Promotions",
      "PromotionPilotConfigs",
      "Budgets",
      "BudgetStakeholders",
      "Stakeholders",
      "PosGroups",
      "CouponTypes",
      "CouponCodes",
      "Articles",
      "TenantSettings"
    ]);

    /** One report: its filters are in the address, and whatever changes them shows it anew. */
    return Controller.extend("promenade.reports.Report", {
      onInit() {
        style();
        this.getView().setModel(new JSONModel({}), "texts");
        this._router = this.getOwnerComponent().getRouter();
        this._end = Visit.follow(this, "report", {
          enter: (given) => this._onMatched(given),
          again: (news) => this._desk && news.some(({set}) => NAMED.has(set)) && this._show({isAgain: true}),
          top: () => this.byId("page").scrollTo(0)
        });
      },

      onExit() {
        this._end();
      },

      async _onMatched({report: key, "?query": query = {}}) {
        this._report = Catalogue.find((one) => one.key === key);
        if (!this._report) {
          this._router.getTargets().display("notFound");
          return;
        }
        const bundle = await this.getOwnerComponent().getModel("i18n").getResourceBundle();
        this._desk = new Desk({bundle, report: key, query, go: (changes) => this._go(changes)});
        const {t} = this._desk;
        this.getView()
          .getModel("texts")
          .setData({
            title: t(`${key}Title`),
            description: t(`${key}Text`),
            isExported: Boolean(this._report.exports)
          });
        await this._show();
      },

      /**
       * Fills the page, but not the filters, in which somebody may type, when it reads again.
       *
       * What was asked for before and answers late is not shown.
       */
      async _show({isAgain = false} = {}) {
        const [desk, report, grid] = [this._desk, this._report, this.byId("grid")];
        const isStale = () => desk !== this._desk || this.getView().isDestroyed();
        grid.setBusyIndicatorDelay(200).setBusy(true);
        try {
          const currencies = report.filters.includes("currency") ? await desk.findCurrencies() : [];
          if (isStale()) {
            return;
          }
          if (!isAgain) {
            this._fill(this.byId("filters"), [Filters.create(desk, report, currencies)]);
          }
          const cards = await report.create(desk);
          if (isStale()) {
            cards.forEach((one) => one.destroy());
            return;
          }
          this._fill(grid, cards);
        } catch (error) {
          const place = {id: "report", title: desk.t("reportUnread")};
          const told = await Part.failed(desk.t, place, error, () => this._show());
          if (isStale()) {
            told.destroy();
          } else {
            this._fill(grid, [told]);
          }
        } finally {
          if (!isStale()) {
            grid.setBusy(false);
          }
        }
      },

      _fill(box, items) {
        box.destroyItems();
        items.forEach((one) => box.addItem(one));
      },

      _go(changes) {
        const query = {...this._desk.query, ...changes};
        const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value));
        this._router.navTo("report", {report: this._report.key, "?query": given});
      },

      onBack() {
        this._router.navTo("reports");
      },

      onRefresh() {
        this._show();
      },

      async onExport() {
        const button = this.byId("export").setBusy(true);
        try {
          await Csv.download(this._report.exports, this._desk.state);
        } catch (error) {
          Messages.show(error);
        } finally {
          button.setBusy(false);
        }
      }
    });
  }
);
