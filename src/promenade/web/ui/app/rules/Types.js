sap.ui.define(
  ["sap/ui/model/SimpleType", "sap/ui/core/LocaleData", "sap/base/i18n/Formatting", "sap/ui/core/Locale"],
  function (SimpleType, LocaleData, Formatting, Locale) {
    "use strict";

    function separators() {
      const data = LocaleData.getInstance(new Locale(Formatting.getLanguageTag()));
      return {decimal: data.getNumberSymbol("decimal"), group: data.getNumberSymbol("group")};
    }

    const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

    /** "1.234,5" -> "1234.5" in German; a text that is no number stays, so that validation can show it. */
    function canonical(text, {decimal, group}) {
      const entered = text.trim().replace(/[\s\u00a0\u202f]/g, "");
      const grouped = new RegExp(`^-?\\d{1,3}(${escaped(group)}\\d{3})+(${escaped(decimal)}\\d+)?$`);
      if (grouped.test(entered)) {
        return entered.split(group).join("").replace(decimal, ".");
      }
      return /^-?\d+([.,]\d+)?$/.test(entered) ? entered.replace(",", ".") : entered;
    }

    /**
     * A decimal number, a text in the model ("12.5") and written as the language does in its field ("12,5").
     * What is no number is handed on as it is: validation says so at the field, nothing is lost while typing.
     */
    const Decimal = SimpleType.extend("promenade.rules.Decimal", {
      formatValue(value) {
        if (value === null || value === undefined || value === "") {
          return "";
        }
        return /^-?\d+(\.\d+)?$/.test(String(value)) ? String(value).replace(".", separators().decimal) : String(value);
      },

      parseValue(text) {
        return text === "" || text === null ? null : canonical(text, separators());
      },

      validateValue() {}
    });

    /** A whole number; the model holds a number where the text is one. */
    const Whole = Decimal.extend("promenade.rules.Whole", {
      parseValue(text) {
        const value = Decimal.prototype.parseValue.call(this, text);
        return value !== null && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
      }
    });

    /** A text of which nothing is left as null. */
    const Text = SimpleType.extend("promenade.rules.Text", {
      formatValue: (value) => value || "",
      parseValue: (text) => text.trim() || null,
      validateValue() {}
    });

    /** A code that stands for another where none is set. */
    const Defaulted = SimpleType.extend("promenade.rules.Defaulted", {
      constructor: function (fallback) {
        SimpleType.call(this);
        this._fallback = fallback;
      },

      formatValue(value) {
        return value || this._fallback;
      },

      parseValue: (value) => value || null,
      validateValue() {}
    });

    /** A time of day: 08:00:00 is shown and entered as 08:00. */
    const Time = SimpleType.extend("promenade.rules.Time", {
      formatValue: (value) => (value || "").replace(/^(\d\d:\d\d):00(\.0+)?$/, "$1"),
      parseValue: (text) => (/^\d\d:\d\d$/.test(text) ? `${text}:00` : text || null),
      validateValue() {}
    });

    return {Decimal, Whole, Text, Time, Defaulted};
  }
);
