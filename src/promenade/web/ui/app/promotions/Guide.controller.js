sap.ui.define(["promenade/promotions/Promotion.controller", "promenade/promotions/Steps"], function (Promotion, Steps) {
  "use strict";

  /** The guided way to a promotion: the same drafts as on its page, in steps, with what they say at the side. */
  return Promotion.extend("promenade.promotions.Guide", {
    route: "guide",
    other: "promotion",
    fragment: "promenade.promotions.Guide",
    partsOf: (controller, meta, saving) => new Steps(controller, meta, saving),

    _buttons() {
      const own = ["saveAndCheck", "activate", "submit", "editAgain"].map((one) => this.byId(one));
      return [...Promotion.prototype._buttons.call(this), ...own];
    },

    async _show(shown) {
      await Promotion.prototype._show.call(this, shown);
      if (this._shown === shown && shown.isActive && this._toCheck === shown.id) {
        this._toCheck = null;
        this._parts.goTo("check");
        await this._parts.check.run().catch(() => undefined);
      }
    },

    /** Saves the draft with its rules and links, and has what is saved checked. */
    async onSaveAndCheck() {
      this._toCheck = this._shown.id;
      await this.onSave();
      if (this._shown && !this._shown.isActive) {
        this._toCheck = null; // nothing was saved
      }
    }
  });
});
