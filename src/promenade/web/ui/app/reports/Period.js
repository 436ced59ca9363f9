sap.ui.define([], function () {
  "use strict";

  const DAY_MS = 86_400_000;

  /** `2026-11-15` of a moment, on the person's clock. */
  function isoOf(date) {
    const two = (number) => String(number).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  }

  const midnight = (iso) => new Date(`${iso}T00:00:00`);

  /** Periods of whole days, both ends included, as `{from, to}` of dates like `2026-11-15`. */
  const Period = {
    PRESETS: ["last7", "last28", "thisMonth", "lastMonth", "last365"],

    isoOf,

    dateOf: midnight,

    /** A preset as of a day. */
    of(preset, today = new Date()) {
      const [year, month] = [today.getFullYear(), today.getMonth()];
      const back = (days) => ({from: isoOf(new Date(year, month, today.getDate() - days + 1)), to: isoOf(today)});
      return {
        last7: () => back(7),
        last28: () => back(28),
        last365: () => back(365),
        thisMonth: () => ({from: isoOf(new Date(year, month, 1)), to: isoOf(today)}),
        lastMonth: () => ({from: isoOf(new Date(year, month - 1, 1)), to: isoOf(new Date(year, month, 0))})
      }[preset]();
    },

    /** Which preset a period is, "custom" for none. */
    nameOf({from, to}, today = new Date()) {
      const is = (preset) => {
        const found = Period.of(preset, today);
        return found.from === from && found.to === to;
      };
      return Period.PRESETS.find(is) || "custom";
    },

    /** The moments from which and before which it is, as OData writes them. */
    moments({from, to}) {
      const end = midnight(to);
      end.setDate(end.getDate() + 1);
      return {begin: midnight(from).toISOString(), end: end.toISOString()};
    },

    /** Every day of it. */
    days({from, to}) {
      const count = Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS) + 1;
      return Array.from({length: Math.max(0, count)}, (_, index) =>
        new Date(Date.parse(`${from}T00:00:00Z`) + index * DAY_MS).toISOString().slice(0, 10)
      );
    }
  };

  return Period;
});
