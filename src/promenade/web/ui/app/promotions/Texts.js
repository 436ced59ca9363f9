sap.ui.define(
  ["sap/ui/base/ManagedObject", "sap/ui/core/library", "promenade/generic/Format", "promenade/promotions/Filters"],
  function (ManagedObject, coreLibrary, Format, Filters) {
    "use strict";

    const {ValueState} = coreLibrary;
    const BY_CRITICALITY = [ValueState.None, ValueState.Error, ValueState.Warning, ValueState.Success];
    let bundle = null;

    /** The state of a promotion now, within its validity and its campaign's window. */
    function stateNow(status, from, to, campaignFrom, campaignTo, campaignStatus) {
      const now = Date.now();
      const ahead = [from, campaignFrom].some((one) => one && Date.parse(one) > now);
      const over = [to, campaignTo].some((one) => one && Date.parse(one) <= now) || campaignStatus === "CANCELLED";
      return Filters.stateOf(status, ahead, over);
    }

    /** The texts of promotions in the person's language, and formatters that need them. */
    const Texts = {
      /** Takes the texts from the application; each page does so before it shows anything. */
      use(component) {
        bundle = component.getModel("i18n").getResourceBundle();
      },

      /** The text of `promotions.<key>`. */
      get(key, args) {
        return bundle.getText(`promotions.${key}`, args);
      },

      /** A text of somebody's own as a setting of a control: braces in it are no binding. */
      plain: (value) => (typeof value === "string" ? ManagedObject.escapeSettingsValue(value) : value),

      /** The text of `promotions.<key>`, undefined where there is none. */
      find(key, args) {
        return bundle.getText(`promotions.${key}`, args, true);
      },

      /** A value of a code list in words; one that is new to this application stays as it is. */
      code(list, code) {
        return code ? Texts.find(`${list}.${code}`) || code : "";
      },

      status: (code) => Texts.code("status", code),
      stateNow: (...row) => Texts.status(stateNow(...row)),

      /** The colour of it: a status has one of its own. */
      colourNow(criticality, ...row) {
        return (
          {SCHEDULED: ValueState.Information, ENDED: ValueState.None}[stateNow(...row)] || Texts.state(criticality)
        );
      },
      type: (code) => Texts.code("type", code),

      /** What a template makes: its type, and what it is good for. */
      kind: (type, useCase) => [Texts.type(type), Texts.code("useCase", useCase)].filter(Boolean).join(" · "),

      /** What is next in the life of a promotion of a status. */
      toDo: (status) => Texts.find(`guide.toDo.${status}`) || Texts.status(status),
      exclusivity: (code) => Texts.code("exclusivity", code),

      /** How a status is coloured. */
      state: (criticality) => BY_CRITICALITY[criticality] || ValueState.None,

      /** When something begins, and the last day of what ends at a moment; with times only where they matter. */
      begin: (value) => Format.begin(value),
      end: (value) => Format.end(value),

      /** Codes of POS groups in a line. */
      places: (codes) => (codes && codes.length ? codes.join(", ") : Texts.get("calendar.everywhere")),

      /** A moment with its time zone. */
      moment: (value) => Format.dateTime(value),

      /** From when until when. */
      validity(from, to) {
        if (!from && !to) {
          return Texts.get("always");
        }
        if (!to) {
          return Texts.get("since", [Format.begin(from)]);
        }
        return from ? Texts.get("period", [Format.begin(from), Format.end(to)]) : Texts.get("until", [Format.end(to)]);
      },

      /** Who is working on a row: the person, somebody else, or nobody. */
      editing(isActive, hasDraft, holder, author) {
        if (isActive === false) {
          return Texts.get("editing.mine");
        }
        if (!hasDraft) {
          return "";
        }
        return holder ? Texts.get("editing.locked", [holder]) : Texts.get("editing.left", [author || ""]);
      },

      /** The address of a promotion or of the draft of it. */
      href: (id, isActive) => (id ? `#/promotion/${id}${isActive === false ? ",draft" : ""}` : "")
    };

    return Texts;
  }
);
