sap.ui.define(["promenade/generic/Clock", "promenade/generic/Zone"], function (Clock, Zone) {
  "use strict";

  const DAY_MS = 86_400_000;

  /** Periods of whole days, both ends included, as `{from, to}` of dates like `2026-11-15`. */
  const Period = {
    PRESETS: ["last7", "last28", "thisMonth", "lastMonth", "last365"],

    isoOf: (moment) => Zone.day(moment),

    dateOf: (day) => Zone.dateOf(day),

    /** A preset as of a moment. */
    of(preset, now = new Date()) {
      const today = Zone.day(now);
      const first = (day) => `${day.slice(0, 8)}01`;
      const back = (days) => ({from: Clock.later(today, 1 - days), to: today});
      const lastMonth = Clock.later(first(today), -1);
      return {
        last7: () => back(7),
        last28: () => back(28),
        last365: () => back(365),
        thisMonth: () => ({from: first(today), to: today}),
        lastMonth: () => ({from: first(lastMonth), to: lastMonth})
      }[preset]();
    },

    /** Which preset a period is, "custom" for none. */
    nameOf({from, to}, now = new Date()) {
      const is = (preset) => {
        const found = Period.of(preset, now);
        return found.from === from && found.to === to;
      };
      return Period.PRESETS.find(is) || "custom";
    },

    /** The moments from which and before which it is, as OData writes them. */
    moments: ({from, to}) => ({begin: Zone.begin(from), end: Zone.end(to)}),

    COMPARISONS: ["before", "year"],

    /** What a period is compared with: as many days before it, or the same days a year earlier; null: nothing. */
    compared({from, to}, comparison) {
      const lastYear = (day) => {
        const earlier = `${String(Number(day.slice(0, 4)) - 1).padStart(4, "0")}${day.slice(4)}`;
        return earlier.endsWith("-02-29") ? earlier.replace("-29", "-28") : earlier;
      };
      if (comparison === "before") {
        return {from: Clock.later(from, -Period.days({from, to}).length), to: Clock.later(from, -1)};
      }
      return comparison === "year" ? {from: lastYear(from), to: lastYear(to)} : null;
    },

    /** Every day of it. */
    days({from, to}) {
      const count = Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS) + 1;
      return Array.from({length: Math.max(0, count)}, (_, index) => Clock.later(from, index));
    }
  };

  return Period;
});
