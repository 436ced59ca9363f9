sap.ui.define(
  [
    "sap/base/i18n/Formatting",
    "sap/ui/core/format/DateFormat",
    "sap/ui/core/format/NumberFormat",
    "promenade/generic/Clock",
    "promenade/generic/Zone"
  ],
  function (Formatting, DateFormat, NumberFormat, Clock, Zone) {
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

      /** A moment on the clock of a place, with the name of its time zone: `22 Nov 2026, 17:30 CET`. */
      dateTime(value, zone = Zone.current()) {
        const pattern = {style: "medium/short", showTimezone: false};
        const format = once("dateTime", () => DateFormat.getDateTimeWithTimezoneInstance(pattern));
        return isMissing(value) ? "" : `${format.format(toDate(value), zone)} ${this.zone(value, zone)}`;
      },

      /** What a time zone is called at a moment: `CET`, and `CEST` in summer. */
      zone(value, zone = Zone.current()) {
        const language = Formatting.getLanguageTag().toString();
        const format = once(`zone ${zone}`, () => {
          return new Intl.DateTimeFormat(language, {timeZone: zone, timeZoneName: "short"});
        });
        return format.formatToParts(toDate(value)).find(({type}) => type === "timeZoneName").value;
      },

      /** A day: of a date as it stands, of a moment in the time zone of the pages. */
      date(value) {
        if (isMissing(value)) {
          return "";
        }
        const isDay = typeof value === "string" && value.length === 10;
        const format = once("date", () => DateFormat.getDateInstance({style: "medium", UTC: true}));
        return format.format(new Date(`${isDay ? value : Zone.day(value)}T00:00:00Z`));
      },

      /** When something begins: a day, unless it begins within one. */
      begin(value) {
        return isMissing(value) || Clock.isBegin(value, Zone.current()) ? this.date(value) : this.dateTime(value);
      },

      /** When something is over, from the first moment that is out: the last day, unless it ends within one. */
      end(value) {
        const isWhole = !isMissing(value) && Clock.isBegin(value, Zone.current());
        return isWhole ? this.date(toDate(value).getTime() - 1) : this.dateTime(value);
      },

      /** A time of day, `HH:mm:ss`. */
      time(value) {
        const format = once("time", () => DateFormat.getTimeInstance({style: "short", UTC: true}));
        return isMissing(value) ? "" : format.format(new Date(`2000-01-01T${value}Z`));
      }
    };
  }
);
