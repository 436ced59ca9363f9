sap.ui.define(
  ["sap/ui/core/format/DateFormat", "sap/ui/core/format/NumberFormat"],
  function (DateFormat, NumberFormat) {
    "use strict";

    /** Values as the person's language writes them. Decimals stay texts: nothing is computed on the way. */
    const made = new Map();

    function once(name, make) {
      if (!made.has(name)) {
        made.set(name, make());
      }
      return made.get(name);
    }

    const isMissing = (value) => value === null || value === undefined || value === "";
    const toDate = (value) => (value instanceof Date ? value : new Date(value));
    const plain = (value) =>
      typeof value === "string" ? value.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") : value;

    return {
      /** `1234.5`, `EUR` -> `€1,234.50` or `1.234,50 €`; without a currency a number with two places. */
      money(value, currency) {
        if (isMissing(value)) {
          return "";
        }
        const format = currency
          ? once("money", () => NumberFormat.getCurrencyInstance({currencyCode: false, trailingCurrencyCode: false}))
          : once("amount", () => NumberFormat.getFloatInstance({minFractionDigits: 2, maxFractionDigits: 2}));
        return currency ? format.format(value, currency) : format.format(value);
      },

      /** A number with the separators of the language; `places` of decimals at most, all by default. */
      number(value, places) {
        if (isMissing(value)) {
          return "";
        }
        const options = places === undefined ? {maxFractionDigits: 9} : {maxFractionDigits: places};
        return once(`number${places}`, () => NumberFormat.getFloatInstance(options)).format(plain(value));
      },

      /** `12.50` (percent, not a fraction) -> `12.5%`. */
      percent(value, places = 2) {
        if (isMissing(value)) {
          return "";
        }
        const pattern = once("percentPattern", () => NumberFormat.getPercentInstance().format(0));
        return pattern.replace("0", this.number(value, places));
      },

      /** A moment, in the person's time zone. */
      dateTime(value) {
        const format = once("dateTime", () => DateFormat.getDateTimeInstance({style: "medium/short"}));
        return isMissing(value) ? "" : format.format(toDate(value));
      },

      /** A day: of a date as it stands, of a moment in the person's time zone. */
      date(value) {
        if (isMissing(value)) {
          return "";
        }
        const isDay = typeof value === "string" && value.length === 10;
        const format = once("date", () => DateFormat.getDateInstance({style: "medium"}));
        return format.format(isDay ? new Date(`${value}T00:00:00`) : toDate(value));
      },

      /** A time of day, `HH:mm:ss`. */
      time(value) {
        const format = once("time", () => DateFormat.getTimeInstance({style: "short"}));
        return isMissing(value) ? "" : format.format(new Date(`2000-01-01T${value}`));
      }
    };
  }
);
