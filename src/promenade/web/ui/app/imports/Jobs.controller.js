sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/Filter",
    "sap/ui/model/FilterOperator",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Meta",
    "promenade/imports/format",
    "promenade/resources/Polling"
  ],
  function (Controller, Filter, FilterOperator, JSONModel, Meta, format, Polling) {
    "use strict";

    const SET = "ImportJobs";

    /** All jobs, the latest first; the list keeps itself up to date while one of those that it shows is under way. */
    return Controller.extend("promenade.imports.Jobs", {
      onInit() {
        this._texts = new JSONModel({});
        this.getView().setModel(this._texts, "texts");
        this.byId("table").setEnableBusyIndicator(false);
      },

      show() {
        const binding = this.byId("table").getBinding("items");
        this._stop = new AbortController();
        if (binding.isSuspended()) {
          binding.attachDataReceived(() => this._watch());
          binding.resume();
        } else {
          binding.refresh();
        }
      },

      /** Another tab has begun or changed a job. */
      again(news) {
        if (news.some(({set}) => set === SET)) {
          this.onRefresh();
        }
      },

      hide() {
        this._stop.abort();
      },

      /** Names of sets come with the first row that has them. */
      nameOf(set, texts) {
        if (set && !(set in texts)) {
          texts[set] = set;
          Meta.of(this.getOwnerComponent().getModel(), set).then(({plural}) =>
            this._texts.setData({[set]: plural}, true)
          );
        }
        return set ? texts[set] : "";
      },

      _watch() {
        const isUnderWay = (row) => format.isUnderWay(row.getProperty("status"));
        Polling.rows(this.byId("table").getBinding("items"), isUnderWay, this._stop.signal);
      },

      onStatus(event) {
        const status = event.getParameter("selectedItem").getKey();
        this.byId("table")
          .getBinding("items")
          .filter(status ? [new Filter("status", FilterOperator.EQ, status)] : []);
      },

      onRefresh() {
        this.byId("table").getBinding("items").refresh();
      },

      onUpload() {
        this.getOwnerComponent()
          .getRouter()
          .navTo("imports", {"?query": {upload: ""}});
      },

      onJob(event) {
        const job = event.getSource().getBindingContext().getProperty("ID");
        this.getOwnerComponent().getRouter().navTo("imports", {"?query": {job}});
      }
    });
  }
);
