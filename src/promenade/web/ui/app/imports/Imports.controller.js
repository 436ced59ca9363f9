sap.ui.define(["sap/ui/core/mvc/Controller"], function (Controller) {
  "use strict";

  /** Imports: the jobs, one of them (`?job=<ID>`), or a file to be sent (`?upload=<set>`). */
  return Controller.extend("promenade.imports.Imports", {
    onInit() {
      const router = this.getOwnerComponent().getRouter();
      router.getRoute("imports").attachPatternMatched(this._onRoute, this);
      router.attachRouteMatched((event) => event.getParameter("name") !== "imports" && this._leave());
    },

    async _onRoute(event) {
      const query = event.getParameter("arguments")["?query"] || {};
      const step = query.job ? "job" : query.upload === undefined ? "jobs" : "upload";
      await this._leave();
      const view = await this.byId(step).loaded();
      this._shown = view.getController();
      this.byId("steps").to(view);
      await this._shown.show(query);
    },

    /** What is not looked at asks the service nothing. */
    async _leave() {
      if (this._shown) {
        this._shown.hide();
        this._shown = null;
      }
    }
  });
});
