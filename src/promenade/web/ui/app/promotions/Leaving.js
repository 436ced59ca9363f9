sap.ui.define(
  ["promenade/generic/Messages", "promenade/generic/Unsaved", "promenade/promotions/Texts"],
  function (Messages, Unsaved, Texts) {
    "use strict";

    /** Asks before unsaved changes of a promotion's draft are lost. */
    return class Leaving {
      /** `page`: the control that holds the fields; `isDraft()`: whether a draft is shown. */
      constructor(page, parts, saving, isDraft) {
        this._page = page;
        this._parts = parts;
        this._saving = saving;
        this._isDraft = isDraft;
      }

      /** Asks from now on. */
      guard(router) {
        Unsaved.guard(router, {
          settled: () => this._saving.answered(), // what is on its way may yet be refused
          isChanged: () => Boolean(this._lost()),
          mayLeave: () => this._mayLeave()
        });
      }

      /**
       * What would be lost if the page were left now: "rules" that were changed, "fields" whose change the service has
       * not taken, "both"; "typed" into a field that cannot take it; null: nothing.
       */
      _lost() {
        if (!this._isDraft()) {
          return null;
        }
        const [rules, fields] = [this._parts.isUnsaved(), !this._saving.isKept()];
        const all = (rules && fields && "both") || (rules && "rules") || (fields && "fields");
        return all || (Unsaved.hasWrong(this._page) ? "typed" : null);
      }

      /** Asks whether unsaved changes may be lost, and forgets them then. */
      async _mayLeave() {
        const lost = this._lost();
        const isOfRules = lost === "rules" || lost === "both";
        const question = isOfRules ? Texts.get(`leave.${lost}`) : Unsaved.question(this._page, lost === "fields");
        const isLeaving = await Messages.confirm(question, {
          action: Texts.get("leave.go"),
          isCritical: true,
          title: Texts.get("leave.title")
        });
        if (isLeaving) {
          this._parts.forget();
          this._saving.drop();
        }
        return isLeaving;
      }
    };
  }
);
