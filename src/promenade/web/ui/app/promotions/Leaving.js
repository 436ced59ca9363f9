sap.ui.define(
  ["promenade/generic/Messages", "promenade/generic/Unsent", "promenade/promotions/Texts"],
  function (Messages, Unsent, Texts) {
    "use strict";

    /** What a draft would lose if its page were left now, and the question about it. */
    return {
      /**
       * "rules" that were changed, "fields" whose change the service has not taken, "both"; "typed" into a field that
       * cannot take it; null: nothing.
       */
      lost(page, parts, saving) {
        const [rules, fields] = [parts && parts.isUnsaved(), saving && !saving.isKept()];
        const all = (rules && fields && "both") || (rules && "rules") || (fields && "fields");
        return all || (page && Unsent.hasWrong(page) ? "typed" : null);
      },

      /** Resolves with whether the page may be left without it. */
      ask(page, lost) {
        const isOfFields = lost === "fields" || lost === "typed";
        return Messages.confirm(isOfFields ? Unsent.leaving(page, lost === "fields") : Texts.get(`leave.${lost}`), {
          action: Texts.get("leave.go"),
          isCritical: true,
          title: Texts.get("leave.title")
        });
      }
    };
  }
);
