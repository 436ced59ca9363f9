sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/imports/ErrorsFile",
    "promenade/imports/ErrorsTable",
    "promenade/imports/Sending",
    "promenade/imports/format",
    "promenade/net/Http",
    "promenade/net/News",
    "promenade/resources/Polling",
    "promenade/resources/Texts"
  ],
  function (
    Controller,
    JSONModel,
    Format,
    Messages,
    Meta,
    ErrorsFile,
    ErrorsTable,
    Sending,
    format,
    Http,
    News,
    Polling,
    Texts
  ) {
    "use strict";

    const SET = "ImportJobs";
    const GONE = 404;
    const SHOWN =
      "ID,entity,source,status,totalRows,rowsSucceeded,rowsFailed,rowsSkipped,continueOnError,message," +
      "createdBy,createdAt,startedAt,completedAt";

    /** One job, followed to its end, and what was wrong with its rows. */
    return Controller.extend("promenade.imports.Job", {
      onInit() {
        this._job = new JSONModel({});
        this.getView().setModel(this._job, "job");
      },

      async show({job}) {
        this._id = job;
        this._job.setData({});
        this.byId("search").setValue("");
        ErrorsTable.clear(this.byId("errors"));
        await this._follow();
      },

      /** Another tab has changed this job, or one that it does not name. */
      again(news) {
        if (news.some(({set, id}) => set === SET && (!id || id === this._id))) {
          this.hide();
          this._follow();
        }
      },

      async _follow() {
        this._stop = new AbortController();
        const {signal} = this._stop;
        this._t = await Texts.of(this.getOwnerComponent());
        const path = `/admin/ImportJobs(${encodeURIComponent(this._id)})`;
        try {
          const ended = await Polling.until(
            () => Http.get(`${path}?$select=${SHOWN}`, {signal}),
            (one) => !format.isUnderWay(one.status),
            {signal, onValue: (one) => this._tell(one)}
          );
          if (ended && ended.rowsFailed) {
            await ErrorsTable.fill(this.byId("errors"), ended, this.getOwnerComponent().getModel(), signal);
          }
        } catch (error) {
          if (!signal.aborted) {
            this._tellUnread(error);
          }
        }
      },

      _tellUnread(error) {
        if (error.status === GONE) {
          this._job.setProperty("/state", {type: "Error", text: this._t("imports.gone")});
        } else {
          Messages.show(error);
        }
      },

      /** Lists of other tabs hear that an import which was under way here has written their rows. */
      _spread({ID, entity, status}) {
        const wasUnderWay = Sending.isNew(ID) || this._job.getProperty("/isUnderWay");
        this._job.setProperty("/isUnderWay", format.isUnderWay(status));
        if (wasUnderWay && !format.isUnderWay(status)) {
          News.wrote("POST", `/admin/${entity}`);
          News.wrote("PATCH", `/admin/${SET}(${ID})`);
        }
      },

      hide() {
        this._stop?.abort();
      },

      async _tell(one) {
        this._spread(one);
        const percent = format.percent(one.rowsSucceeded, one.rowsFailed, one.rowsSkipped, one.totalRows);
        const {plural} = await Meta.of(this.getOwnerComponent().getModel(), one.entity);
        this._job.setData({
          ...one,
          percent,
          isUnderWay: format.isUnderWay(one.status),
          state: this._stateOf(one),
          title: this._t("imports.jobTitle", plural)
        });
      },

      /** What the one strip says: that it waits, how far it is, or how it ended. */
      _stateOf({status, message, rowsSucceeded, rowsFailed, rowsSkipped, totalRows}) {
        const done = rowsSucceeded + rowsFailed + rowsSkipped;
        switch (status) {
          case "QUEUED":
            return {type: "Information", text: this._t("imports.waiting")};
          case "RUNNING":
            return {type: "Information", text: message || this._t("imports.running", done, totalRows)};
          default:
            return {type: status === "FAILED" ? "Error" : rowsFailed ? "Warning" : "Success", text: message};
        }
      },

      moment(text) {
        return text ? Format.dateTime(text) : "–";
      },

      onSearch(event) {
        ErrorsTable.search(this.byId("errors"), event.getParameter("query"));
      },

      async onDownload() {
        const button = this.byId("download").setBusy(true);
        try {
          await ErrorsFile.save(this._job.getProperty("/ID"), this._job.getProperty("/entity"));
        } catch (error) {
          Messages.show(error);
        } finally {
          button.setBusy(false);
        }
      },

      onUpload() {
        this.getOwnerComponent()
          .getRouter()
          .navTo("imports", {"?query": {upload: this._job.getProperty("/entity")}});
      },

      onBack() {
        this.getOwnerComponent().getRouter().navTo("imports");
      }
    });
  }
);
