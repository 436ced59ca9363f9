sap.ui.define(["sap/ui/core/mvc/Controller", "promenade/shell/Visit"], function (Controller, Visit) {
  "use strict";

  /** Imports: the jobs, one of them (`?job=<ID>`), or a file to be sent (`?upload=<set>`). */
  return Controller.extend("promenade.imports.Imports", {
    onInit() {
      this._end = Visit.follow(this, "imports", {
        enter: (given) => this._enter(given["?query"] || {}),
        leave: () => this._leave(),
        again: (news) => this._shown?.again?.(news)
      });
    },

    onExit() {
      this._end();
    },

    async _enter(query) {
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
