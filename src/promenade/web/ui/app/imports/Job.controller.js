sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/imports/ErrorsFile",
    "promenade/imports/ErrorsTable",
    "promenade/imports/format",
    "promenade/net/Http",
    "promenade/resources/Polling",
    "promenade/resources/Texts"
  ],
  function (Controller, JSONModel, Format, Messages, Meta, ErrorsFile, ErrorsTable, format, Http, Polling, Texts) {
    "use strict";

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
        this._stop = new AbortController();
        const {signal} = this._stop;
        this._job.setData({});
        this.byId("search").setValue("");
        ErrorsTable.clear(this.byId("errors"));
        this._t = await Texts.of(this.getOwnerComponent());
        const read = () => Http.get(`/admin/ImportJobs(${encodeURIComponent(job)})?$select=${SHOWN}`, {signal});
        try {
          const ended = await Polling.until(read, (one) => !format.isUnderWay(one.status), {
            signal,
            onValue: (one) => this._tell(one)
          });
          if (ended && ended.rowsFailed) {
            await ErrorsTable.fill(this.byId("errors"), ended, this.getOwnerComponent().getModel(), signal);
          }
        } catch (error) {
          if (!signal.aborted) {
            Messages.show(error);
          }
        }
      },

      hide() {
        this._stop?.abort();
      },

      async _tell(one) {
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
