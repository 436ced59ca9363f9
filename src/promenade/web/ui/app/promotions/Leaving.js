sap.ui.define(
  ["promenade/generic/Messages", "promenade/generic/Unsent", "promenade/promotions/Texts"],
  function (Messages, Unsent, Texts) {
    "use strict";

    /** What a draft would lose if its page were left now, and the question about it. */
    return {
      /** "rules" that were changed, "fields" whose change the service has not taken, "both"; null: nothing. */
      lost(parts, saving) {
        const [rules, fields] = [parts && parts.isUnsaved(), saving && !saving.isKept()];
        return (rules && fields && "both") || (rules && "rules") || (fields && "fields") || null;
      },

      /** Resolves with whether the page may be left without it. */
      ask(lost) {
        return Messages.confirm(lost === "fields" ? Unsent.leaving() : Texts.get(`leave.${lost}`), {
          action: Texts.get("leave.go"),
          isCritical: true,
          title: Texts.get("leave.title")
        });
      }
    };
  }
);
