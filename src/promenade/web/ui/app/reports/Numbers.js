sap.ui.define(
  ["sap/ui/core/format/DateFormat", "sap/ui/core/format/NumberFormat", "promenade/generic/Format"],
  function (DateFormat, NumberFormat, Format) {
    "use strict";

    const memo = new Map();

    /** A formatter is dear to make, and charts ask for hundreds of figures. */
    function kept(name, make) {
      if (!memo.has(name)) {
        memo.set(name, make());
      }
      return memo.get(name);
    }

    const isNothing = (value) => value === null || value === undefined || value === "";
    const MONDAY = Date.UTC(2024, 0, 1);
    const DAY_MS = 86_400_000;
    const day = (pattern) => kept(`day ${pattern}`, () => DateFormat.getDateInstance({format: pattern, UTC: true}));

    /** Figures, days and hours as reports write them, in the person's language. Nothing is written as a dash. */
    const Numbers = {
      NOTHING: "–",

      whole(value) {
        return isNothing(value) ? Numbers.NOTHING : Format.number(value, 0);
      },

      /** With the currency's own number of decimals; without a currency, a number with two. */
      money(value, currency) {
        return isNothing(value) ? Numbers.NOTHING : Format.money(value, currency);
      },

      /** So short that it fits an axis: 1.5K. */
      short(value) {
        return kept("short", () => NumberFormat.getFloatInstance({style: "short", maxFractionDigits: 1})).format(value);
      },

      /** Of a number that is percent already; `isSigned` writes the plus too. */
      percent(value, isSigned = false) {
        return isNothing(value) ? Numbers.NOTHING : (isSigned && value > 0 ? "+" : "") + Format.percent(value);
      },

      /** A count to two digits, which is as much as an estimate knows. */
      about(value) {
        const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
        return Numbers.whole(Math.round(value / unit) * unit);
      },

      /** With so many decimals. */
      decimal(value, decimals) {
        return kept(`decimal ${decimals}`, () => NumberFormat.getFloatInstance({decimals})).format(value);
      },

      /** `15 Nov` of 2026-11-15. */
      day(iso) {
        return day("MMMd").format(new Date(`${iso}T00:00:00Z`));
      },

      /** With its year. */
      date(value) {
        return isNothing(value) ? Numbers.NOTHING : Format.date(value);
      },

      /** A moment on the person's own clock. */
      moment(value) {
        return isNothing(value) ? Numbers.NOTHING : Format.dateTime(value);
      },

      /** 1 is Monday. */
      weekday(number) {
        return day("cccc").format(new Date(MONDAY + (number - 1) * DAY_MS));
      },

      weekdayShort(number) {
        return day("ccc").format(new Date(MONDAY + (number - 1) * DAY_MS));
      },

      /** 8 is 08:00. */
      hour(number) {
        return `${String(number).padStart(2, "0")}:00`;
      }
    };

    return Numbers;
  }
);
