sap.ui.define(
  [
    "sap/ui/core/UIComponent",
    "sap/ui/model/json/JSONModel",
    "sap/ui/model/odata/v4/ODataModel",
    "promenade/session/Session"
  ],
  function (UIComponent, JSONModel, ODataModel, Session) {
    "use strict";

    /** The back office: models of administration and reporting, the person, and a page for each address. */
    return UIComponent.extend("promenade.Component", {
      metadata: {manifest: "json", interfaces: ["sap.ui.core.IAsyncContentCreation"]},

      init() {
        const who = Session.current();
        this.setModel(new JSONModel(who), "session");
        this.setModel(this._service("/admin/", who.services.admin));
        this.setModel(this._service("/reporting/", who.services.reporting), "reporting");
        Session.onRenewed((headers) => this._services().forEach((model) => model.changeHttpHeaders(headers)));
        UIComponent.prototype.init.call(this);
        this.getRouter().initialize();
      },

      /** The models of services that the person may open. */
      _services() {
        return [this.getModel(), this.getModel("reporting")].filter(Boolean);
      },

      /** A model whose requests carry the person's token. */
      _service(serviceUrl, isOpen) {
        return (
          isOpen &&
          new ODataModel({
            serviceUrl,
            autoExpandSelect: true,
            operationMode: "Server",
            earlyRequests: true,
            httpHeaders: Session.sentHeaders()
          })
        );
      }
    });
  }
);
