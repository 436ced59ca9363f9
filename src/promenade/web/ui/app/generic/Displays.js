sap.ui.define(
  [
    "sap/m/Link",
    "sap/m/ObjectStatus",
    "sap/m/Text",
    "promenade/generic/Addresses",
    "promenade/generic/Extensions",
    "promenade/generic/Format",
    "promenade/generic/Texts",
    "promenade/generic/Words"
  ],
  function (Link, ObjectStatus, Text, Addresses, Extensions, Format, Texts, Words) {
    "use strict";

    /** What shows the value of a property. */
    const STATES = ["None", "Error", "Warning", "Success", "None", "Information"];

    const raw = (path, model) => ({path, model, targetType: "any"});

    /** A moment that a person gives is a day unless a time was given; what the service has noted is to the minute. */
    function momentOf(field) {
      if (field.isReadOnly) {
        return (value) => Format.dateTime(value);
      }
      return field.isEnd ? (value) => Format.end(value) : (value) => Format.begin(value);
    }

    /** How a value reads, from `[value, text or currency]`. */
    function formatterOf(field) {
      const isCode = field.valueList && field.valueList.isFixed;
      if (field.textPath) {
        return (value, text) => (isCode ? Words.of(text || value) : text || value || "");
      }
      if (field.currencyPath) {
        return (value, currency) => Format.money(value, currency);
      }
      const byType = {
        "Edm.Boolean": (value) => (value === null || value === undefined ? "" : Texts.of(value ? "yes" : "no")),
        "Edm.DateTimeOffset": momentOf(field),
        "Edm.Date": (value) => Format.date(value),
        "Edm.TimeOfDay": (value) => Format.time(value),
        "Edm.Decimal": (value) => (field.isPercent ? Format.percent(value) : Format.number(value)),
        "Edm.Int32": (value) => Format.number(value),
        "Edm.Int64": (value) => Format.number(value)
      };
      const many = (value) => (Array.isArray(value) ? value.map((one) => Words.of(one)).join(", ") : (value ?? ""));
      return byType[field.type] && !field.isCollection ? byType[field.type] : many;
    }

    /** One of fixed values by its text, where the field has such texts. */
    function choiceText(values, prefix, value) {
      return {
        parts: [value, ...values.map((one) => ({path: `i18n>${prefix}.${one}`}))],
        formatter: (chosen, ...words) => words[values.indexOf(chosen)] || chosen || ""
      };
    }

    function boundText(field, model) {
      const prefix = Extensions.wordsOf(field);
      if (prefix && field.allowed.length) {
        return choiceText(field.allowed, prefix, raw(field.path, model));
      }
      const ternary = Extensions.ternaryOf(field);
      if (ternary) {
        return choiceText([null, true, false], ternary, raw(field.path, model));
      }
      const second = field.textPath || field.currencyPath;
      return {
        parts: [raw(field.path, model), ...(second ? [raw(second, model)] : [])],
        formatter: formatterOf(field)
      };
    }

    /** Whether a field refers to an entity that has a page. */
    const isLink = (field) =>
      Boolean(
        field.valueList &&
          !field.valueList.isFixed &&
          field.valueList.key === "ID" &&
          !field.isCollection &&
          field.textPath
      );

    return {
      isLink,
      formatterOf,

      /** The text of a field as a binding, for a property of any control. */
      boundText,

      /**
       * A control that shows a field, bound relative to its row or page: a status in its colour, a link to what is
       * referred to, or a text. `isInList`: on one line; `isPlain`: without links.
       *
       * @param {any} field
       * @param {{model?: string, isInList?: boolean, isPlain?: boolean}} [options]
       */
      display(field, {model, isInList = false, isPlain = false} = {}) {
        if (field.criticalityPath) {
          return new ObjectStatus({
            text: boundText(field, model),
            state: {...raw(field.criticalityPath, model), formatter: (value) => STATES[value || 0] || "None"}
          });
        }
        if (isLink(field) && !isPlain) {
          return new Link({
            text: boundText(field, model),
            href: {...raw(field.path, model), formatter: (id) => (id ? Addresses.href(field.valueList.set, id) : "")},
            wrapping: true,
            emptyIndicatorMode: isInList ? "Off" : "On"
          });
        }
        if (field.isMail && !isInList) {
          return new Link({
            text: boundText(field, model),
            href: {...raw(field.path, model), formatter: (mail) => (mail ? `mailto:${mail}` : "")}
          });
        }
        return new Text({
          text: boundText(field, model),
          wrapping: true,
          renderWhitespace: field.isMultiLine && !isInList,
          emptyIndicatorMode: isInList ? "Off" : "On"
        });
      }
    };
  }
);
